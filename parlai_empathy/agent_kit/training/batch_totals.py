"""A training's metrics, added up by batch on the device that computes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric, Metric
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch, TorchAgent
from torch import Tensor

# By the field of a ParlAI batch: the metric that averages it.
_LENGTHS = {
    "_context_original_length": "clen",
    "_context_truncate_rate": "ctrunc",
    "_context_truncated_length": "ctrunclen",
    "_label_original_length": "llen",
    "_label_truncate_rate": "ltrunc",
    "_label_truncated_length": "ltrunclen",
}

Kind = Callable[[float, float], Metric]
"""Makes a metric of a sum and the number of what was added up."""


@dataclass
class _Total:
    """A sum and the number of what was added up, each a scalar tensor, on any device."""

    sum: Tensor
    count: Tensor
    kind: Kind


class BatchTotals(TorchAgent):
    """Mixin that gives the task a training batch's metrics as totals. List it before the agent's other bases.

    ParlAI gives it each example's, nine or so, and the task adds them up one by one: for a batch of 512 that takes as
    long as a GPU needs for the whole step, and to get them the agent waits for the GPU time and again. Totals are read
    at once, when the gradients are known. The averages are the same. With several tasks, which have reports of their
    own, ParlAI's way is kept, as it is in evaluation.

    :meth:`train_step` must return an output, which may be empty: without one, ParlAI does not match it with the batch.
    """

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        self._totals: dict[str, _Total] = {}
        self._metrics: dict[str, Metric] = {}
        super().__init__(opt, shared)

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """Return ParlAI's batch; in training, with the totals of its texts' lengths."""
        batch = super().batchify(obs_batch, sort)
        if batch.batchsize and self._adds_up(batch.is_training):
            lengths = {field: batch[field] for field in _LENGTHS if batch.get(field) is not None}
            batch.update(dict.fromkeys(lengths))  # ParlAI then records none of them
            batch.lengths = {
                _LENGTHS[field]: AverageMetric(values.sum(), len(values)) for field, values in lengths.items()
            }
            self._metrics = {**batch.lengths}
        return batch

    def batch_act(self, observations: Any) -> list[Any]:
        """Answer a batch of messages, or one that a worker of ``--num-workers`` has prepared."""
        self._totals = {}
        self._metrics = {**observations.get("lengths", {})} if isinstance(observations, Batch) else {}
        replies: list[Any] = super().batch_act(observations)
        return replies

    def record_each(self, name: str, values: Tensor, kind: Kind = AverageMetric) -> None:
        """Record a metric that is averaged over the examples.

        :param values: ``(batch,)``, one for each example.
        """
        if self.adds_up:
            self.record_total(name, values.sum(), torch.tensor(len(values)), kind)
        else:
            self.record_local_metric(name, [kind(value, 1) for value in values.tolist()])

    def record_total(self, name: str, total: Tensor, count: Tensor, kind: Kind = AverageMetric) -> None:
        """Record a training batch's metric: a sum, and the number of what was added up."""
        self._totals[name] = _Total(total.detach(), count, kind)

    def update_params(self) -> None:
        """Take a step, after the totals are read: until here, the agent need not wait for a GPU."""
        self._read_totals()
        super().update_params()

    def match_batch(self, batch_reply: list[Any], valid_inds: Tensor, output: Any = None) -> list[Any]:
        """Match the output with the batch's messages; the first reply has the totals."""
        replies: list[Any] = super().match_batch(batch_reply, valid_inds, output)
        self._read_totals()
        if self._metrics:
            replies[int(valid_inds[0])]["metrics"] = self._metrics
        return replies

    @property
    def adds_up(self) -> bool:
        """Whether the present batch's metrics are added up."""
        return self._adds_up(self.is_training)

    def _adds_up(self, is_training: bool) -> bool:
        return is_training and "," not in (self.opt.get("task") or "")

    def _read_totals(self) -> None:
        if not self._totals:
            return
        numbers = [number for total in self._totals.values() for number in (total.sum, total.count)]
        device = next((number.device for number in numbers if number.device.type != "cpu"), "cpu")
        read = torch.stack([number.to(device, torch.float64) for number in numbers]).tolist()
        for (name, total), value, count in zip(self._totals.items(), read[::2], read[1::2], strict=True):
            self._metrics[name] = total.kind(value, count)
        self._totals = {}
