"""The base of agents that judge texts: classes, losses, ranking, metrics, files. Subclasses provide the model.

A judge reads a text's last line, given the lines before it. Its mode depends on the training task:

*classes*
    The task's candidates are the same for each example, such as emotions, or ratings from 1 to 5. The judge predicts
    one of them, and a score if the classes are numbers.
*replies*
    The candidates are replies. The judge predicts how probable it is that a reply is the true one, and ranks the
    candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, Output
from torch import Tensor

from parlai_empathy.agent_kit.judging import options as judge_options
from parlai_empathy.agent_kit.judging.classes import JudgeClasses
from parlai_empathy.agent_kit.judging.examples import TextPair, labels_of, last_line, pairs_of
from parlai_empathy.agent_kit.judging.model import PairModelAgent
from parlai_empathy.agent_kit.judging.replies import (
    best_first,
    full_choices,
    loss_metrics,
    reply_losses,
    sampled_choices,
)
from parlai_empathy.agent_kit.judging.task_classes import set_classes_of_task
from parlai_empathy.agent_kit.trained.init_model import check_init_model, check_own_option, keep_options
from parlai_empathy.agent_kit.training.draws import random_of_step
from parlai_empathy.errors import OptionError
from parlai_empathy.files.text_file import is_file
from parlai_empathy.metrics.score_correlation import ScoreCorrelation


class JudgeAgent(PairModelAgent):
    """Judges a reply in its context.

    :cvar of_weights: options tied to the weights; they are copied from the model of ``--init-model``.
    """

    of_weights: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options that all judges have, and their defaults for ParlAI's own options."""
        super().add_cmdline_args(parser, partial_opt)
        return judge_options.add(parser)

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        judge_options.check(opt)
        init_model, is_finetune = self._get_init_model(opt, shared)
        if not shared:
            check_init_model(opt, init_model, JudgeAgent)
            check_own_option(opt, "classes")
            keep_options(opt, self.of_weights)
            set_classes_of_task(opt)
        super().__init__(opt, shared)
        self.classes: list[str] | None = opt["classes"] or None
        self._scale = JudgeClasses(tuple(self.classes), opt["loss"]) if self.classes else None
        judge_options.check_loss(opt, self._scale.values if self._scale else None)
        self.criterion = None  # ParlAI shares one between an agent's copies; the losses here are functions
        if shared:
            self.optimizer = shared.get("optimizer")
        else:
            self.begin(init_model, is_finetune)

    @property
    def outputs(self) -> int:
        """Number of logits per text."""
        return self._scale.outputs if self._scale else 1

    def adapt_init_weights(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adapt the weights of ``--init-model``: each class keeps its row of the head; a head of others is left out."""
        options = f"{self.opt['init_model']}.opt"
        theirs = Opt.load(options) if is_file(options) else {}
        classes = theirs.get("classes") or []
        if not self.classes or not classes or {self.opt["loss"], theirs.get("loss")} != {"ce"}:
            return weights
        if sorted(classes) != sorted(self.classes):
            return {name: values for name, values in weights.items() if not name.startswith("head.")}
        rows = [classes.index(name) for name in self.classes]
        return {name: values[rows] if name.startswith("head.") else values for name, values in weights.items()}

    # --- judging -----------------------------------------------------------------------------------------------------

    def score_pairs(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """Score replies in their contexts, in batches, with a progress bar if there are many.

        :param contexts: the turns before each reply, oldest first.
        :returns: ``(n,)``: scores on the classes' scale if they are numbers; for a judge of replies the probability,
            0..1, that the reply is the true one.
        :raises OptionError: if the classes are not numbers.
        """
        scores: NDArray[np.float64] = self.scores(self._read(pairs_of(contexts, replies))).double().numpy()
        return scores

    def class_probabilities(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """Return the class probabilities of texts, in batches.

        :param contexts: the turns before each reply, oldest first; empty for a standalone text.
        :param replies: the texts, ``(n,)``.
        :returns: ``(n, classes)``, in the order of :attr:`classes`; each row sums to 1.
        :raises OptionError: if this is a judge of replies, or its loss is ``mse``.
        """
        if self._scale is None:
            raise OptionError("this judge ranks replies: it has no classes, and gives no class probabilities")
        logits = self._read(pairs_of(contexts, replies))
        probabilities: NDArray[np.float64] = self._scale.probabilities(logits.double()).numpy()
        return probabilities

    def features(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> Tensor:
        """Return the inputs of the last layer, without dropout, as features for other models.

        :param contexts: the turns before each reply, oldest first; empty for a standalone text.
        :param replies: the texts, ``(n,)``.
        :returns: ``(n, feature_size)``, on the CPU, in float32, without gradients.
        """
        part: Any = self.bare_model.features
        return self._in_batches(part, self.feature_size, pairs_of(contexts, replies))

    def scores(self, logits: Tensor) -> Tensor:
        """Return one score per text, ``(n,)``: the expected class on the classes' scale, or a probability."""
        return self._scale.scores(logits) if self._scale else logits[:, 0].sigmoid()

    def _read(self, pairs: Sequence[TextPair]) -> Tensor:
        """Return the logits of any number of pairs, ``(n, outputs)``, on the CPU and without gradients."""
        return self._in_batches(self.bare_model, self.outputs, pairs)

    def self_observe(self, self_message: Message) -> None:
        """Add the true reply to the history if the episode continues; the judge's own output is not part of it.

        ParlAI adds what another ``--use-reply`` names.
        """
        before, use_reply = self.observation, self.opt.get("use_reply")
        super().self_observe(self_message)
        if self.classes is None and use_reply == "none" and not before["episode_done"] and labels_of(before):
            self.history.add_reply(labels_of(before)[0])

    # --- training ----------------------------------------------------------------------------------------------------

    def train_step(self, batch: Batch) -> Output:
        """Run one training step."""
        self.model.train()
        self.zero_grad()
        losses = self._losses(batch.observations)
        self.record_local_metric("loss", AverageMetric.many(losses.tolist()))
        self.backward(self.combined(losses))
        self.update_params()
        return Output()

    def combined(self, losses: Tensor) -> Tensor:
        """Return the loss to minimise, from the examples' losses ``(n,)``."""
        return losses.mean()

    def _losses(self, observations: Sequence[Message]) -> Tensor:
        """Return each example's loss, ``(n,)``."""
        if self._scale:
            return self._scale.losses(self.logits([last_line(obs["lines"]) for obs in observations]), observations)
        draw = random_of_step(self.opt, self._number_training_updates)
        choices = sampled_choices(observations, self.opt["negatives"], draw)
        logits = self.logits([pair for choice in choices for pair in choice.pairs])[:, 0]
        return reply_losses(logits, choices, self.opt["loss"], self.opt["prior"])

    # --- evaluation --------------------------------------------------------------------------------------------------

    def eval_step(self, batch: Batch) -> Output | None:
        """Judge the batch, and record its metrics."""
        if not batch.batchsize:
            return None
        if all(map(self._is_judged, batch.observations)):
            return self._judge(batch.observations)
        return self._rank(batch.observations)

    def is_valid(self, obs: Message) -> bool:
        """Whether there is anything to judge. If the message is empty, the last line is that of the turn before."""
        return super().is_valid(obs) and (bool((obs.get("text") or "").strip()) or not self._is_judged(obs))

    def _is_judged(self, obs: Message) -> bool:
        """Whether the last line itself is judged; otherwise each candidate is judged as the last line."""
        in_chat = bool(self.opt.get("interactive_mode")) and not obs.get("label_candidates")
        return self.classes is not None or "rating_mean" in obs or in_chat

    def _judge(self, observations: Sequence[Message]) -> Output:
        """Predict the classes or scores of the last lines."""
        logits = self._read([last_line(obs["lines"]) for obs in observations])
        if self._scale and all(map(self._has_target, observations)):
            losses = self._scale.losses(logits, observations)
            self.record_local_metric("loss", AverageMetric.many(losses.tolist()))
        if self._scale is None or self._scale.values:
            self._record_correlations(observations, self.scores(logits).tolist())
        return Output(self._answers(logits))

    def _has_target(self, obs: Message) -> bool:
        """Whether a loss can be computed: ratings on another scale than the judge's only allow correlations.

        A rated message's candidates are its scale. Its label and ratings may happen to be classes of the judge too.
        """
        scale = obs.get("label_candidates") or labels_of(obs)
        is_on_another_scale = "rating_mean" in obs and not set(scale) <= set(self.classes or ())
        return bool(labels_of(obs)) and not is_on_another_scale

    def _answers(self, logits: Tensor) -> list[str]:
        if self._scale is None:
            return [f"{score:.3f}" for score in self.scores(logits).tolist()]
        return self._scale.in_words(logits) if self.opt.get("interactive_mode") else self._scale.chosen(logits)

    def _record_correlations(self, observations: Sequence[Message], scores: Sequence[float]) -> None:
        rated = [(score, obs) for score, obs in zip(scores, observations, strict=True) if "rating_mean" in obs]
        for kind in ("pearson", "spearman") if rated else ():
            mine = [score for score, _ in rated]
            theirs = [obs["rating_mean"] for _, obs in rated]
            self.global_metrics.add(kind, ScoreCorrelation(kind, mine, theirs, rated[0][1].get("fold")))

    def _rank(self, observations: Sequence[Message]) -> Output:
        """Rank each message's candidates, most probable first."""
        choices = full_choices(observations)
        logits = self._read([pair for choice in choices for pair in choice.pairs])[:, 0]
        if all(map(labels_of, observations)):
            self.record_local_metric("loss", loss_metrics(logits, choices, self.opt["loss"], self.opt["prior"]))
        # A single candidate is no choice, and must not count as a correct one.
        ordered = [replies if len(replies) > 1 else None for replies in best_first(logits, choices)]
        return Output([replies[0] if replies else None for replies in ordered], text_candidates=ordered)
