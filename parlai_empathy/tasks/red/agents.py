"""Teachers of RED: whether a post is engaging, by people's reactions to it.

Each example is an episode of its own: the post's parent on the first line, if it is known, then the post.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.tasks.engagement.messages import rated_message
from parlai_empathy.tasks.engagement.options import add_file, rated_file
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS, read_set
from parlai_empathy.tasks.red import options
from parlai_empathy.tasks.red.build import build
from parlai_empathy.tasks.red.dimensions import labelled_by
from parlai_empathy.tasks.red.reader import read_red
from parlai_empathy.tasks.red.records import CLASSES, REACTION, RedPost


class RedTeacher(InMemoryTeacher):
    """Base class, with the option ``--red-context``."""

    title = "RED"

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add ``--red-context``."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_context(parser.add_argument_group("RED, its texts"))
        return parser

    @property
    def with_context(self) -> bool:
        """Whether the messages' texts begin with the post's parent."""
        return options.with_context(self.opt)


class CuratedPosts(RedTeacher):
    """Posts of RED's file. Subclasses select and label them."""

    build = staticmethod(build)

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add ``--red-file``."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_file(parser.add_argument_group("RED, its file"))
        return parser

    @abstractmethod
    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """Return the posts of this teacher, of all folds, from those of a file."""

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Return one message per post of the fold; posts without text, as negative samples may be, are skipped."""
        posts = [post for post in self.posts(read_red(path)) if post.text]
        fold = self._fold(posts)
        return (red_message(post, self.with_context) for post in posts if post.fold == fold)

    def _fold(self, posts: Sequence[RedPost]) -> str:
        """Return the fold to use: the validation fold instead of test if the file has no test fold, as is usual."""
        folds = {post.fold for post in posts}
        if self.fold == "test" and "test" not in folds and "valid" in folds:
            logging.info("RED has no test fold: the validation fold is used instead; RED-Test is empathy:red:Test")
            return "valid"
        return self.fold


def red_message(post: RedPost, with_context: bool) -> dict[str, Any]:
    """Return the message for a post, as a judge's input."""
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
    """The default of ``-t empathy:red``: the posts that people reacted to."""

    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """Return the posts that are not negative samples."""
        return [post for post in posts if post.source == REACTION]


class NegativeSamplesTeacher(CuratedPosts):
    """The same posts and the negative samples, which were made to be not engaging (the paper's +NS)."""

    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """Return all posts."""
        return posts


class DimensionTeacher(CuratedPosts):
    """The posts that people reacted to, labelled by one dimension alone: the paper's ablation.

    :cvar dimension: the dimension; None uses ``--red-dimension``.
    """

    dimension: ClassVar[str | None] = None

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add ``--red-dimension`` and ``--red-kappa``."""
        super().add_cmdline_args(parser, partial_opt)
        options.add_dimension(parser.add_argument_group("RED, by one dimension"))
        return parser

    def posts(self, posts: list[RedPost]) -> list[RedPost]:
        """Return the posts that are far enough from the mean, with their labels."""
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
    """Labels by reply engagement: the number of replies."""

    dimension = "re"


class TestTeacher(RedTeacher):
    """RED-Test: posts that three people scored, with RED's classes. It is the same in each fold.

    The scale of the scores is not known here. So a post is engaging if its mean is above the middle between the lowest
    and the highest score in the file, rounded down and up to whole numbers; one line of the log gives them.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add ``--engagement-file``."""
        super().add_cmdline_args(parser, partial_opt)
        add_file(parser.add_argument_group("RED-Test, another file"))
        return parser

    @staticmethod
    def build(opt: dict[str, Any]) -> Path:
        """Return the file of RED-Test. ``--red-file`` is ignored: a trained model keeps that of its training."""
        return rated_file("red_test", opt)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield one message per post, with its class and its mean score."""
        replies = read_set("red_test", path)
        scale = EVALUATION_SETS["red_test"].scale_with(replies)
        middle = (scale[0] + scale[-1]) / 2
        logging.info(
            f"{path}: its scores are taken to be from {scale[0]} to {scale[-1]}, and posts with a mean above "
            f"{middle:g} to be engaging"
        )
        for one in replies:
            message = rated_message(one, scale)
            engaging = one.human > middle
            text = message["text"] if self.with_context else one.reply
            yield {**message, "text": text, "labels": [CLASSES[engaging]], "label_candidates": list(CLASSES)}
