"""``-m empathy:deepmoji``: the classifier pretrained on emoji, from scratch or fine-tuned (Felbo et al. 2017)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.exceptions import StopTrainException
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agent_kit.trained.init_model import copy_options, is_resumed, keep_options
from parlai_empathy.agent_kit.trained.weights import load_model
from parlai_empathy.agents.deepmoji import options
from parlai_empathy.agents.deepmoji.chain_thaw import LAYERS, ChainThaw
from parlai_empathy.agents.deepmoji.dictionary import DeepmojiDictionary, begins_with_published
from parlai_empathy.agents.deepmoji.torchmoji import TorchMoji, read_torchmoji
from parlai_empathy.agents.deepmoji.words import BREAK, UNKNOWN
from parlai_empathy.metrics.direction import is_less_better
from parlai_empathy.modules.classifiers.deepmoji import DeepMoji

_REMEMBERED = 2**16  # number of texts whose token ids are cached across epochs


class DeepmojiAgent(JudgeAgent):
    """Classifies texts with two LSTMs and attention, from random or from emoji-pretrained weights."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        return options.add(parser)

    @staticmethod
    def dictionary_class() -> type[DeepmojiDictionary]:
        """The model's vocabulary."""
        return DeepmojiDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        options.check(opt)
        self._published: TorchMoji | None = None
        self._chain: ChainThaw | None = None
        self._ids = lru_cache(_REMEMBERED)(self._ids_of)
        if not shared and not _is_trained(opt):
            options.check_beginning(opt)
        if not shared and begins_with_published(opt):
            self._published = read_torchmoji(opt["deepmoji_weights"])
            sizes = {name: getattr(self._published, name) for name in ("embedding_size", "hidden_size")}
            copy_options(opt, sizes, "--deepmoji-weights")
        elif not shared:
            keep_options(opt, ("embedding_size", "hidden_size", "gates"))
        options.choose_gates(opt)
        super().__init__(opt, shared)
        if not shared and self._should_initialize_optimizer():
            # Only now: the wrapper for distributed training must see all parameters that will ever be trained.
            self._thaw()

    # --- model -------------------------------------------------------------------------------------------------------

    def build_model(self) -> nn.Module:
        """Build the network, with the published weights if they are named and no trained ones follow."""
        opt = self.opt
        model = DeepMoji(
            nn.Embedding(len(self.dict), opt["embedding_size"]),
            opt["hidden_size"],
            self.outputs,
            hard_gates=opt["gates"] == "hard",
            embedding_dropout=opt["embedding_dropout"],
            dropout=opt["dropout"],
        )
        if self._published:
            _load_published(model, self._published)
            logging.info(
                f"{opt['deepmoji_weights']}: vectors of {len(self._published.words):,} of the {len(self.dict):,} words"
            )
            self._published = None
        return model

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Return word ids, padded on the right, and the length of each text."""
        rows = [torch.tensor(self._ids(pair)) for pair in pairs]
        return pad_sequence(rows, batch_first=True), torch.tensor([len(row) for row in rows])

    def _ids_of(self, pair: TextPair) -> list[int]:
        """Return at least one id: a text without words counts as one unknown word."""
        most = self.opt["max_words"]
        reply = self.dict.txt2vec(pair.reply)[:most]
        context = [*self.dict.txt2vec("\n".join(pair.turns)), self.dict[BREAK]] if pair.turns else []
        ids: list[int] = context[max(0, len(context) + len(reply) - most) :] + reply
        return ids or [self.dict[UNKNOWN]]

    # --- training ----------------------------------------------------------------------------------------------------

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the head, the word vectors (with weight decay) and the rest, each with its learning rate."""
        others = self.opt["learningrate"] if self.opt["finetuning"] == "new" else self.opt["pretrained_learningrate"]
        parts: dict[str, list[nn.Parameter]] = {"head": [], "embedding": [], "rest": []}
        for name, weight in self.model.named_parameters():
            part = name.split(".")[0]
            parts[part if part in parts else "rest"].append(weight)
        return [
            {"params": parts["head"]},
            {"params": parts["embedding"], "lr": others, "weight_decay": self.opt["embedding_l2"]},
            {"params": parts["rest"], "lr": others},
        ]

    def _begin_training(self, states: dict[str, Any], is_finetune: bool) -> None:
        options.check_validations(self.opt)
        super()._begin_training(states, is_finetune)
        if self.opt["finetuning"] == "chain-thaw":
            validated_on = self.opt.get("evaltask") or self.opt["task"]
            self._chain = ChainThaw(self.opt["thaw_patience"], f"{self.opt['validation_metric']} on {validated_on}")
            if states.get("chain_thaw"):
                self._chain.load(states["chain_thaw"])

    def _thaw(self) -> None:
        """Unfreeze the layers to be trained now, and freeze the others."""
        layers: Sequence[str] = ("head",) if self.opt["finetuning"] == "last" else LAYERS
        if self._chain:
            layers = self._chain.layers
        self._set_head_rate()
        for name, weight in self.bare_model.named_parameters():
            weight.requires_grad_(name.split(".")[0] in layers)
            if not weight.requires_grad:
                weight.grad = None
        logging.info(f"training these layers: {', '.join(layers)}")

    def update_params(self) -> None:
        """Update the weights; a schedule then sets all rates from those at the beginning, when the head was new."""
        super().update_params()
        self._set_head_rate()

    def _set_head_rate(self) -> None:
        """Set the head's learning rate to the others': after chain-thaw's first stage it is no longer new."""
        if self._chain and self._chain.stage:
            assert self.optimizer is not None
            head, _, others = self.optimizer.param_groups
            head["lr"] = others["lr"]

    def receive_metrics(self, metrics_dict: Mapping[str, Any]) -> None:
        """After ``--thaw-patience`` validations without improvement, move to the next stage, from the best weights.

        :raises StopTrainException: after the last stage, as ParlAI's own schedules do to end training.
        """
        super().receive_metrics(metrics_dict)
        if not self._chain:
            return
        metric = self.opt["validation_metric"]
        score = float(metrics_dict[metric])
        is_less = is_less_better(metric, self.opt.get("validation_metric_mode"))
        if not self._chain.validated(-score if is_less else score):
            return
        if self._chain.is_over:
            raise StopTrainException("chain-thaw's last stage, which no longer improves")
        self._reload_best()
        self._thaw()

    @property
    def has_finished(self) -> bool:
        """Whether chain-thaw's last stage has ended."""
        return bool(self._chain and self._chain.is_over)

    def _reload_best(self) -> None:
        """Reload the best model so far, which ParlAI has saved; without a model file, keep the current weights."""
        path = self.opt.get("model_file")
        if path and Path(path).is_file():
            load_model(path, self.bare_model.load_state_dict)
        assert self.optimizer is not None
        self.optimizer.state.clear()  # its moments belong to the discarded steps

    def state_dict(self) -> dict[str, Any]:
        """Return the state to save, including that of chain-thaw."""
        states: dict[str, Any] = super().state_dict()
        return {**states, "chain_thaw": self._chain.state()} if self._chain else states


def _is_trained(opt: Opt) -> bool:
    """Whether this training already has a model, or a checkpoint from which ParlAI resumes."""
    return is_resumed(opt) or bool(opt.get("model_file") and Path(opt["model_file"]).is_file())


def _load_published(model: DeepMoji, published: TorchMoji) -> None:
    """Copy the published weights; added words and the head keep their initial weights."""
    weights = dict(published.weights)
    known = weights.pop("embedding.weight")
    with torch.no_grad():
        model.embedding.weight[: len(known)] = known
        for name, weight in weights.items():
            model.get_parameter(name).copy_(weight)
