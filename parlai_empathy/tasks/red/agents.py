"""The teachers of RED: is a post engaging, by how people reacted to it?

Each example is an episode of its own: what the post answers in the first line, if that is known, then the post.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import parlai.utils.logging as logging
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.messages import rated_message
from parlai_empathy.tasks.engagement.options import add_file, rated_file
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS, read_set
from parlai_empathy.tasks.red import options
from parlai_empathy.tasks.red.build import build
from parlai_empathy.tasks.red.dimensions import labelled_by
from parlai_empathy.tasks.red.reader import read_red
from parlai_empathy.tasks.red.records import CLASSES, REACTION, RedPost
from parlai_empathy.tasks.whole_teacher import WholeTeacher


class RedTeacher(WholeTeacher):
    """What the teachers below share: the option that says what is read of a post."""

    title = "RED"

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the option."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_context(parser.add_argument_group("RED, its texts"))
        return parser

    @abstractmethod
    def messages(self, path: Path, with_context: bool) -> Iterator[dict[str, Any]]:
        """The messages of the fold.

        :param with_context: whether their texts begin with what the post answers.
        """

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield the messages, each the start of a new episode."""
        for message in self.messages(Path(datafile), options.with_context(self.opt)):
            yield Message(message), True


class CuratedPosts(RedTeacher):
    """Posts of RED's file. Each teacher says which of them it takes, and with what labels."""

    build = staticmethod(build)

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add where the file is."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_file(parser.add_argument_group("RED, its file"))
        return parser

    @abstractmethod
    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """Those of a file's posts that are asked for, of all folds."""

    def messages(self, path: Path, with_context: bool) -> Iterator[dict[str, Any]]:
        """One message a post of the fold; one of which nothing is left, as of a negative sample, gives none."""
        posts = [post for post in self.posts(read_red(path)) if post.text]
        fold = self._fold(posts)
        given = [post for post in posts if post.fold == fold]
        if not given:
            raise DataError(f"{path}: its {fold} fold gives no post to {type(self).__name__}")
        return (red_message(post, with_context) for post in given)

    def _fold(self, posts: Sequence[RedPost]) -> str:
        """The fold to give: RED is split in two, so that test is the validation fold where a file has no other."""
        if self.fold == "test" and not any(post.fold == "test" for post in posts):
            logging.info("RED has no test fold: the validation fold is taken; RED-Test is empathy:red:Test")
            return "valid"
        return self.fold


def red_message(post: RedPost, with_context: bool) -> dict[str, Any]:
    """What a judge is given of a post."""
    message = {
        "text": f"{post.parent}\n{post.text}" if with_context and post.parent else post.text,
        "labels": [post.label],
        "label_candidates": list(CLASSES),
        "source": post.source,
        "subreddit": post.subreddit,
        "fold": post.fold,
    }
    return message if post.engagement is None else {**message, "engagement": post.engagement}


class DefaultTeacher(CuratedPosts):
    """What ``-t empathy:red`` asks for: the posts that people reacted to."""

    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """Those that were not made to be negative samples."""
        return [post for post in posts if post.source == REACTION]


class NegativeSamplesTeacher(CuratedPosts):
    """The same and the negative samples, which were made to be not engaging (the paper's +NS)."""

    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """All of them."""
        return posts


class DimensionTeacher(CuratedPosts):
    """The posts that people reacted to, with labels by one dimension alone: the paper's ablation.

    :cvar dimension: which it is; None where ``--red-dimension`` says it.
    """

    dimension: ClassVar[str | None] = None

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the dimension and its threshold."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_dimension(parser.add_argument_group("RED, by one dimension"))
        return parser

    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """Those that lie far enough from the mean."""
        dimension = self.dimension or options.dimension_of(self.opt)
        return labelled_by(dimension, posts, options.kappa_of(self.opt))


class EETeacher(DimensionTeacher):
    """Labels by emotional engagement: positive emotions in the replies."""

    dimension = "ee"


class AETeacher(DimensionTeacher):
    """Labels by attentional engagement: long and edited replies."""

    dimension = "ae"


class BETeacher(DimensionTeacher):
    """Labels by behavioural engagement: votes."""

    dimension = "be"


class RETeacher(DimensionTeacher):
    """Labels by reply engagement: how many replies."""

    dimension = "re"


class TestTeacher(RedTeacher):
    """RED-Test, posts that three people scored, with RED's classes: engaging above the middle of the scale.

    It is the same in each fold.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add where the file is."""
        super().add_cmdline_args(parser, partial_opt)
        add_file(parser.add_argument_group("RED-Test, another file"))
        return parser

    @staticmethod
    def build(opt: dict[str, Any]) -> Path:
        """The file of RED-Test. ``--red-file`` is not asked: a trained model brings that of its training along."""
        return rated_file("red_test", opt)

    def messages(self, path: Path, with_context: bool) -> Iterator[dict[str, Any]]:
        """One message a post: its class, with people's mean score beside."""
        replies = read_set("red_test", path)
        scale = EVALUATION_SETS["red_test"].scale_with(replies)
        for one in replies:
            message = rated_message(one, scale)
            engaging = one.human > (scale[0] + scale[-1]) / 2
            text = message["text"] if with_context else one.reply
            yield {**message, "text": text, "labels": [CLASSES[engaging]], "label_candidates": list(CLASSES)}
