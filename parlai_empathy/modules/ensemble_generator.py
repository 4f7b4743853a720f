"""A generator whose encoder is frozen and reads with a classifier beside it (Rashkin et al. 2019, section 4.2)."""

from __future__ import annotations

import copy
from typing import Any

import torch
from parlai.core.torch_generator_agent import TorchGeneratorModel
from torch import Tensor

from parlai_empathy.modules.ensemble_towers import Projection
from parlai_empathy.modules.token_losses import TrueTokenLosses, WordGenerator


class EnsembleGenerator(TrueTokenLosses):
    """Each of the frozen encoder's states, with the context's features behind it, through a projection to the decoder.

    The decoder begins as a copy of the base's, with word vectors of its own: those that the encoder reads do not learn.

    :param base: a trained generator with an encoder. It is not changed, and no part of what is saved.
    :param dim: how many numbers a state has.
    :param features: how many the classifier's have.
    :param is_random: whether the projection begins with random weights; else with the states as they are.
    """

    def __init__(self, base: TorchGeneratorModel, dim: int, features: int, is_random: bool) -> None:
        super().__init__(base.NULL_IDX, base.START_IDX, base.END_IDX)
        self._frozen = [base]  # in a list torch does not see it
        self.writer: Any = _writer(base)
        self.projection = Projection(dim, features, is_random)

    def encoder(self, tokens: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        """Read contexts.

        :param tokens: ``(batch, length)``
        :param features: ``(batch, features)``
        :returns: states ``(batch, length, dim)``, and where they belong to tokens.
        """
        with torch.no_grad():
            states, mask = self._frozen[0].encoder(tokens)
        rows = features.to(states.dtype).unsqueeze(1).expand(-1, states.size(1), -1)
        return self.projection(torch.cat([states, rows], dim=2)), mask

    @property
    def decoder(self) -> Any:
        """The writer's."""
        return self.writer.decoder

    @property
    def words(self) -> int:
        """The writer's."""
        return int(self.writer.words)

    def output(self, states: Tensor) -> Tensor:
        """The writer's scores of all words."""
        scores: Tensor = self.writer.output(states)
        return scores

    def reorder_encoder_states(self, encoder_states: Any, indices: Any) -> Any:
        """The writer's."""
        return self.writer.reorder_encoder_states(encoder_states, indices)

    def reorder_decoder_incremental_state(self, incremental_state: Any, inds: Tensor) -> Any:
        """The writer's."""
        return self.writer.reorder_decoder_incremental_state(incremental_state, inds)

    @property
    def language_model(self) -> Any:
        """The writer's, if it is a Hugging Face one."""
        return self.writer.language_model


def _writer(base: Any) -> Any:
    """A copy of a generator that learns to write; its encoder does not learn, and of words it is left away."""
    writer = copy.deepcopy(base).requires_grad_(True)
    if isinstance(writer, WordGenerator):
        del writer.encoder
    else:
        writer.language_model.get_encoder().requires_grad_(False)
        writer.language_model.get_decoder().requires_grad_(True)  # the two may share their word vectors
    return writer
