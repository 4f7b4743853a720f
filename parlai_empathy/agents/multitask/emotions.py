"""A mixin that trains an agent to predict a context's emotion along with its main task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, TorchAgent
from parlai.utils.misc import warn_once
from torch import Tensor
from torch.nn import functional as F

from parlai_empathy.agent_kit.trained.init_model import check_own_option
from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.files.text_file import is_file
from parlai_empathy.metrics.emotion_accuracy import EmotionAccuracy
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

GROUP = "Multitask (empathy:multitask)"
FIELD = "emotion"
"""The message field with the conversation's emotion."""

_UNKNOWN = -1


class Multitask(TorchAgent):
    """Mixin for agents whose model has an ``emotion_head``: the agent's loss and the emotion loss weigh equally."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the mixin's option to the agent's."""
        super().add_cmdline_args(parser, partial_opt)
        parser.add_argument_group(GROUP).add_argument(
            "--emotions",
            nargs="*",
            default=list(EMOTIONS),
            help=f"The emotions to predict, as in the messages' field {FIELD}: by default the 32 of "
            "EmpatheticDialogues.",
        )
        return parser

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        emotions = opt["emotions"]
        if len(emotions) < 2 or len(set(emotions)) < len(emotions):
            raise OptionError(f"--emotions {' '.join(emotions)}: name at least two, each once")
        if not shared:
            check_own_option(opt, "emotions")
        self._places = {emotion: place for place, emotion in enumerate(emotions)}
        super().__init__(opt, shared)

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """Return the agent's batch, with the emotions as indices into ``--emotions``, -1 if unknown."""
        batch = super().batchify(obs_batch, sort)
        valid = [obs_batch[place] for place in batch.valid_indices] if batch.batchsize else []
        if batch.batchsize and batch.is_training:
            self._check(valid)
        batch.emotions = torch.tensor([self._places.get(str(obs.get(FIELD)), _UNKNOWN) for obs in valid])
        return batch

    def _check(self, observations: Sequence[Message]) -> None:
        """Check that all training examples have an emotion.

        :raises OptionError: if an example has no emotion.
        :raises DataError: if its emotion is not one of ``--emotions``.
        """
        for obs in observations:
            if obs.get(FIELD) is None:
                raise OptionError(
                    f"--task {self.opt['task']}: its messages have no field {FIELD} to learn from; train on "
                    "empathy:empathetic_dialogues, or without empathy:multitask"
                )
            if obs[FIELD] not in self._places:
                raise DataError(
                    f"--task {self.opt['task']}: the emotion {obs[FIELD]!r} is not one of --emotions "
                    f"{' '.join(self.opt['emotions'])}; name those of the task"
                )

    def adapt_init_weights(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adapt the weights of ``--init-model``, whose head is left out if its emotions, or their order, are others."""
        options = f"{self.opt['init_model']}.opt"
        if is_file(options) and Opt.load(options).get("emotions") != self.opt["emotions"]:
            weights = {name: values for name, values in weights.items() if not name.startswith("emotion_head.")}
        adapted: dict[str, Tensor] = super().adapt_init_weights(weights)
        return adapted

    def emotion_losses(self, batch: Batch, vectors: Tensor) -> Tensor:
        """Return each context's cross-entropy, ``(batch,)``, 0 if its emotion is unknown; record it with the accuracy.

        :param vectors: the context vectors, ``(batch, dim)``.
        """
        model: Any = self.bare_model
        logits = model.emotion_head(vectors)
        losses = F.cross_entropy(logits, batch.emotions, ignore_index=_UNKNOWN, reduction="none")
        known = (batch.emotions != _UNKNOWN).tolist()
        if not all(known):
            warn_once("some examples have none of --emotions: they are excluded from emotion_accuracy")
        if any(known):
            right = (logits.argmax(dim=1) == batch.emotions).tolist()
            split = batch.get("split") or self.opt["datatype"].split(":")[0]
            accuracy = [EmotionAccuracy(*counts, len(self._places), split) for counts in zip(right, known, strict=True)]
            self.record_local_metric("emotion_accuracy", accuracy)
            self.record_local_metric("emotion_loss", AverageMetric.many(losses.tolist(), known))
        return losses
