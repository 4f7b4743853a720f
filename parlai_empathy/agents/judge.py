"""What agents that judge text share: classes, losses, ranking, metrics. Subclasses bring the model.

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
from itertools import accumulate
from typing import Any

import numpy as np
import parlai.utils.logging as logging
import torch
from numpy.typing import NDArray
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, Output, TorchAgent
from parlai.utils.distributed import is_distributed
from parlai.utils.torch import total_parameters, trainable_parameters
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from parlai_empathy.agents import judge_options
from parlai_empathy.agents.judge_examples import TextPair, contrasts, labels_of, last_line, numbers, shares
from parlai_empathy.agents.task_classes import task_classes
from parlai_empathy.agents.weights import load_model
from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.metrics.score_correlation import ScoreCorrelation
from parlai_empathy.modules.losses import binary_cross_entropy, nnpu_risk, soft_cross_entropy, squared_error
from parlai_empathy.modules.precision import use_bfloat16

_SCORE_BATCH = 256  # pairs scored at once
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
        self._bring_classes(opt)
        super().__init__(opt, shared)
        self.classes: list[str] | None = opt["classes"]
        self.values = numbers(self.classes)
        judge_options.check_loss(opt, self.values)
        self.criterion = None  # ParlAI shares one between an agent's copies; the losses here are functions
        if shared:
            self.optimizer = shared.get("optimizer")
            return
        self._begin(init_model, is_finetune)

    def _begin(self, init_model: str | None, is_finetune: bool) -> None:
        """Build or load the model, and what trains it."""
        if self.opt.get("seed") is not None:
            torch.manual_seed(self.opt["seed"])  # ParlAI seeds only after it has built the model
        self.model = self.build_model()
        states = self._load_into_new(init_model, is_finetune) if init_model else {}
        if self.use_cuda:
            self.model.cuda()
        logging.info(f"{total_parameters(self.model):,} parameters, {trainable_parameters(self.model):,} trainable")
        if self._should_initialize_optimizer():
            was_reset = self.init_optim(
                [p for p in self.model.parameters() if p.requires_grad],
                optim_states=states.get("optimizer"),
                saved_optim_type=states.get("optimizer_type"),
                is_finetune=is_finetune,
            )
            self.build_lr_scheduler(states, hard_reset=is_finetune or was_reset)
        if is_distributed():
            devices = [self.opt["gpu"]] if self.use_cuda else None
            self.model = DistributedDataParallel(self.model, device_ids=devices, broadcast_buffers=False)

    # --- the model: a subclass's part --------------------------------------------------------------------------------

    @abstractmethod
    def build_model(self) -> nn.Module:
        """The model, which makes of :meth:`model_inputs` a tensor ``(n, self.outputs)``."""

    @abstractmethod
    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """What the model takes, one row a pair."""

    @property
    def outputs(self) -> int:
        """How many numbers the model makes of a text: one a class, or a single one."""
        return len(self.opt["classes"]) if self.opt["classes"] and self.opt["loss"] == "ce" else 1

    def logits(self, pairs: Sequence[TextPair]) -> Tensor:
        """The model's numbers in single precision, ``(n, outputs)``."""
        device = next(self.model.parameters()).device
        inputs = [tensor.to(device) for tensor in self.model_inputs(pairs)]
        with torch.autocast(device.type, torch.bfloat16, enabled=use_bfloat16(self.opt["precision"], device)):
            logits: Tensor = self.model(*inputs)
        return logits.float()

    # --- judging -----------------------------------------------------------------------------------------------------

    def score_pairs(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """Score replies in their contexts, many at once, with a progress bar where it takes long.

        :param contexts: the turns before each reply, oldest first.
        :returns: ``(n,)``: on the classes' scale if they are numbers; for a judge of replies the probability, 0..1,
            that the reply is the true one.
        :raises OptionError: if this judge's classes are no numbers.
        """
        pairs = [TextPair(tuple(turns), reply) for turns, reply in zip(contexts, replies, strict=True)]
        # Texts of like length go together, so that little of a batch is padding.
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].reply) + sum(map(len, pairs[i].turns)))
        scores = np.empty(len(pairs))
        self.model.eval()
        starts = range(0, len(order), _SCORE_BATCH)
        with torch.inference_mode():
            for start in tqdm(starts, desc="scoring", disable=len(starts) < _WORTH_A_BAR):
                chosen = order[start : start + _SCORE_BATCH]
                scores[chosen] = self.scores(self.logits([pairs[i] for i in chosen])).cpu().numpy()
        return scores

    def scores(self, logits: Tensor) -> Tensor:
        """One score a text, ``(n,)``: the expected class on the classes' scale, or a probability."""
        if self.classes is None:
            return logits[:, 0].sigmoid()
        if self.values is None:
            raise OptionError(f"this judge's classes ({', '.join(self.classes)}) are no numbers: it gives no score")
        if self.opt["loss"] == "mse":
            low, high = min(self.values), max(self.values)
            return low + (high - low) * logits[:, 0].sigmoid()
        return logits.softmax(dim=1) @ torch.tensor(self.values, device=logits.device)

    def class_numbers(self, logits: Tensor) -> list[int]:
        """The class of each text: the most probable one, or the one that is nearest to the score."""
        if self.opt["loss"] == "ce":
            return logits.argmax(dim=1).tolist()
        assert self.values is not None
        values = torch.tensor(self.values, device=logits.device)
        return (self.scores(logits).unsqueeze(1) - values).abs().argmin(dim=1).tolist()

    # --- from messages to pairs --------------------------------------------------------------------------------------

    def vectorize(self, obs: Message, history: Any, **kwargs: Any) -> Message:
        """Keep the conversation's lines: tokens come later, when it is known which pairs a batch needs."""
        lines = [line.strip() for line in (history.get_history_str() or "").split("\n")]
        obs["lines"] = [line for line in lines if line]
        return obs

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

    def _is_judged(self, obs: Message) -> bool:
        """Whether the last line is judged as it is; else the message's candidates are, each as a last line."""
        return self.classes is not None or "rating_mean" in obs

    # --- training ----------------------------------------------------------------------------------------------------

    def train_step(self, batch: Batch) -> Output:
        """One step."""
        self.model.train()
        self.zero_grad()
        losses = self._class_losses(batch) if self.classes else self._reply_losses(batch)
        self.record_local_metric("loss", AverageMetric.many(losses.tolist()))
        self.backward(losses.mean())
        self.update_params()
        return Output()

    def _class_losses(self, batch: Batch) -> Tensor:
        """Each example's loss, ``(n,)``."""
        logits = self.logits([last_line(obs["lines"]) for obs in batch.observations])
        return self._losses_of(logits, batch.observations)

    def _losses_of(self, logits: Tensor, observations: Sequence[Message]) -> Tensor:
        assert self.classes is not None
        targets = torch.tensor([shares(obs, self.classes) for obs in observations], device=logits.device)
        if self.opt["loss"] == "ce":
            return soft_cross_entropy(logits, targets)
        assert self.values is not None
        low, high = min(self.values), max(self.values)
        places = (targets @ torch.tensor(self.values, device=logits.device) - low) / (high - low)
        return squared_error(logits[:, 0], places, high - low)

    def _reply_losses(self, batch: Batch) -> Tensor:
        """Each example's loss, ``(n,)``; the non-negative risk is one for the whole batch."""
        contexts = [obs["lines"] for obs in batch.observations]
        found = contrasts(batch.observations, contexts, self.opt["negatives"], self.random)
        logits = self.logits([contrast.pair for contrast in found])[:, 0]
        is_true = torch.tensor([contrast.is_true for contrast in found], device=logits.device)
        if self.opt["loss"] == "nnpu":
            return nnpu_risk(logits, is_true, self.opt["prior"]).expand(batch.batchsize)
        owners = torch.tensor([contrast.message for contrast in found], device=logits.device)
        sums = logits.new_zeros(batch.batchsize).index_add(0, owners, binary_cross_entropy(logits, is_true))
        return sums / owners.bincount(minlength=batch.batchsize)

    # --- evaluation --------------------------------------------------------------------------------------------------

    def eval_step(self, batch: Batch) -> Output | None:
        """Judge, and record what can be measured."""
        if not batch.batchsize:
            return None
        self.model.eval()
        if all(map(self._is_judged, batch.observations)):
            return self._judge(batch)
        return self._rank(batch)

    def _judge(self, batch: Batch) -> Output:
        logits = self.logits([last_line(obs["lines"]) for obs in batch.observations])
        if self.classes and all(map(labels_of, batch.observations)):
            self.record_local_metric("loss", AverageMetric.many(self._losses_of(logits, batch.observations).tolist()))
        if self.classes is not None and self.values is None:
            return Output([self._in_words(n, row) for n, row in zip(self.class_numbers(logits), logits, strict=True)])
        scores = self.scores(logits).tolist()
        self._record_correlations(batch.observations, scores)
        if self.classes is None:
            return Output([f"{score:.3f}" for score in scores])
        names = [self.classes[number] for number in self.class_numbers(logits)]
        if self.opt.get("interactive_mode"):
            return Output([f"{name} ({score:.2f})" for name, score in zip(names, scores, strict=True)])
        return Output(names)

    def _in_words(self, number: int, logits: Tensor) -> str:
        """The class, in a conversation with its probability."""
        assert self.classes is not None
        if not self.opt.get("interactive_mode"):
            return self.classes[number]
        return f"{self.classes[number]} ({logits.softmax(dim=0)[number]:.2f})"

    def _record_correlations(self, observations: Sequence[Message], scores: Sequence[float]) -> None:
        rated = [
            (score, obs["rating_mean"]) for score, obs in zip(scores, observations, strict=True) if "rating_mean" in obs
        ]
        split = observations[0].get("fold")
        for kind in ("pearson", "spearman") if rated else ():
            mine, theirs = zip(*rated, strict=True)
            self.global_metrics.add(kind, ScoreCorrelation(kind, mine, theirs, split))

    def _rank(self, batch: Batch) -> Output:
        """Order each message's candidates, the most probable first."""
        lists = [list(obs.get("label_candidates") or labels_of(obs)) for obs in batch.observations]
        if not all(lists):
            raise OptionError("there is nothing to choose from: this judge of replies needs a task with candidates")
        pairs = [
            TextPair(tuple(o["lines"]), text)
            for o, texts in zip(batch.observations, lists, strict=True)
            for text in texts
        ]
        ordered, losses = [], []
        for obs, texts, logits in zip(
            batch.observations,
            lists,
            self.logits(pairs)[:, 0].tensor_split(list(accumulate(map(len, lists)))[:-1]),
            strict=True,
        ):
            ordered.append([texts[i] for i in logits.argsort(descending=True, stable=True)])
            is_true = torch.tensor([text in labels_of(obs) for text in texts], device=logits.device)
            losses.append(float(binary_cross_entropy(logits, is_true).mean()))
        self.record_local_metric("loss", AverageMetric.many(losses))
        return Output([texts[0] for texts in ordered], text_candidates=ordered)

    # --- files -------------------------------------------------------------------------------------------------------

    def _bring_classes(self, opt: Opt) -> None:
        """Find the classes in the training task where ``--classes`` does not name them. ParlAI saves them in opt."""
        if "classes" not in opt or (opt["classes"] is None and not opt.get("classes_known")):
            opt["classes"] = task_classes(opt)
        opt["classes_known"] = True

    def load(self, path: str) -> dict[str, Any]:
        """Load weights, executing nothing that a stranger's file may hold."""
        return load_model(path, self.load_state_dict)

    def _load_into_new(self, path: str, is_finetune: bool) -> dict[str, Any]:
        """Load a model; from ``--init-model`` all but a head that has another number of outputs."""
        if not is_finetune:
            return self.load(path)
        load_model(path, lambda weights: self._begin_with(path, weights))
        return {}

    def _begin_with(self, path: str, weights: dict[str, Tensor]) -> None:
        own = self.model.state_dict()
        other = {name for name in weights if name in own and weights[name].shape != own[name].shape}
        if unfit := set(weights) ^ set(own) | {name for name in other if not name.startswith("head.")}:
            raise ModelFileError(f"--init-model {path} is another kind of model: {min(unfit)} does not fit")
        if other:
            logging.info(f"{path}: its head has another number of outputs, and a new one takes its place")
        self.model.load_state_dict({name: own[name] if name in other else weights[name] for name in own})

    def share(self) -> dict[str, Any]:
        """Also share what trains the model."""
        return {**super().share(), "optimizer": getattr(self, "optimizer", None)}
