"""``-m empathy:ensemble``: a frozen retrieval model and a frozen classifier, with a trained projection per side."""

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

from parlai_empathy.agent_kit.options.presets import refine_defaults
from parlai_empathy.agent_kit.trained.text_cache import TextCache
from parlai_empathy.agent_kit.training.draws import seed_weights
from parlai_empathy.agents.ensemble.base_model import READING, Ensemble, base_part, copy_base_options, dictionary_of
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent, RetrievalDictionary
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.encoders.biencoder import TwoTowers
from parlai_empathy.modules.encoders.ensemble_towers import EnsembleTowers
from parlai_empathy.modules.fingerprint import weights_fingerprint

BASE = base_part(RetrievalAgent, "empathy:retrieval")
_BYTES = 2**29  # size of each side's cache
_READ_BATCH = 128  # contexts encoded at once
_CHUNK = 2**14  # replies of a pool that are encoded at once, with their features

# Options of the base that affect how texts are scored.
_OF_THE_BASE = (
    *READING,
    *("encoder", "embedding_size", "n_layers", "n_heads", "ffn_size", "n_positions"),
    *("towers", "pooling", "projection", "score", "temperature", "special_tokens"),
)

_DEFAULTS: dict[str, Any] = {
    # Large batches cost little here, because texts are encoded once, and contain more negatives.
    "batchsize": 512,
    "optimizer": "adamw",
    "learningrate": 1e-4,  # at 1e-3 a good base on MiniLM became worse (docs/results.md)
}


class EnsembleDictionary(RetrievalDictionary):
    """The base model's dictionary."""

    def __new__(cls, opt: Opt, shared: dict[str, Any] | None = None) -> DictionaryAgent:
        """Create the base model's dictionary."""
        return dictionary_of(opt, BASE, RetrievalDictionary)


class EnsembleAgent(Ensemble, RetrievalAgent):
    """Chooses replies like ``empathy:retrieval``, from projections of the base's vectors and the classifier's features.

    The frozen parts process each text once: later epochs only train the projections.
    """

    BASE = BASE
    _contexts: TextCache[Tensor]
    _replies: TextCache[Tensor]

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options, and defaults for training projections only."""
        super().add_cmdline_args(parser, partial_opt)
        refine_defaults(parser, _DEFAULTS, without=("encoder",))  # the base's encoder is not trained
        return parser

    @staticmethod
    def dictionary_class() -> type[EnsembleDictionary]:
        """The base model's dictionary."""
        return EnsembleDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if opt["candidates"] != "batch":
            raise OptionError(f"--candidates {opt['candidates']}: empathy:ensemble supports only --candidates batch")
        if shared:
            self._contexts, self._replies = shared["contexts"], shared["replies"]
        else:
            copy_base_options(opt, BASE, _OF_THE_BASE)
        super().__init__(opt, shared)

    def build_model(self) -> TwoTowers:
        """Build the two projections, initialised from ``--seed`` if it is given."""
        seed_weights(self.opt)
        dim, features = self.base.dim, self.classifier.feature_size
        most = _BYTES // (4 * (dim + features))
        self._contexts, self._replies = TextCache(most), TextCache(most)
        length = self.opt["temperature"] ** -0.5 if self.opt["score"] == "cosine" else None
        return EnsembleTowers(dim, features, self.opt["preset"] == "paper", length)

    @property
    def trains_on_messages(self) -> bool:
        """Return True: texts are cached by their messages."""
        return True

    # --- inputs of the projections: a vector of the base, concatenated with the classifier's features -----------------

    def context_inputs(self, batch: Batch) -> Tensor:
        """Return the inputs for contexts, ``(batch, dim + features)``."""
        texts = [obs.get("full_text") or "" for obs in batch.observations]

        def read(places: list[int]) -> list[Tensor]:
            vectors = self._base_contexts([batch.observations[place]["text_vec"] for place in places])
            return list(torch.cat([vectors, self.classifier.features([texts[place] for place in places])], dim=1))

        return torch.stack(self._contexts.of(texts, read)).to(self.device)

    def reply_inputs(self, batch: Batch, negatives: Sequence[str]) -> Tensor:
        """Return the inputs for the true replies, then for the negatives, ``(n, dim + features)``."""
        return self._reply_rows([*batch.labels, *negatives])

    def _reply_rows(self, texts: Sequence[str]) -> Tensor:
        def read(places: list[int]) -> list[Tensor]:
            chosen = [texts[place] for place in places]
            return list(torch.cat([self.base._encode_replies(chosen).cpu(), self.classifier.features(chosen)], dim=1))

        return torch.stack(self._replies.of(texts, read)).to(self.device)

    def _base_contexts(self, tokens: Sequence[Tensor]) -> Tensor:
        """Return the base's context vectors, ``(n, dim)``, on the CPU."""
        vectors = []
        with torch.no_grad():
            for start in range(0, len(tokens), _READ_BATCH):
                padded, _ = padded_tensor(tokens[start : start + _READ_BATCH], pad_idx=self.NULL_IDX)
                vectors.append(self.base.encode_contexts(Batch(text_vec=padded.to(self.device))).cpu())
        return torch.cat(vectors)

    # --- encodings ---------------------------------------------------------------------------------------------------

    def encode_true_replies(self, batch: Batch) -> Tensor:
        """Encode the true replies, ``(batch, dim)``."""
        return self.encode_candidates(self.reply_inputs(batch, ()))

    def _encode_replies(self, texts: list[str]) -> Tensor:
        """Encode texts, ``(n, dim)``."""
        self.model.eval()
        with torch.no_grad():
            chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
            return torch.cat([self.encode_candidates(self._reply_rows(chunk)) for chunk in chunks])

    def score_candidates(self, batch: Batch, cand_vecs: Tensor, cand_encs: Tensor | None = None) -> Tensor:
        """Return dot products of contexts and candidates; candidates given as token ids are the true replies."""
        if cand_encs is None and not cand_vecs.is_floating_point():
            cand_encs = self.encode_true_replies(batch)
        return super().score_candidates(batch, cand_vecs, cand_encs)

    # --- files -------------------------------------------------------------------------------------------------------

    def _pool_source(self) -> str:
        """Identify the pool by the frozen parts, too."""
        return f"{super()._pool_source()} {weights_fingerprint(self.base.model)} {self.classifier.fingerprint}"

    def _save_encoder(self, path: str) -> None:
        """Do nothing: the base's encoder is saved with the base."""

    def share(self) -> dict[str, Any]:
        """Also share the caches."""
        return {**super().share(), "contexts": self._contexts, "replies": self._replies}
