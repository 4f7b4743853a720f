"""``-m empathy:retrieval``: the paper's bi-encoders (Rashkin et al. 2019, section 4.1), and their successors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output
from parlai.utils.distributed import is_distributed, is_primary_worker
from parlai.utils.torch import padded_tensor
from torch import Tensor

from parlai_empathy.agent_kit.dictionaries.selectable import SelectableDictionary
from parlai_empathy.agent_kit.dictionaries.tokenizer import save_encoder
from parlai_empathy.agent_kit.options.common import apply_truncate, cut_context
from parlai_empathy.agent_kit.trained.init_model import check_init_model, keep_dictionary, keep_options
from parlai_empathy.agent_kit.trained.weights import load_model
from parlai_empathy.agent_kit.training.batch_totals import BatchTotals
from parlai_empathy.agent_kit.training.draws import random_of_step, seed_weights
from parlai_empathy.agent_kit.training.finite_loss import FiniteLoss
from parlai_empathy.agent_kit.training.fused_optimizer import FusedOptimizer
from parlai_empathy.agent_kit.training.update_count import UpdateCount
from parlai_empathy.agents.retrieval import options
from parlai_empathy.agents.retrieval.negatives import HardNegatives
from parlai_empathy.agents.retrieval.published_model import PublishedDictionary, adopt, init_published
from parlai_empathy.agents.retrieval.ranker import PoolRanker
from parlai_empathy.agents.retrieval.towers import pretrained_towers, transformer_towers
from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.modules.classifiers.emotion_head import keep_own_head
from parlai_empathy.modules.encoders.biencoder import TwoTowers
from parlai_empathy.modules.encoders.contrastive import contrastive_losses
from parlai_empathy.modules.encoders.gradient_cache import CachedEncoding, average_gradients
from parlai_empathy.modules.pooling import token_mask
from parlai_empathy.modules.speed.precision import autocast


class RetrievalDictionary(SelectableDictionary):
    """Words, the tokenizer of ``--encoder hf``, or the vocabulary of a checkpoint of the paper's authors."""

    def __new__(cls, opt: Opt, shared: dict[str, Any] | None = None) -> DictionaryAgent:
        """Create the dictionary that the options select."""
        return (
            PublishedDictionary(opt, shared)
            if PublishedDictionary.uses_published_words(opt)
            else super().__new__(cls, opt, shared)
        )

    @staticmethod
    def is_pretrained(opt: Opt) -> bool:
        """Whether the options select a tokenizer."""
        return bool(opt.get("encoder") == "hf")


class RetrievalAgent(BatchTotals, FiniteLoss, FusedOptimizer, UpdateCount, PoolRanker):
    """Answers with the reply of a pool whose vector is most similar to the context's.

    In training, each example's negatives are the other replies of the batch, across all processes.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options, and its defaults for ParlAI's own options."""
        super().add_cmdline_args(parser, partial_opt)
        return options.add(parser, partial_opt or {})

    @staticmethod
    def dictionary_class() -> type[RetrievalDictionary]:
        """Return the dictionary class: words, or the encoder's own tokenizer."""
        return RetrievalDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        init_model, self.is_finetuned = self._get_init_model(opt, shared)
        if not shared:
            check_init_model(opt, init_model, RetrievalAgent)
        self._published = None if shared else init_published(opt)
        if self._published:
            adopt(opt, self._published)
        elif not shared:
            keep_options(opt, options.OF_WEIGHTS, options.OF_TOKENS)
        apply_truncate(opt)
        options.check(opt)
        self.pretrained: bool = opt["encoder"] == "hf"
        self.has_ends = self.pretrained and opt.get("special_tokens", True)  # special tokens around each text
        self.is_new = init_model is None  # no trained weights follow: components load their pretrained weights
        self._negatives: HardNegatives | None = None
        super().__init__(opt, shared)
        if self.is_finetuned and not shared:
            keep_dictionary(self.dict, opt)

    # --- model -------------------------------------------------------------------------------------------------------

    def build_model(self) -> TwoTowers:
        """Build the two towers, initialised from ``--seed`` if it is given."""
        seed_weights(self.opt)
        if self.pretrained:
            return pretrained_towers(self.opt, self.dict, self.NULL_IDX, self.is_new)
        return transformer_towers(self.opt, self.dict, self.NULL_IDX, self._should_initialize_optimizer())

    @property
    def bare_model(self) -> TwoTowers:
        """The model without its ``DistributedDataParallel`` wrapper."""
        bare: Any = getattr(self.model, "module", self.model)
        assert isinstance(bare, TwoTowers)
        return bare

    @property
    def dim(self) -> int:
        """Dimension of the encodings."""
        return self.bare_model.dim

    def load(self, path: str) -> dict[str, Any]:
        """Load a model file. Unlike ParlAI, do not execute code that it may contain.

        :raises ModelFileError: if the file is damaged, holds more than tensors and plain data, or does not fit.
        """
        if self._published:
            self.load_state_dict(self.adapt_init_weights(self._published.weights))
            return {}
        if self.is_finetuned:
            return load_model(path, lambda weights: self.load_state_dict(self.adapt_init_weights(weights)))
        return load_model(path, self.load_state_dict)

    def adapt_init_weights(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adapt the weights of ``--init-model`` to this model."""
        return keep_own_head(weights, self.model.state_dict())

    def save(self, path: str | None = None) -> None:
        """Save the model and, for a pretrained encoder, its tokenizer and configuration."""
        path = path or self.opt.get("model_file")
        if path and self.pretrained and is_primary_worker():
            self._save_encoder(path)
        super().save(path)

    def _save_encoder(self, path: str) -> None:
        tower: Any = self.bare_model.contexts
        save_encoder(path, self.dict.tokenizer_of_encoder, tower.encoder.config)

    # --- scores ------------------------------------------------------------------------------------------------------

    def score_candidates(self, batch: Batch, cand_vecs: Tensor, cand_encs: Tensor | None = None) -> Tensor:
        """Return dot products of contexts and candidates.

        :param cand_vecs: token ids ``(m, length)``, shared by all examples, or ``(batch, m, length)``, separate for
            each, as many as the batch's ``candidates`` say; or encodings ``(batch, m, dim)``, padded with zero rows.
        :param cand_encs: encodings ``(m, dim)`` of shared candidates, if they are known.
        :returns: ``(batch, m)``
        """
        if cand_encs is not None:
            return self.encode_contexts(batch) @ cand_encs.T
        if cand_vecs.is_floating_point():
            dots = torch.einsum("bd,bmd->bm", self.encode_contexts(batch), cand_vecs)
            return dots.masked_fill((cand_vecs == 0).all(dim=-1), float("-inf"))
        contexts, replies = self._encode_both(batch.text_vec, self._without_empty(cand_vecs.flatten(0, -2)))
        if cand_vecs.dim() == 3:
            dots = torch.einsum("bd,bmd->bm", contexts, replies.view(*cand_vecs.shape[:2], -1))
            counts = torch.tensor([len(texts) for texts in batch.candidates], device=dots.device)
            return dots.masked_fill(~token_mask(counts, dots.size(1)), float("-inf"))
        scores: Tensor = contexts @ replies.T
        return scores

    def encode_contexts(self, batch: Batch) -> Tensor:
        """Encode the contexts, ``(batch, dim)``, once per batch."""
        if "contexts" not in batch:
            with autocast(self.model, self.opt["precision"]):
                batch.contexts = self.bare_model.contexts(self.context_inputs(batch)).float()
        contexts: Tensor = batch.contexts
        return contexts

    def encode_candidates(self, padded_cands: Tensor) -> Tensor:
        """Encode replies: token ids ``(n, length)`` to ``(n, dim)``."""
        with autocast(self.model, self.opt["precision"]):
            encodings: Tensor = self.bare_model.replies(self._without_empty(padded_cands))
        return encodings.float()  # also for bfloat16 models: pools and metrics use float32

    def encode_turns(self, contexts: Sequence[Sequence[str]]) -> Tensor:
        """Encode contexts, each given as its turns, oldest first: ``(n, dim)``."""
        observer, size = self.clone(), self.opt["history_size"]
        observed = []
        for turns in contexts:
            text = "\n".join(turns[-size:] if size > 0 else turns)
            observed.append(observer.observe(Message({"text": text, "episode_done": True})))
            observer.self_observe(Message({"id": self.id, "text": "", "episode_done": True}))
        self.model.eval()
        with torch.no_grad():
            return self.encode_contexts(self.batch_of(observed))

    def _encode_both(self, contexts: Tensor, replies: Tensor) -> tuple[Tensor, Tensor]:
        with autocast(self.model, self.opt["precision"]):
            encoded: tuple[Tensor, Tensor] = self.model(contexts, replies)
        return encoded[0].float(), encoded[1].float()

    def _without_empty(self, tokens: Tensor) -> Tensor:
        """Insert an unknown word into texts or padding rows without tokens: the mean over no tokens is undefined."""
        empty = (tokens == self.NULL_IDX).all(dim=1)
        if empty.any():
            tokens = tokens.clone()
            tokens[empty, 0] = self.dict[self.dict.unk_token]
        return tokens

    # --- training ----------------------------------------------------------------------------------------------------

    @property
    def trains_on_messages(self) -> bool:
        """Whether training steps read a batch's messages: hard negatives are drawn for them."""
        return bool(self.opt["hard_negatives"])

    def check_training(self) -> None:
        """Raise :class:`OptionError` at the start of training if there would be nothing to learn."""
        options.check_training(self.opt)

    def train_step(self, batch: Batch) -> Output:
        """Run one step; with ``--candidates batch``, negatives come from the global batch."""
        if self.candidates != "batch" or batch.text_vec is None:
            return self._train_on_task_candidates(batch)
        negatives = self._hard_negatives(batch)  # mining sets evaluation mode, so it comes before train()
        self.model.train()
        self.zero_grad()
        contexts, replies = self.context_inputs(batch), self.reply_inputs(batch, negatives)
        if self.opt["gradient_cache"]:
            self._learn_in_chunks(batch, contexts, replies)
        else:
            self.backward(self.losses(batch, *self._encode_both(contexts, replies)).mean())
        self.update_params()
        return Output()

    def _train_on_task_candidates(self, batch: Batch) -> Output:
        """Run ParlAI's step, with the task's candidates."""
        if batch.text_vec is not None:
            self._check_task_candidates(batch)
        return super().train_step(batch)

    def _check_task_candidates(self, batch: Batch) -> None:
        lists = batch.candidates or [None]
        if not all(lists):
            raise OptionError(
                f"--candidates {self.candidates}: the task gives no candidates to learn from: use --candidates batch"
            )
        for label, texts in zip(batch.labels, lists, strict=True):
            if label not in texts:
                raise DataError(
                    f"--candidates {self.candidates}: some candidates lack the true reply, {label!r}: add it, or use "
                    "--candidates batch"
                )

    def context_inputs(self, batch: Batch) -> Tensor:
        """Return the inputs of the context tower: token ids, ``(batch, length)``."""
        tokens: Tensor = batch.text_vec
        return tokens

    def reply_inputs(self, batch: Batch, negatives: Sequence[str]) -> Tensor:
        """Return the inputs of the reply tower: token ids of true replies, then of negatives, ``(n, length)``."""
        replies = self._without_empty(batch.label_vec)
        if not negatives:
            return replies
        rows = [*replies, *(tokens.to(replies.device) for tokens in self.replies_tokens(negatives))]
        padded: Tensor = padded_tensor(rows, pad_idx=self.NULL_IDX)[0]
        return padded.to(replies.device)

    def losses(self, batch: Batch, contexts: Tensor, replies: Tensor) -> Tensor:
        """Return each example's loss, ``(batch,)``, and record it with the ranks of the true replies.

        :param contexts: ``(batch, dim)``
        :param replies: ``(batch + m, dim)``, the true ones, then ``m`` hard negatives.
        """
        size = len(contexts)
        # With --hard-negatives all processes gather each other's: one that has none now must take part as well.
        negatives = replies[size:] if self.opt["hard_negatives"] else None
        losses, scores, true = contrastive_losses(contexts, replies[:size], negatives, self.opt["symmetric_loss"])
        ranks = (scores > scores.gather(1, true.unsqueeze(1))).sum(dim=1) + 1
        for name, values in (("mean_loss", losses), ("train_accuracy", ranks == 1), ("mrr", 1 / ranks)):
            self.record_each(name, values)
        return losses

    def _learn_in_chunks(self, batch: Batch, contexts: Tensor, replies: Tensor) -> None:
        """Compute the same gradients as for the whole batch, keeping only its vectors in memory."""
        bare, chunk = self.bare_model, self.opt["gradient_cache"]

        def encode(tower: Any) -> Any:
            def run(tokens: Tensor) -> Tensor:
                with autocast(self.model, self.opt["precision"]):
                    vectors: Tensor = tower(tokens)
                return vectors.float()

            return run

        encoded = [
            CachedEncoding(encode(tower), tokens, chunk)
            for tower, tokens in ((bare.contexts, contexts), (bare.replies, replies))
        ]
        self.backward(self.losses(batch, *(part.vectors for part in encoded)).mean())
        for part in encoded:
            part.backward()
        if is_distributed():
            average_gradients(self.model)

    def _hard_negatives(self, batch: Batch) -> list[str]:
        """Draw ``--hard-negatives`` wrong replies for each example."""
        if not self.opt["hard_negatives"]:
            return []
        if self._negatives is None:
            is_resumed = not (self.is_new or self.is_finetuned)
            self._negatives = HardNegatives.load_or_mine(self, self.opt, is_resumed)
        drawn = self._negatives.draw(
            batch.observations, self.opt["hard_negatives"], random_of_step(self.opt, self._number_training_updates)
        )
        return [text for texts in drawn for text in texts]

    # --- text to token ids -------------------------------------------------------------------------------------------

    def vectorize(self, *args: Any, **kwargs: Any) -> Message:
        """Vectorize as ParlAI does, with start and end tokens for pretrained encoders only; the paper's needs none."""
        kwargs.update(add_start=self.has_ends, add_end=self.has_ends)
        return super().vectorize(*args, **kwargs)

    def reply_tokens(self, text: str) -> Tensor:
        """Return a reply's token ids, ``(length,)``."""
        tokens: Tensor = self._vectorize_text(
            text, self.has_ends, self.has_ends, truncate=self.label_truncate, truncate_left=False
        )
        return tokens

    def _set_text_vec(self, obs: Message, history: History, truncate: int | None) -> Message:
        """Set the context's token ids, truncated as ``--truncate-context`` says, with at least one token."""
        obs = super()._set_text_vec(obs, history, truncate)
        cut_context(obs, self.opt, truncate, self.dict[self.dict.unk_token])
        if "text" in obs and self.has_ends:
            obs.force_set("text_vec", self._add_start_end_tokens(obs["text_vec"], True, True))
        return obs
