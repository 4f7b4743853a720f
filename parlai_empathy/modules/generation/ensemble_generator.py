"""A generator with a frozen encoder and the features of a classifier (Rashkin et al. 2019, section 4)."""

from __future__ import annotations

import copy
from typing import Any

import torch
from parlai.core.torch_generator_agent import TorchGeneratorModel
from torch import Tensor

from parlai_empathy.modules.encoders.ensemble_towers import Projection
from parlai_empathy.modules.generation.token_losses import TrueTokenLosses, WordGenerator


class EnsembleGenerator(TrueTokenLosses):
    """A generator whose decoder reads the frozen encoder's states, each projected together with the context's features.

    The decoder starts as a copy of the base's, with its own word embeddings: those of the encoder are frozen.

    :param base: a trained generator with an encoder. It is not changed, and not saved with the model.
    :param dim: size of the encoder's states.
    :param features: number of the classifier's features.
    :param is_random: whether the projection starts with random weights; otherwise it starts by returning the states.
    """

    def __init__(self, base: TorchGeneratorModel, dim: int, features: int, is_random: bool) -> None:
        super().__init__(base.NULL_IDX, base.START_IDX, base.END_IDX)
        self._frozen = [base]  # in a list, so that torch does not register it
        self.writer: Any = _writer(base)
        self.projection = Projection(dim, features, is_random)

    def encoder(self, tokens: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        """Encode contexts.

        :param tokens: ``(batch, length)``
        :param features: ``(batch, features)``
        :returns: states ``(batch, length, dim)``, and a mask ``(batch, length)`` that is True for tokens.
        """
        with torch.no_grad():
            states, mask = self._frozen[0].encoder(tokens)
        rows = features.to(states.dtype).unsqueeze(1).expand(-1, states.size(1), -1)
        return self.projection(torch.cat([states, rows], dim=2)), mask

    @property
    def decoder(self) -> Any:
        """The writer's decoder."""
        return self.writer.decoder

    @property
    def words(self) -> int:
        """The writer's vocabulary size."""
        return int(self.writer.words)

    def output(self, states: Tensor) -> Tensor:
        """Return the writer's scores of all words."""
        scores: Tensor = self.writer.output(states)
        return scores

    def reorder_encoder_states(self, encoder_states: Any, indices: Any) -> Any:
        """Reorder the encoder's states as the writer does."""
        return self.writer.reorder_encoder_states(encoder_states, indices)

    def reorder_decoder_incremental_state(self, incremental_state: Any, inds: Tensor) -> Any:
        """Reorder the decoder's cache as the writer does."""
        return self.writer.reorder_decoder_incremental_state(incremental_state, inds)

    @property
    def language_model(self) -> Any:
        """The writer's Hugging Face model, if it has one."""
        return self.writer.language_model


def _writer(base: Any) -> Any:
    """Return a copy of a generator with a trainable decoder; its encoder is frozen, or removed if it reads words."""
    writer = copy.deepcopy(base).requires_grad_(True)
    if isinstance(writer, WordGenerator):
        del writer.encoder
    else:
        writer.language_model.get_encoder().requires_grad_(False)
        writer.language_model.get_decoder().requires_grad_(True)  # the two may share their embeddings
    return writer
