"""``-m empathy:ensemble/generative``: a frozen generator's encoder and a frozen classifier, with a trained decoder."""

from __future__ import annotations

from typing import Any

import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorModel
from torch import Tensor

from parlai_empathy.agent_kit.options.presets import refine_defaults
from parlai_empathy.agent_kit.trained.text_cache import TextCache
from parlai_empathy.agent_kit.training.draws import seed_weights
from parlai_empathy.agents.ensemble.base_model import READING, Ensemble, base_part, copy_base_options, dictionary_of
from parlai_empathy.agents.generative.dictionary import GenerativeDictionary
from parlai_empathy.agents.generative.generative import GenerativeAgent as Generator
from parlai_empathy.agents.multitask.generative import encoder_size
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.generation.ensemble_generator import EnsembleGenerator
from parlai_empathy.modules.generation.hugging_face_generator import CausalGenerator

BASE = base_part(Generator, "empathy:generative")
_BYTES = 2**29  # size of the feature cache

_OF_THE_BASE = (
    *READING,
    *("embedding_size", "n_layers", "n_encoder_layers", "n_decoder_layers", "n_heads", "ffn_size", "n_positions"),
    *("hf_kind", "ppl_protocol", "dropout", "attention_dropout", "relu_dropout"),
)


class EnsembleDictionary(GenerativeDictionary):
    """The base model's dictionary."""

    def __new__(cls, opt: Opt, shared: dict[str, Any] | None = None) -> DictionaryAgent:
        """Create the base model's dictionary."""
        return dictionary_of(opt, BASE, GenerativeDictionary)


class GenerativeAgent(Ensemble, Generator):
    """Generates replies like ``empathy:generative``; only a projection and the decoder are trained."""

    BASE = BASE
    _features: TextCache[Tensor]

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options, and a lower learning rate, because the decoder is pretrained."""
        super().add_cmdline_args(parser, partial_opt)
        refine_defaults(parser, {"learningrate": 3e-4})
        return parser

    @staticmethod
    def dictionary_class() -> type[EnsembleDictionary]:
        """The base model's dictionary."""
        return EnsembleDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if shared:
            self._features = shared["features"]
        else:
            copy_base_options(opt, BASE, _OF_THE_BASE)
        super().__init__(opt, shared)

    def build_model(self, states: Any = None) -> TorchGeneratorModel:
        """Build the base's decoder behind a projection, initialised from ``--seed`` if it is given."""
        base, size = self.base.model, self.classifier.feature_size
        if isinstance(base, CausalGenerator):
            raise OptionError(
                f"--base-model {self.opt['base_model']}: it is decoder-only, and has no encoder to freeze"
            )
        seed_weights(self.opt)
        self._features = TextCache(_BYTES // (4 * size))
        model = EnsembleGenerator(base, encoder_size(base, self.opt), size, self.opt["preset"] == "paper")
        model.whole = self.show_token_details
        return model

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """Return the agent's batch with the features of its contexts, ``(batch, features)``."""
        batch = super().batchify(obs_batch, sort)
        if batch.batchsize:
            texts = [obs_batch[place].get("full_text") or "" for place in batch.valid_indices]

            def read(places: list[int]) -> list[Tensor]:
                return list(self.classifier.features([texts[place] for place in places]))

            batch.features = torch.stack(self._features.of(texts, read))
        return batch

    def _model_input(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the encoder's inputs."""
        return batch.text_vec, batch.features

    def share(self) -> dict[str, Any]:
        """Also share the cache."""
        return {**super().share(), "features": self._features}
