"""What agents that judge text share: classes, losses, ranking, metrics, files. Subclasses bring the model.

A judge reads a text's last line, given the lines before it. What it learns follows from its training task:

*classes*
    The task's candidates are the same for each example: emotions, or ratings from 1 to 5. Out comes one of them, and
    for classes that are numbers a score on their scale.
*replies*
    The candidates are replies. Out comes how probably a reply is the true one, and an order of the candidates.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import parlai.utils.logging as logging
import torch
from numpy.typing import NDArray
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output, TorchAgent
from parlai.utils.distributed import is_distributed, is_primary_worker
from parlai.utils.torch import total_parameters, trainable_parameters
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from parlai_empathy.agents import judge_options
from parlai_empathy.agents.finite import check_finite
from parlai_empathy.agents.judge_classes import JudgeClasses
from parlai_empathy.agents.judge_examples import TextPair, labels_of, last_line, pair_of
from parlai_empathy.agents.judge_replies import Choice, best_first, drawn_choices, full_choices, reply_losses
from parlai_empathy.agents.task_classes import bring_classes
from parlai_empathy.agents.weights import begin_with, load_model
from parlai_empathy.metrics.score_correlation import ScoreCorrelation
from parlai_empathy.modules.precision import use_bfloat16

_READ_BATCH = 256  # pairs read at once
_WORTH_A_BAR = 20  # as many batches take long enough for a progress bar


class JudgeAgent(TorchAgent):
    """Judges a reply in its context."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options that all judges have, and the defaults that they recommend for ParlAI's own."""
        super().add_cmdline_args(parser, partial_opt)
        return judge_options.add(parser, partial_opt or {})

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        judge_options.check(opt)
        init_model, is_finetune = self._get_init_model(opt, shared)
        if not shared:
            judge_options.check_init_model(opt, init_model)
            bring_classes(opt)
        super().__init__(opt, shared)
        self.classes: list[str] | None = opt["classes"] or None
        self._scale = JudgeClasses(tuple(self.classes), opt["loss"]) if self.classes else None
        judge_options.check_loss(opt, self._scale.values if self._scale else None)
        self.criterion = None  # ParlAI shares one between an agent's copies; the losses here are functions
        if shared:
            self.optimizer = shared.get("optimizer")
            return
        self.is_new = init_model is None  # nothing trained follows: the model begins with what its parts bring
        self._begin(init_model, is_finetune)

    def _begin(self, init_model: str | None, is_finetune: bool) -> None:
        """Build or load the model, and what trains it."""
        if self.opt.get("seed") is not None:
            torch.manual_seed(self.opt["seed"])  # ParlAI seeds only after it has built the model
        self.model = self.build_model()
        states: dict[str, Any] = {}
        if init_model and is_finetune:
            load_model(init_model, lambda weights: begin_with(self.model, weights, init_model))
            self._keep_dictionary()
        elif init_model:
            states = self.load(init_model)
        if self.use_cuda:
            self.model.cuda()
        logging.info(f"{total_parameters(self.model):,} parameters, {trainable_parameters(self.model):,} trainable")
        if self._should_initialize_optimizer():
            self._begin_training(states, is_finetune)
        if is_distributed():
            devices = [self.opt["gpu"]] if self.use_cuda else None
            # An encoder may have parts that a judge has no use for, and a batch may have no context to read.
            self.model = DistributedDataParallel(self.model, device_ids=devices, find_unused_parameters=True)

    def _begin_training(self, states: dict[str, Any], is_finetune: bool) -> None:
        was_reset = self.init_optim(
            [parameter for parameter in self.model.parameters() if parameter.requires_grad],
            optim_states=states.get("optimizer"),
            saved_optim_type=states.get("optimizer_type"),
            is_finetune=is_finetune,
        )
        if self.opt["optimizer"] in ("adam", "adamw"):
            assert self.optimizer is not None
            for group in self.optimizer.param_groups:
                group["fused"] = True  # one pass over the weights in place of many: on a CPU several times as fast
        self.build_lr_scheduler(states, hard_reset=is_finetune or was_reset)
        if not is_finetune:  # ParlAI goes on counting only if there is a schedule
            self._number_training_updates = states.get("number_training_updates", 0)

    def _keep_dictionary(self) -> None:
        """Write the other model's dictionary, for ParlAI has built one of the new task's words beside the model."""
        if self.opt.get("model_file") and is_primary_worker():
            self.dict.save(f"{self.opt['model_file']}.dict", sort=False)

    # --- the model: a subclass's part --------------------------------------------------------------------------------

    @abstractmethod
    def build_model(self) -> nn.Module:
        """The model, which makes of :meth:`model_inputs` a tensor ``(n, self.outputs)``.

        What comes last in it is called ``head``: it is new where that of ``--init-model`` has another size.
        """

    @abstractmethod
    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """What the model takes, one row a pair."""

    @property
    def bare_model(self) -> nn.Module:
        """The model without the wrapper of distributed training."""
        bare: nn.Module = getattr(self.model, "module", self.model)
        return bare

    @property
    def outputs(self) -> int:
        """How many numbers the model makes of a text."""
        return self._scale.outputs if self._scale else 1

    def logits(self, pairs: Sequence[TextPair]) -> Tensor:
        """The model's numbers in single precision, ``(n, outputs)``."""
        device = next(self.model.parameters()).device
        inputs = [tensor.to(device) for tensor in self.model_inputs(pairs)]
        # In evaluation processes have different numbers of batches: the wrapper would have them wait for one another.
        model = self.model if self.model.training else self.bare_model
        with torch.autocast(device.type, torch.bfloat16, enabled=use_bfloat16(self.opt["precision"], device)):
            logits: Tensor = model(*inputs)
        return logits.float()

    # --- judging -----------------------------------------------------------------------------------------------------

    def score_pairs(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """Score replies in their contexts, many at once, with a progress bar where it takes long.

        :param contexts: the turns before each reply, oldest first.
        :returns: ``(n,)``: on the classes' scale if they are numbers; for a judge of replies the probability, 0..1,
            that the reply is the true one.
        :raises OptionError: if this judge's classes are no numbers.
        """
        pairs = [pair_of(turns, reply) for turns, reply in zip(contexts, replies, strict=True)]
        scores: NDArray[np.float64] = self.scores(self._read(pairs)).double().numpy()
        return scores

    def scores(self, logits: Tensor) -> Tensor:
        """One score a text, ``(n,)``: the expected class on the classes' scale, or a probability."""
        return self._scale.scores(logits) if self._scale else logits[:, 0].sigmoid()

    def _read(self, pairs: Sequence[TextPair]) -> Tensor:
        """The model's numbers for any number of pairs, ``(n, outputs)``: on the CPU, and not to learn from."""
        # Texts of like length go together, so that little of a batch is padding.
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].reply) + sum(map(len, pairs[i].turns)))
        logits = torch.empty(len(pairs), self.outputs)
        starts = range(0, len(order), _READ_BATCH)
        self.model.eval()
        with torch.no_grad():
            for start in tqdm(starts, desc="scoring", disable=len(starts) < _WORTH_A_BAR):
                chosen = order[start : start + _READ_BATCH]
                logits[chosen] = self.logits([pairs[i] for i in chosen]).cpu()
        return logits

    # --- from messages to pairs --------------------------------------------------------------------------------------

    @classmethod
    def history_class(cls) -> type[History]:
        """The conversation's texts alone."""
        return _Texts

    def vectorize(self, obs: Message, history: Any, **kwargs: Any) -> Message:
        """Keep the conversation's lines: tokens come later, when it is known which pairs a batch needs."""
        lines = [line.strip() for line in (history.get_history_str() or "").split("\n")]
        obs.force_set("lines", [line for line in lines if line])
        return obs

    def self_observe(self, self_message: Message) -> None:
        """Remember the true reply of an example that goes on; what the judge itself says is no part of it."""
        before = self.observation
        super().self_observe(self_message)
        if self.classes is None and not before["episode_done"] and labels_of(before):
            self.history.add_reply(labels_of(before)[0])

    def is_valid(self, obs: Message) -> bool:
        """Whether there is anything to judge."""
        return not obs.is_padding() and bool(obs.get("lines"))

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """The observations that can be judged."""
        valid = [(index, obs) for index, obs in enumerate(obs_batch) if self.is_valid(obs)]
        if not valid:
            return Batch(batchsize=0)
        indices, observations = zip(*valid, strict=True)
        return Batch(
            batchsize=len(valid),
            is_training=any("labels" in obs for obs in observations),
            valid_indices=list(indices),
            observations=list(observations),
        )

    # --- training ----------------------------------------------------------------------------------------------------

    def train_step(self, batch: Batch) -> Output:
        """One step."""
        self.model.train()
        self.zero_grad()
        losses = self._losses(batch.observations)
        check_finite(losses, self.opt, self._number_training_updates)
        self.record_local_metric("loss", AverageMetric.many(losses.tolist()))
        self.backward(losses.mean())
        self.update_params()
        return Output()

    def _losses(self, observations: Sequence[Message]) -> Tensor:
        """Each example's loss, ``(n,)``."""
        if self._scale:
            return self._scale.losses(self.logits([last_line(obs["lines"]) for obs in observations]), observations)
        choices = drawn_choices(observations, self.opt["negatives"], self.random)
        return self._reply_losses(self.logits([pair for choice in choices for pair in choice.pairs])[:, 0], choices)

    def _reply_losses(self, logits: Tensor, choices: Sequence[Choice]) -> Tensor:
        return reply_losses(logits, choices, self.opt["loss"], self.opt["prior"])

    # --- evaluation --------------------------------------------------------------------------------------------------

    def eval_step(self, batch: Batch) -> Output | None:
        """Judge, and record what can be measured."""
        if not batch.batchsize:
            return None
        if all(map(self._is_judged, batch.observations)):
            return self._judge(batch.observations)
        return self._rank(batch.observations)

    def _is_judged(self, obs: Message) -> bool:
        """Whether the last line is judged as it is; else the message's candidates are, each as a last line."""
        in_chat = bool(self.opt.get("interactive_mode")) and not obs.get("label_candidates")
        return self.classes is not None or "rating_mean" in obs or in_chat

    def _judge(self, observations: Sequence[Message]) -> Output:
        """Say what the last lines are."""
        logits = self._read([last_line(obs["lines"]) for obs in observations])
        if self._scale and all(map(labels_of, observations)):
            losses = self._scale.losses(logits, observations)
            self.record_local_metric("loss", AverageMetric.many(losses.tolist()))
        if self._scale is None or self._scale.values:
            self._record_correlations(observations, self.scores(logits).tolist())
        return Output(self._answers(logits))

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
        """Order each message's candidates, the most probable first."""
        choices = full_choices(observations)
        logits = self._read([pair for choice in choices for pair in choice.pairs])[:, 0]
        if all(map(labels_of, observations)):
            self.record_local_metric("loss", AverageMetric.many(self._reply_losses(logits, choices).tolist()))
        # A single reply, alone in its batch, is no choice: it shall not count as one that was made well.
        ordered = [replies if len(replies) > 1 else None for replies in best_first(logits, choices)]
        return Output([replies[0] if replies else None for replies in ordered], text_candidates=ordered)

    # --- files -------------------------------------------------------------------------------------------------------

    def load(self, path: str) -> dict[str, Any]:
        """Load weights, executing nothing that a stranger's file may hold."""
        return load_model(path, self.load_state_dict)

    def share(self) -> dict[str, Any]:
        """Also share what trains the model."""
        return {**super().share(), "optimizer": getattr(self, "optimizer", None)}


class _Texts(History):
    """ParlAI's history without token ids, which a judge has no use for."""

    def parse(self, text: str) -> list[int]:
        """No token ids."""
        return []
