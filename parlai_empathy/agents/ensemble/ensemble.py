"""``-m empathy:ensemble``: a trained retrieval model and a classifier, both frozen, with a projection of each side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch
from parlai.utils.torch import padded_tensor
from torch import Tensor

from parlai_empathy.agent_kit.options.presets import set_defaults
from parlai_empathy.agent_kit.trained.remembered import Remembered
from parlai_empathy.agent_kit.training.draws import seed_weights
from parlai_empathy.agents.ensemble.base_model import READING, Ensemble, base_part, be_as_base, dictionary_of
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent, RetrievalDictionary
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.biencoder import TwoTowers
from parlai_empathy.modules.ensemble_towers import EnsembleTowers
from parlai_empathy.modules.fingerprint import weights_fingerprint

BASE = base_part(RetrievalAgent, "empathy:retrieval")
_BYTES = 2**29  # of what is remembered of each side's texts
_READ_BATCH = 128  # contexts encoded at once
_CHUNK = 2**14  # replies of a pool in memory at once, with all that is known of them

# What of the base decides how texts are scored.
_OF_THE_BASE = (
    *READING,
    *("encoder", "embedding_size", "n_layers", "n_heads", "ffn_size", "n_positions"),
    *("towers", "pooling", "projection", "score", "temperature", "special_tokens"),
)

_DEFAULTS: dict[str, Any] = {
    # Batches cost little here, because texts are encoded once, and a larger one has more wrong replies.
    "batchsize": 512,
    "optimizer": "adamw",
    "learningrate": 1e-4,  # at 1e-3 a good base on MiniLM became worse (docs/results.md)
}


class EnsembleDictionary(RetrievalDictionary):
    """The base model's."""

    def __new__(cls, opt: Opt, shared: dict[str, Any] | None = None) -> DictionaryAgent:
        """Make the dictionary that the base has."""
        return dictionary_of(opt, BASE, RetrievalDictionary)


class EnsembleAgent(Ensemble, RetrievalAgent):
    """Chooses replies as ``empathy:retrieval`` does, by what two projections make of vectors and features.

    What the frozen parts make of a text is computed once: the epochs after the first one only train.
    """

    BASE = BASE
    _contexts: Remembered[Tensor]
    _replies: Remembered[Tensor]

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options, and the defaults that training of projections alone needs."""
        super().add_cmdline_args(parser, partial_opt)
        set_defaults(parser, _DEFAULTS)
        return parser

    @staticmethod
    def dictionary_class() -> type[EnsembleDictionary]:
        """The base model's dictionary."""
        return EnsembleDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if opt["candidates"] != "batch":
            raise OptionError(
                f"--candidates {opt['candidates']}: empathy:ensemble learns with --candidates batch alone"
            )
        if shared:
            self._contexts, self._replies = shared["contexts"], shared["replies"]
        else:
            be_as_base(opt, BASE, _OF_THE_BASE)
        super().__init__(opt, shared)

    def build_model(self) -> TwoTowers:
        """The two projections, from ``--seed`` where it is given."""
        seed_weights(self.opt)
        dim, features = self.base.dim, self.classifier.feature_size
        most = _BYTES // (4 * (dim + features))
        self._contexts, self._replies = Remembered(most), Remembered(most)
        length = self.opt["temperature"] ** -0.5 if self.opt["score"] == "cosine" else None
        return EnsembleTowers(dim, features, self.opt["preset"] == "paper", length)

    # --- what the projections read: a vector of the base and the classifier's features, one behind the other ----------

    def context_inputs(self, batch: Batch) -> Tensor:
        """Of contexts, ``(batch, dim + features)``."""
        texts = [obs.get("full_text") or "" for obs in batch.observations]

        def read(places: list[int]) -> list[Tensor]:
            vectors = self._base_contexts([batch.observations[place]["text_vec"] for place in places])
            return list(torch.cat([vectors, self.classifier.features([texts[place] for place in places])], dim=1))

        return torch.stack(self._contexts.of(texts, read)).to(self.device)

    def reply_inputs(self, batch: Batch, negatives: Sequence[str]) -> Tensor:
        """Of true replies, then of negatives, ``(n, dim + features)``."""
        return self._reply_rows([*batch.labels, *negatives])

    def _reply_rows(self, texts: Sequence[str]) -> Tensor:
        def read(places: list[int]) -> list[Tensor]:
            chosen = [texts[place] for place in places]
            return list(torch.cat([self.base._encode_replies(chosen).cpu(), self.classifier.features(chosen)], dim=1))

        return torch.stack(self._replies.of(texts, read)).to(self.device)

    def _base_contexts(self, tokens: Sequence[Tensor]) -> Tensor:
        """The base's vectors of contexts, ``(n, dim)``, on the CPU."""
        vectors = []
        with torch.no_grad():
            for start in range(0, len(tokens), _READ_BATCH):
                padded, _ = padded_tensor(tokens[start : start + _READ_BATCH], pad_idx=self.NULL_IDX)
                vectors.append(self.base.encode_contexts(Batch(text_vec=padded.to(self.device))).cpu())
        return torch.cat(vectors)

    # --- encodings ---------------------------------------------------------------------------------------------------

    def encode_true_replies(self, batch: Batch) -> Tensor:
        """The true replies' encodings, ``(batch, dim)``."""
        return self.encode_candidates(self.reply_inputs(batch, ()))

    def _encode_replies(self, texts: list[str]) -> Tensor:
        """Texts to encodings, ``(n, dim)``."""
        self.model.eval()
        with torch.no_grad():
            chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
            return torch.cat([self.encode_candidates(self._reply_rows(chunk)) for chunk in chunks])

    def score_candidates(self, batch: Batch, cand_vecs: Tensor, cand_encs: Tensor | None = None) -> Tensor:
        """Dot products of contexts and candidates; candidates that come as token ids are the true replies."""
        if cand_encs is None and not cand_vecs.is_floating_point():
            cand_encs = self.encode_true_replies(batch)
        return super().score_candidates(batch, cand_vecs, cand_encs)

    # --- files -------------------------------------------------------------------------------------------------------

    def _pool_source(self) -> str:
        """Other frozen parts make another pool."""
        return f"{super()._pool_source()} {weights_fingerprint(self.base.model)} {self.classifier.fingerprint}"

    def _save_encoder(self, path: str) -> None:
        """The base's is kept with the base."""

    def share(self) -> dict[str, Any]:
        """Also share what is remembered."""
        return {**super().share(), "contexts": self._contexts, "replies": self._replies}
