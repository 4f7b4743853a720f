"""``-m empathy:predictive_engagement``: classifies replies as engaging from text vectors (Ghazarian et al. 2020)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Output
from torch import Tensor, nn

from parlai_empathy.agent_kit.judging.examples import TextPair, labels_of
from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agent_kit.judging.on_encoder import OnEncoder
from parlai_empathy.agent_kit.trained.text_cache import TextCache
from parlai_empathy.agents.predictive_engagement import options
from parlai_empathy.agents.predictive_engagement.network import EngagementNetwork, FrozenReader
from parlai_empathy.errors import OptionError
from parlai_empathy.metrics.macro_f1 import MacroF1, confusion
from parlai_empathy.modules.encoders.pair_tokens import pair_tokens
from parlai_empathy.modules.speed.precision import autocast

_TEXTS = 2**17  # number of cached vectors: 400 MB at BERT's size, enough for all of ConvAI
_READ_BATCH = 256  # texts encoded per batch


class PredictiveEngagementAgent(OnEncoder, JudgeAgent):
    """Classifies replies by a frozen encoder's vectors of the reply and its query."""

    of_weights = ("hf_model", "pooling", "layer", "query", "hidden_sizes")

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        return options.add(parser, partial_opt or {})

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        options.check(opt)
        self._known: TextCache[Tensor] = shared["known"] if shared else TextCache(_TEXTS)
        super().__init__(opt, shared)
        if self.classes is None:
            raise OptionError(
                f"--task {opt.get('task')}: empathy:predictive_engagement predicts classes, and this task has none: "
                "train it on one such as empathy:engagement:ConvAI"
            )

    def share(self) -> dict[str, Any]:
        """Also share the cache of vectors."""
        return {**super().share(), "known": self._known}

    # --- the model ---------------------------------------------------------------------------------------------------

    def build_model(self) -> nn.Module:
        """Build the frozen encoder and a new network."""
        opt, encoder = self.opt, self.load_encoder()
        if encoder.config.is_encoder_decoder:
            raise OptionError(
                f"--hf-model {opt['hf_model']}: its layers are not one stack: name an encoder such as BERT"
            )
        layers = encoder.config.num_hidden_layers
        if -opt["layer"] > layers:
            raise OptionError(f"--layer {opt['layer']}: {opt['hf_model']} has {layers} layers")
        reader = FrozenReader(encoder, opt["pooling"], opt["layer"])
        return EngagementNetwork(reader, opt["hidden_sizes"], self.outputs, opt["dropout"])

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Return the vectors of queries and replies, ``(n, dim)`` each. A missing query is replaced by the reply."""
        replies = [pair.reply for pair in pairs]
        queries = [self._query(pair) or pair.reply for pair in pairs]
        vectors = torch.stack(self._known.of([*queries, *replies], lambda at: self._vectors([*queries, *replies], at)))
        return vectors[: len(pairs)], vectors[len(pairs) :]

    def _query(self, pair: TextPair) -> str:
        """Return the text that the reply answers; empty if there is none."""
        separator = f" {self.tokenizer.sep_token or ''} "
        return separator.join(pair.turns if self.opt["query"] == "all" else pair.turns[-1:])

    def _vectors(self, texts: Sequence[str], places: Sequence[int]) -> list[Tensor]:
        """Encode the texts at the given indices, ``(dim,)`` each, on the CPU."""
        model: Any = self.bare_model
        device = next(model.parameters()).device
        found: list[Tensor] = []
        for start in range(0, len(places), _READ_BATCH):
            chosen = [texts[place] for place in places[start : start + _READ_BATCH]]
            tokens = pair_tokens(self.tokenizer, [""] * len(chosen), chosen, self.opt["max_tokens"])
            with torch.no_grad(), autocast(model, self.opt["precision"]):
                found += model.reader.vectors(*(part.to(device) for part in tokens)).float().cpu()
        return found

    # --- training and metrics -----------------------------------------------------------------------------------------

    def _losses(self, observations: Sequence[Message]) -> Tensor:
        """Return each example's loss, ``(n,)``; with ``--balance``, all classes of the batch weigh equally."""
        losses = super()._losses(observations)
        if not self.opt["balance"]:
            return losses
        return losses * balanced_weights([labels_of(obs)[0] for obs in observations]).to(losses.device)

    def _judge(self, observations: Sequence[Message]) -> Output:
        """Also record macro-F1. Of several labels, the predicted one counts as the true one, as in the accuracy."""
        output = super()._judge(observations)
        if self.classes and all(map(self._has_target, observations)) and not self.opt.get("interactive_mode"):
            labels = [labels_of(obs) for obs in observations]
            true = [text if text in each else each[0] for text, each in zip(output.text, labels, strict=True)]
            place = self.classes.index
            table = confusion([*map(place, true)], [*map(place, output.text)], len(self.classes))
            self.global_metrics.add("macro_f1", MacroF1(table, split=observations[0].get("fold")))
        return output


def balanced_weights(labels: Sequence[str]) -> Tensor:
    """Return a weight for each label of a batch, ``(n,)``; those of each class sum to n over the number of classes."""
    counts = Counter(labels)
    return torch.tensor([len(labels) / (len(counts) * counts[label]) for label in labels])
