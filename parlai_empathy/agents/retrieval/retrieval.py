"""``-m empathy:retrieval``: the paper's Transformer bi-encoder (Rashkin et al. 2019, section 4.1)."""

from __future__ import annotations

from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History
from torch import Tensor

from parlai_empathy.agents.retrieval import options
from parlai_empathy.agents.retrieval.ranker import PoolRanker
from parlai_empathy.agents.weights import load_model
from parlai_empathy.modules.biencoder import BiEncoder
from parlai_empathy.modules.vectors import copy_vectors


class RetrievalAgent(PoolRanker):
    """Answers with the reply, of a pool, whose vector is most like the context's.

    In training each example's negatives are the other replies of the batch.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options, and the defaults that it recommends for ParlAI's own."""
        super().add_cmdline_args(parser, partial_opt)
        return options.add(parser, partial_opt or {})

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        options.check(opt)
        super().__init__(opt, shared)

    # --- model -------------------------------------------------------------------------------------------------------

    def build_model(self) -> BiEncoder:
        """The two towers, from ``--seed`` where it is given, with ready-made word vectors where a file is named."""
        opt = self.opt
        if opt.get("seed") is not None:
            torch.manual_seed(opt["seed"])  # ParlAI seeds only after it has built the model
        model = BiEncoder(
            len(self.dict),
            self.NULL_IDX,
            embedding_size=opt["embedding_size"],
            temperature=opt["temperature"] if opt["score"] == "cosine" else None,
            n_layers=opt["n_layers"],
            n_heads=opt["n_heads"],
            ffn_size=opt["ffn_size"],
            dropout=opt["dropout"],
            n_positions=opt["n_positions"],
        )
        if opt.get("vectors_file") and self._should_initialize_optimizer():
            found = copy_vectors(opt["vectors_file"], self.dict.tok2ind, model.embedding.weight)
            logging.info(f"{opt['vectors_file']}: vectors of {found:,} of the {len(self.dict):,} words")
        return model

    @property
    def bare_model(self) -> BiEncoder:
        """The model without the wrapper of distributed training."""
        bare: Any = getattr(self.model, "module", self.model)
        assert isinstance(bare, BiEncoder)
        return bare

    def load(self, path: str) -> dict[str, Any]:
        """Load weights. Unlike ParlAI's way, this executes nothing that a stranger's file may hold.

        :raises ModelFileError: if the file is broken, holds more than tensors and plain data, or fits another model.
        """
        return load_model(path, self.load_state_dict)

    def score_candidates(self, batch: Batch, cand_vecs: Tensor, cand_encs: Tensor | None = None) -> Tensor:
        """Dot products of contexts and candidates.

        :param cand_vecs: token ids ``(m, length)``, the same candidates for all, or ``(batch, m, length)``, own ones
            for each; or encodings ``(batch, m, dim)``, rows of zeros being padding.
        :param cand_encs: encodings ``(m, dim)`` of the same candidates for all, if they are known.
        :returns: ``(batch, m)``
        """
        if cand_encs is not None:
            return self.encode_contexts(batch) @ cand_encs.T
        if cand_vecs.is_floating_point():
            dots = torch.einsum("bd,bmd->bm", self.encode_contexts(batch), cand_vecs)
            return dots.masked_fill((cand_vecs == 0).all(dim=-1), float("-inf"))
        contexts, replies = self.model(batch.text_vec, self._without_empty(cand_vecs.flatten(0, -2)))
        if cand_vecs.dim() == 3:
            return torch.einsum("bd,bmd->bm", contexts, replies.view(*cand_vecs.shape[:2], -1))
        scores: Tensor = contexts @ replies.T
        return scores

    def encode_contexts(self, batch: Batch) -> Tensor:
        """The contexts' encodings, ``(batch, dim)``, computed once a batch."""
        if "contexts" not in batch:
            batch.contexts = self.bare_model.contexts(batch.text_vec).float()
        contexts: Tensor = batch.contexts
        return contexts

    def encode_candidates(self, padded_cands: Tensor) -> Tensor:
        """Replies' token ids ``(n, length)`` to encodings ``(n, dim)``."""
        encodings: Tensor = self.bare_model.replies(self._without_empty(padded_cands))
        return encodings.float()  # of a model in half precision too: pools and metrics know one kind of number

    def _without_empty(self, tokens: Tensor) -> Tensor:
        """Put an unknown word where a text, or a padding row, has no token: the mean of nothing has no value."""
        empty = (tokens == self.NULL_IDX).all(dim=1)
        if empty.any():
            tokens = tokens.clone()
            tokens[empty, 0] = self.dict[self.dict.unk_token]
        return tokens

    # --- text to token ids -------------------------------------------------------------------------------------------

    def vectorize(self, *args: Any, **kwargs: Any) -> Message:
        """As ParlAI does, without start and end tokens: the encoders have no use for them."""
        kwargs.update(add_start=False, add_end=False)
        return super().vectorize(*args, **kwargs)

    def _set_text_vec(self, obs: Message, history: History, truncate: int | None) -> Message:
        """The context's token ids, cut as ``--truncate-context`` says, and never none at all."""
        obs = super()._set_text_vec(obs, history, truncate)
        if self.opt["truncate_context"] == "newest" and obs.get("full_text_vec") is not None:
            obs.force_set("text_vec", torch.LongTensor(obs["full_text_vec"][:truncate]))
        if "text" in obs and (obs.get("text_vec") is None or len(obs["text_vec"]) == 0):
            obs.force_set("text_vec", torch.LongTensor([self.dict[self.dict.unk_token]]))
        return obs
