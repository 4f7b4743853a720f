"""A mixin that prepends a classifier's labels to texts, for agents that tokenize them.

Labels are added to token ids only. Texts stay unchanged, and with them what is displayed, pools, true replies, and all
metrics computed from texts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import parlai.utils.logging as logging
import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, TorchAgent
from torch import Tensor

from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary
from parlai_empathy.agent_kit.judging.frozen_classifier import HELP, PART, FrozenClassifier
from parlai_empathy.agent_kit.options.common import check_choices, flag
from parlai_empathy.errors import OptionError

GROUP = "Prepend (empathy:prepend)"
ORDERS = ("paper", "natural")


class Prepend(TorchAgent):
    """Mixin that prepends each context's most probable labels to it (Rashkin et al. 2019, section 4)."""

    cut: ClassVar[tuple[str, ...]] = ("text_truncate",)
    """The options with the maximum lengths of the texts that get labels."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the mixin's options to the agent's."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group(GROUP)
        group.add_argument("--classifier", default=None, help=HELP)
        group.add_argument(
            "--prepend-k", type=int, default=1, help="How many labels to put before a text (the paper's 1, 3 and 5)."
        )
        group.add_argument(
            "--prepend-order",
            choices=list(ORDERS),
            default="paper",
            help="paper: the most probable label is next to the text. natural: it comes first.",
        )
        return parser

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        self.classifier: FrozenClassifier = shared["classifier"] if shared else FrozenClassifier.load(opt)
        _check(opt, self.classifier.labels)
        self.new_words: list[str] = shared["new_words"] if shared else []
        super().__init__(opt, shared)
        if not shared:
            self._check_room()

    @functools.cached_property
    def _tokens(self) -> dict[str, list[int]]:
        """Each label's token ids; they are already needed when the base agent encodes its pool."""
        gap = _gap(self.dict)
        return {label: [*self.dict.txt2vec(label), *gap] for label in self.classifier.labels}

    # --- labels ------------------------------------------------------------------------------------------------------

    def labels_of(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the labels of each text, in the order in which they are prepended."""
        ranked = self.classifier.top_labels(texts, self.opt["prepend_k"])
        # The paper prepends labels one by one, so that the last one comes first.
        return [labels[::-1] for labels in ranked] if self.opt["prepend_order"] == "paper" else ranked

    def labelled(self, tokens: Tensor, labels: Iterable[str], begin: int) -> Tensor:
        """Insert labels into token ids.

        :param tokens: ``(length,)``
        :param begin: number of special tokens before the text.
        :returns: ``(length + tokens of the labels,)``
        """
        added = tokens.new_tensor([token for label in labels for token in self._tokens[label]])
        return torch.cat([tokens[:begin], added, tokens[begin:]])

    @property
    def context_begin(self) -> int:
        """Number of special tokens before a context."""
        return 0

    @property
    def longest_text(self) -> float:
        """Maximum tokens of a text that the model can read, without special ones."""
        return math.inf

    # --- text to token ids -------------------------------------------------------------------------------------------

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """Return the agent's batch of labelled texts. All texts are classified together."""
        texts = list(dict.fromkeys(text for obs in obs_batch for text in self.texts_in(obs)))
        labels = dict(zip(texts, self.labels_of(texts), strict=True)) if texts else {}
        return super().batchify([self.with_labels(obs, labels) for obs in obs_batch], sort)

    def texts_in(self, obs: Message) -> list[str]:
        """Return the texts of an observation that get labels."""
        return [context_text(obs)] if obs.get("text_vec") is not None else []

    def with_labels(self, obs: Message, labels: Mapping[str, Sequence[str]]) -> Message:
        """Return a copy of the observation with labels in its token ids.

        :param labels: by text, for all its texts.
        """
        obs = obs.copy()
        if obs.get("text_vec") is not None:
            obs.force_set("text_vec", self.labelled(obs["text_vec"], labels[context_text(obs)], self.context_begin))
        return obs

    def build_dictionary(self) -> DictionaryAgent:
        """Build the agent's dictionary, and add the words of labels that it lacks, so that none is unknown."""
        dictionary = super().build_dictionary()
        if not isinstance(dictionary, TokenizerDictionary):
            words = [word for label in self.classifier.labels for word in _words(dictionary, label)]
            self.new_words = [word for word in dict.fromkeys(words) if word not in dictionary]
            for word in self.new_words:
                dictionary[word] = 1
        if self.new_words:
            logging.info(f"label words added to the dictionary: {', '.join(self.new_words)}")
        return dictionary

    def adapt_init_weights(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Extend the weights of ``--init-model``, whose vocabulary may lack words of the labels, or end with others."""
        own, count = self.model.state_dict(), len(self.new_words)
        if _labels_before(self.opt["init_model"]) != self.classifier.labels:
            weights = without_label_words(weights, own, len(self.dict), count)
        return with_new_words(super().adapt_init_weights(weights), own, count)

    def _check_room(self) -> None:
        """Check that texts still fit into the model after labels are added."""
        room = sum(sorted(map(len, self._tokens.values()))[-self.opt["prepend_k"] :])
        for name in self.cut:
            if self.opt[name] + room > self.longest_text:
                raise OptionError(
                    f"{flag(name)} {self.opt[name]}: with --prepend-k {self.opt['prepend_k']} a text has "
                    f"up to {self.opt[name] + room} tokens, and the model reads {self.longest_text}; cut texts shorter"
                )

    def share(self) -> dict[str, Any]:
        """Also share the classifier."""
        return {**super().share(), "classifier": self.classifier, "new_words": self.new_words}


def context_text(obs: Message) -> str:
    """Return the context's turns, one per line, as far as the agent's history goes."""
    return obs.get("full_text") or ""


def with_new_words(weights: Mapping[str, Tensor], own: Mapping[str, Tensor], count: int) -> dict[str, Tensor]:
    """Extend another model's weights for a model with a larger dictionary.

    :param own: the model's weights.
    :param count: number of new words; their rows, the last ones, are taken from ``own``.
    """
    return {
        name: torch.cat([values, own[name][len(values) :].to(values.device)])
        if count and name in own and values.dim() == 2 and len(values) + count == len(own[name])
        else values
        for name, values in weights.items()
    }


def without_label_words(
    weights: Mapping[str, Tensor], own: Mapping[str, Tensor], words: int, count: int
) -> dict[str, Tensor]:
    """Cut the words of another classifier's labels from a model's weights: their places are now those of other words.

    :param own: the weights of the model that loads them.
    :param words: size of its vocabulary.
    :param count: number of its last words, those of its labels.
    """
    tables = {name for name, values in own.items() if values.dim() == 2 and len(values) == words}
    return {name: values[: words - count] if name in tables else values for name, values in weights.items()}


def _labels_before(init_model: str) -> tuple[str, ...]:
    """Return the labels that ``--init-model`` was trained with; none if it is no model of this kind."""
    path = PART.copy_of(init_model)
    return tuple(PART.options(path)["classes"]) if path.is_file() else ()


def _gap(dictionary: DictionaryAgent) -> list[int]:
    """Return the tokens between a label and a text: a space, unless the tokenizer adds one to the next word."""
    one, other, both = (list(dictionary.txt2vec(text)) for text in ("a", "b", "a b"))
    return [] if one + other == both else list(dictionary.txt2vec(" "))


def _words(dictionary: DictionaryAgent, label: str) -> list[str]:
    words: list[str] = dictionary.tokenize(label.lower() if dictionary.lower else label)
    return words


def _check(opt: Opt, labels: Sequence[str]) -> None:
    if not 1 <= opt["prepend_k"] <= len(labels):
        raise OptionError(
            f"--prepend-k {opt['prepend_k']}: must lie between 1 and the classifier's {len(labels)} labels"
        )
    check_choices(opt, prepend_order=ORDERS)
