"""The teachers of engagement: sets that people rated, to evaluate on, and what Predictive Engagement learns from.

Each example is an episode of its own: the turns before a reply one a line, and the reply as the last line.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import parlai.utils.logging as logging
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement import options
from parlai_empathy.tasks.engagement.build import FINETUNE, RATED, SCORED, build_convai, build_repository
from parlai_empathy.tasks.engagement.convai import LABELS, Labelled, read_conversations, read_ids, split_conversations
from parlai_empathy.tasks.engagement.labelled import read_labelled
from parlai_empathy.tasks.engagement.messages import rated_message
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS, read_set
from parlai_empathy.tasks.whole_teacher import WholeTeacher


class EngagementTeacher(WholeTeacher):
    """What the teachers below share: each message is an episode, and a fold without any is an error."""

    title = "Engagement"

    @abstractmethod
    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """The messages of the fold."""

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield the messages, each the start of a new episode."""
        given = 0
        for message in self.messages(Path(datafile)):
            given += 1
            yield Message(message), True
        if not given:
            raise DataError(f"{datafile}: it gives no example to the {self.fold} fold of {type(self).__name__}")


# --- sets that people rated ------------------------------------------------------------------------------------------


class RatedSet(EngagementTeacher):
    """A set of rated replies, all of it in each fold: it is there to evaluate on.

    :cvar name: the set, one of :data:`parlai_empathy.tasks.engagement.names.SETS`.
    """

    name: ClassVar[str]

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add where the file is."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_file(parser.add_argument_group("Engagement, another file"))
        return parser

    @classmethod
    def build(cls, opt: dict[str, Any]) -> Path:
        """The set's file."""
        return options.rated_file(cls.name, opt)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """One message a reply."""
        if self.fold == "train":
            logging.warning(f"{self.name} is a set to evaluate on: what learns from it cannot be measured on it")
        replies = read_set(self.name, path)
        scale = EVALUATION_SETS[self.name].scale_with(replies)
        return (rated_message(one, scale) for one in replies)


class Predeng600Teacher(RatedSet):
    """PREDENG-600: 600 replies to a line of DailyDialog, three raters each, 1 to 5."""

    name = "predeng_600"


class FedTeacher(RatedSet):
    """FED: 375 replies in longer conversations, five raters each, 0 to 2 for engaging."""

    name = "fed"


class BetterTeacher(RatedSet):
    """BETTER: 300 replies of a system."""

    name = "better"


class GradeTeacher(RatedSet):
    """GRADE: 1,200 replies of several systems, 1 to 5 for coherence."""

    name = "grade"


class RedTestTeacher(RatedSet):
    """RED-Test: posts of Reddit, three raters each."""

    name = "red_test"


class DefaultTeacher(Predeng600Teacher):
    """What ``-t empathy:engagement`` asks for: PREDENG-600."""


# --- what Predictive Engagement learns from --------------------------------------------------------------------------


class LabelledPairs(EngagementTeacher):
    """Pairs of a query and a reply, and a label 0 or 1."""

    build = staticmethod(build_repository)

    @abstractmethod
    def pairs(self, path: Path) -> Iterable[Labelled]:
        """The pairs of the fold."""

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """One message a pair whose reply says something."""
        pairs = list(self.pairs(path))
        if empty := sum(not pair.reply for pair in pairs):
            logging.info(f"{path}: left out {empty:,} pair(s) of the {self.fold} fold whose reply is empty")
        for pair in pairs:
            if pair.reply:
                text = f"{pair.query}\n{pair.reply}" if pair.query else pair.reply
                yield {"text": text, "labels": [pair.label], "label_candidates": list(LABELS), "fold": self.fold}


class ConvAITeacher(LabelledPairs):
    """Replies of ConvAI, with the label of their whole conversation: Predictive Engagement's training set."""

    build = staticmethod(build_convai)

    def pairs(self, path: Path) -> Iterator[Labelled]:
        """Those of the fold's conversations, without the 50 of which people labelled each reply."""
        scored = read_ids(build_repository(self.opt) / SCORED)
        conversations = (one for one in read_conversations(path) if one.conversation_id not in scored)
        for conversation in split_conversations(conversations)[self.fold]:
            yield from conversation.pairs


class ConvAIRatedTeacher(LabelledPairs):
    """The 50 conversations' replies, of which people labelled each; the same in each fold, to evaluate on."""

    def pairs(self, path: Path) -> Iterator[Labelled]:
        """All of them."""
        return read_labelled(path / RATED)


class DailyDialogFinetuneTeacher(LabelledPairs):
    """The pairs of DailyDialog that Predictive Engagement is trained on further; test is the validation fold."""

    def pairs(self, path: Path) -> Iterator[Labelled]:
        """Those of the fold."""
        return read_labelled(path / FINETUNE.get(self.fold, FINETUNE["valid"]))
