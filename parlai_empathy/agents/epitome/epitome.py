"""``-m empathy:epitome``: rates three mechanisms of empathy in a reply, with rationales (Sharma et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, Output
from torch import Tensor

from parlai_empathy.agent_kit.judging.examples import TextPair, last_line
from parlai_empathy.agent_kit.trained.init_model import check_init_model, check_own_option, keep_options
from parlai_empathy.agent_kit.trained.text_cache import TextCache
from parlai_empathy.agent_kit.training.linear_rate import LinearRate
from parlai_empathy.agents.epitome import options
from parlai_empathy.agents.epitome.evaluation import level_metrics, loss_metrics, rationale_metrics
from parlai_empathy.agents.epitome.inference import REMEMBERED, EpitomeReader, Judged, read_of
from parlai_empathy.agents.epitome.mechanisms import set_mechanisms_of_task
from parlai_empathy.agents.epitome.targets import (
    level_losses,
    rationale_losses,
    rationale_targets,
    token_losses,
    true_levels,
)
from parlai_empathy.tasks.epitome.mechanisms import SHORT, in_words


class EpitomeAgent(LinearRate, EpitomeReader):
    """Predicts each mechanism's level in a reply, 0, 1 or 2, and the words that show it.

    A text's last line is the reply, and the line before it the post that it answers; earlier lines are ignored.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        return options.add(parser, partial_opt or {})

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        options.check(opt)
        init_model, is_finetune = self._get_init_model(opt, shared)
        if not shared:
            check_init_model(opt, init_model, EpitomeAgent)
            check_own_option(opt, "mechanisms")
            keep_options(opt, ("hf_model", "responders", "pooling"))
            set_mechanisms_of_task(opt)
        super().__init__(opt, shared)
        self.mechanisms: list[str] = opt["mechanisms"]
        self.criterion = None  # ParlAI shares one between an agent's copies; the losses here are functions
        # The seeker's encoder is frozen, so its states of a post are the same in each epoch.
        self._posts = shared["posts"] if shared else TextCache(REMEMBERED)
        if shared:
            self.optimizer = shared.get("optimizer")
        else:
            self.begin(init_model, is_finetune)

    def share(self) -> dict[str, Any]:
        """Also share the cache of posts."""
        return {**super().share(), "posts": self._posts}

    # --- training ----------------------------------------------------------------------------------------------------

    def train_step(self, batch: Batch) -> Output:
        """Run one training step."""
        self.set_rate()
        self.model.train()
        self.zero_grad()
        losses = self._losses(self.judge(_pairs(batch)), batch.observations)
        self.record_local_metric("loss", AverageMetric.many(losses.tolist()))
        self.backward(losses.mean())
        self.update_params()
        return Output()

    def _losses(self, judged: Judged, observations: Sequence[Message]) -> Tensor:
        """Return each example's loss, ``(n,)``."""
        device = judged.levels.device
        losses = level_losses(judged.levels, true_levels(observations, self.mechanisms).to(device))
        if self.opt["rationale_weight"]:
            marks = self._marks(judged, observations).to(device)
            losses = losses + self.opt["rationale_weight"] * rationale_losses(judged.rationales, marks)
        return losses

    def _marks(self, judged: Judged, observations: Sequence[Message]) -> Tensor:
        return rationale_targets(observations, self.mechanisms, judged.responses, judged.rationales.size(2))

    # --- evaluation --------------------------------------------------------------------------------------------------

    def eval_step(self, batch: Batch) -> Output | None:
        """Judge the batch, and record its metrics. Replies also contain ``levels`` and ``rationales``."""
        if not batch.batchsize:
            return None
        pairs = _pairs(batch)
        self.model.eval()
        judged = self.judge(pairs)
        if all("levels" in obs for obs in batch.observations):
            self._record(judged, batch.observations)
        chosen = [dict(zip(self.mechanisms, row, strict=True)) for row in judged.levels.argmax(dim=-1).tolist()]
        quoted = self.quoted(pairs, judged)
        in_chat = bool(self.opt.get("interactive_mode"))
        texts = [
            _in_chat(levels, words) if in_chat else in_words(_asked(levels, obs))
            for levels, words, obs in zip(chosen, quoted, batch.observations, strict=True)
        ]
        return Output(texts, levels=chosen, rationales=quoted)

    def _record(self, judged: Judged, observations: Sequence[Message]) -> None:
        levels, rationales = judged.levels.cpu(), judged.rationales.cpu()
        true, marks = true_levels(observations, self.mechanisms), self._marks(judged, observations)
        totals, tokens = token_losses(rationales, marks)
        found = loss_metrics(level_losses(levels, true), self.opt["rationale_weight"] * totals, tokens)
        found |= level_metrics(levels.argmax(dim=-1), true, self.mechanisms, observations[0].get("fold"))
        found |= rationale_metrics(rationales.argmax(dim=-1), marks, self.mechanisms)
        for name, values in found.items():
            self.record_local_metric(name, values)

    def batch_act(self, observations: Any) -> Any:
        """Act, and drop metrics that are None for an example, which ParlAI cannot aggregate."""
        replies = super().batch_act(observations)
        for reply in replies:
            if "metrics" in reply:
                reply["metrics"] = {name: value for name, value in reply.pop("metrics").items() if value is not None}
        return replies


def _pairs(batch: Batch) -> list[TextPair]:
    return [read_of(last_line(obs["lines"])) for obs in batch.observations]


def _asked(levels: dict[str, int], obs: Message) -> dict[str, int]:
    """Return the levels of the mechanisms in the message's label: a task may cover only some of the judge's."""
    return {name: level for name, level in levels.items() if name in (obs.get("levels") or levels)}


def _in_chat(levels: dict[str, int], quoted: dict[str, list[str]]) -> str:
    """Format levels, and the words that show them, for display in a chat."""
    parts = []
    for mechanism, level in levels.items():
        words = "; ".join(f'"{text}"' for text in quoted[mechanism])
        parts.append(f"{SHORT[mechanism]} {level}" + (f" {words}" if words else ""))
    return ", ".join(parts)
