"""The model of a judge: building and loading it, turning messages into inputs, and running it over many pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.message import Message
from parlai.core.torch_agent import Batch, History
from parlai.utils.distributed import is_distributed
from parlai.utils.torch import total_parameters, trainable_parameters
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.trained.init_model import init_weights, keep_dictionary
from parlai_empathy.agent_kit.trained.weights import load_model
from parlai_empathy.agent_kit.training.draws import seed_weights
from parlai_empathy.agent_kit.training.finite_loss import FiniteLoss
from parlai_empathy.agent_kit.training.fused_optimizer import FusedOptimizer
from parlai_empathy.agent_kit.training.update_count import UpdateCount
from parlai_empathy.modules.speed.precision import autocast
from parlai_empathy.modules.speed.sorted_batches import sorted_batches

_READ_BATCH = 512  # pairs per call; on a CPU the models split them further by length


class PairModelAgent(FiniteLoss, FusedOptimizer, UpdateCount):
    """Base of agents whose model reads pairs; subclasses define the model and its training."""

    # --- for subclasses -----------------------------------------------------------------------------------------------

    @abstractmethod
    def build_model(self) -> nn.Module:
        """Build the model, which maps :meth:`model_inputs` to a tensor ``(n, self.outputs)``.

        Its last layer must be a linear layer named ``head``; it is newly initialised if that of ``--init-model`` has
        other outputs. The model's method ``features`` takes the same inputs and returns the input of the head,
        ``(n, feature_size)``; only dropout may come between the two.
        """

    @abstractmethod
    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Return the model's inputs, one row per pair."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Number of logits per pair."""

    # --- initialisation -----------------------------------------------------------------------------------------------

    def begin(self, init_model: str | None, is_finetune: bool) -> None:
        """Build or load the model and, for training, its optimiser and learning-rate schedule.

        :param init_model: the file to start or resume from.
        :param is_finetune: whether that file belongs to another training.
        """
        self.is_new = init_model is None  # no trained weights follow: components load their pretrained weights
        seed_weights(self.opt)
        self.model = self.build_model()
        states: dict[str, Any] = {}
        if init_model and is_finetune:
            self.begin_with_weights(init_model)
            keep_dictionary(self.dict, self.opt)
        elif init_model:
            states = self.load(init_model)
        if self.use_cuda:
            self.model.cuda()
        logging.info(f"{total_parameters(self.model):,} parameters, {trainable_parameters(self.model):,} trainable")
        if self._should_initialize_optimizer():
            self._begin_training(states, is_finetune)
        if is_distributed():
            devices = [self.opt["gpu"]] if self.use_cuda else None
            # An encoder may have parameters that a judge does not use, and a batch may have no context to read.
            self.model = DistributedDataParallel(self.model, device_ids=devices, find_unused_parameters=True)

    def _begin_training(self, states: dict[str, Any], is_finetune: bool) -> None:
        was_reset = self.init_optim(
            self.parameter_groups(),
            optim_states=states.get("optimizer"),
            saved_optim_type=states.get("optimizer_type"),
            is_finetune=is_finetune,
        )
        self.build_lr_scheduler(states, hard_reset=is_finetune or was_reset)

    def parameter_groups(self) -> list[Any]:
        """Return the optimiser's parameters, or groups of them with their own settings."""
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    def begin_with_weights(self, path: str) -> None:
        """Load the weights of ``--init-model``."""
        load_model(path, lambda weights: init_weights(self.model, self.adapt_init_weights(weights), path))

    def adapt_init_weights(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adapt the weights of ``--init-model`` to this model."""
        return weights

    def load(self, path: str) -> dict[str, Any]:
        """Load a model file, without executing code that it may contain."""
        return load_model(path, self.load_state_dict)

    def share(self) -> dict[str, Any]:
        """Also share the optimiser."""
        return {**super().share(), "optimizer": getattr(self, "optimizer", None)}

    # --- from messages to pairs --------------------------------------------------------------------------------------

    @classmethod
    def history_class(cls) -> type[History]:
        """Return a history class that keeps texts only."""
        return Texts

    def vectorize(self, obs: Message, history: Any, **kwargs: Any) -> Message:
        """Store the conversation's lines; they are tokenized once the pairs of the batch are known."""
        lines = [line.strip() for line in (history.get_history_str() or "").split("\n")]
        obs.force_set("lines", [line for line in lines if line])
        return obs

    def is_valid(self, obs: Message) -> bool:
        """Whether there is anything to judge."""
        return not obs.is_padding() and bool(obs.get("lines"))

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """Batch the observations that can be judged."""
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

    # --- inference ----------------------------------------------------------------------------------------------------

    @property
    def bare_model(self) -> nn.Module:
        """The model without its ``DistributedDataParallel`` wrapper."""
        bare: nn.Module = getattr(self.model, "module", self.model)
        return bare

    @property
    def feature_size(self) -> int:
        """Number of input features of the model's head."""
        head: Any = self.bare_model.head
        return int(head.in_features)

    def logits(self, pairs: Sequence[TextPair]) -> Tensor:
        """Return the model's logits in float32, ``(n, outputs)``."""
        # In evaluation, processes have different numbers of batches, and the wrapper would block.
        return self._computed(self.model if self.model.training else self.bare_model, pairs)

    def _computed(self, part: Callable[..., Tensor], pairs: Sequence[TextPair]) -> Tensor:
        """Return the float32 output of a part of the model for the pairs."""
        device = next(self.model.parameters()).device
        inputs = [tensor.to(device) for tensor in self.model_inputs(pairs)]
        with autocast(self.model, self.opt["precision"]):
            return part(*inputs).float()

    def _in_batches(self, part: Callable[..., Tensor], size: int, pairs: Sequence[TextPair]) -> Tensor:
        """Return the output of a part of the model for any number of pairs, ``(n, size)``."""
        lengths = [len(pair.reply) + sum(map(len, pair.turns)) for pair in pairs]
        numbers = torch.empty(len(pairs), size)
        self.model.eval()
        with torch.no_grad():
            for chosen in sorted_batches(lengths, _READ_BATCH, "scoring"):
                numbers[chosen] = self._computed(part, [pairs[i] for i in chosen]).cpu()
        return numbers


class Texts(History):
    """A ParlAI history without token ids, which judges do not need."""

    def parse(self, text: str) -> list[int]:
        """Return no token ids."""
        return []
