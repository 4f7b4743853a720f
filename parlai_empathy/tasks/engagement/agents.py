"""Teachers of engagement: evaluation sets rated by people, and the training data of Predictive Engagement.

Each example is an episode of its own: the turns before a reply, one per line, and the reply as the last line.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.tasks.engagement import options
from parlai_empathy.tasks.engagement.build import FINETUNE, RATED, SCORED, build_convai, build_repository
from parlai_empathy.tasks.engagement.convai import LABELS, Labelled, read_conversations, read_ids, split_conversations
from parlai_empathy.tasks.engagement.labelled import read_labelled
from parlai_empathy.tasks.engagement.messages import rated_message
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS, read_set


class EngagementTeacher(InMemoryTeacher):
    """Base class."""

    title = "Engagement"


# --- sets rated by people --------------------------------------------------------------------------------------------


class RatedSet(EngagementTeacher):
    """A set of rated replies. It is for evaluation only, so each fold is the whole set.

    :cvar name: the set, one of :data:`parlai_empathy.tasks.engagement.names.SETS`.
    """

    name: ClassVar[str]

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add ``--engagement-file``."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_file(parser.add_argument_group("Engagement, another file"))
        return parser

    @classmethod
    def build(cls, opt: dict[str, Any]) -> Path:
        """Return the set's file."""
        return options.rated_file(cls.name, opt)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield one message per reply."""
        if self.fold == "train":
            logging.warning(f"{self.name} is an evaluation set: do not evaluate a model on it that was trained on it")
        replies = read_set(self.name, path)
        scale = EVALUATION_SETS[self.name].scale_with(replies)
        return (rated_message(one, scale) for one in replies)


class Predeng600Teacher(RatedSet):
    """PREDENG-600: 600 replies to a line of DailyDialog, each rated 1 to 5 by three people."""

    name = "predeng_600"


class FedTeacher(RatedSet):
    """FED: 375 replies in longer conversations, each rated 0 to 2 for engagingness by five people."""

    name = "fed"


class BetterTeacher(RatedSet):
    """BETTER: 300 replies by a system."""

    name = "better"


class GradeTeacher(RatedSet):
    """GRADE: 1,200 replies by several systems, rated 1 to 5 for coherence."""

    name = "grade"


class RedTestTeacher(RatedSet):
    """RED-Test: Reddit posts, each rated by three people."""

    name = "red_test"


class DefaultTeacher(Predeng600Teacher):
    """The default of ``-t empathy:engagement``: PREDENG-600."""


# --- training data of Predictive Engagement --------------------------------------------------------------------------


class LabelledPairs(EngagementTeacher):
    """Pairs of a query and a reply, labelled 0 or 1."""

    build = staticmethod(build_repository)

    @abstractmethod
    def pairs(self, path: Path) -> Iterable[Labelled]:
        """Return the pairs of the fold."""

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield one message per pair whose reply is not empty."""
        pairs = list(self.pairs(path))
        if empty := sum(not pair.reply for pair in pairs):
            logging.info(f"{path}: left out {empty:,} pair(s) of the {self.fold} fold whose reply is empty")
        for pair in pairs:
            if pair.reply:
                text = f"{pair.query}\n{pair.reply}" if pair.query else pair.reply
                yield {"text": text, "labels": [pair.label], "label_candidates": list(LABELS)}


class ConvAITeacher(LabelledPairs):
    """Replies in ConvAI, with the label of their whole conversation: Predictive Engagement's training set."""

    build = staticmethod(build_convai)

    def pairs(self, path: Path) -> Iterator[Labelled]:
        """Yield the pairs of the fold's conversations, without the 50 whose replies were labelled individually."""
        scored = read_ids(build_repository(self.opt) / SCORED)
        conversations = (one for one in read_conversations(path) if one.conversation_id not in scored)
        for conversation in split_conversations(conversations)[self.fold]:
            yield from conversation.pairs


class ConvAIRatedTeacher(LabelledPairs):
    """The replies of the 50 conversations whose replies were labelled individually; for evaluation, in each fold."""

    def pairs(self, path: Path) -> Iterator[Labelled]:
        """Return all pairs."""
        return read_labelled(path / RATED)


class DailyDialogFinetuneTeacher(LabelledPairs):
    """The pairs of DailyDialog on which Predictive Engagement is fine-tuned; test is the validation fold."""

    def pairs(self, path: Path) -> Iterator[Labelled]:
        """Return the pairs of the fold."""
        return read_labelled(path / FINETUNE.get(self.fold, FINETUNE["valid"]))
