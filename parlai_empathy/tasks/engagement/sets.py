"""The evaluation sets by name: where each one's file is, how it is read, and the scale of its ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.task_kit.builder import Source, how_to_fetch_again, obtain
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.engagement import fed, grade, predeng
from parlai_empathy.tasks.engagement.fed import read_fed
from parlai_empathy.tasks.engagement.grade import read_grade
from parlai_empathy.tasks.engagement.names import SETS
from parlai_empathy.tasks.engagement.predeng import read_predeng
from parlai_empathy.tasks.engagement.rated_table import read_rated_table
from parlai_empathy.tasks.engagement.records import RatedReply, scale_of

SAMPLE = Path(__file__).parent / "sample"
PREDICTIVE_ENGAGEMENT = "https://raw.githubusercontent.com/PlusLabNLP/PredictiveEngagement/"
"""URL of Predictive Engagement's repository, to be followed by a commit."""


@dataclass(frozen=True)
class EvaluationSet:
    """A set of rated replies.

    :param read: reads its file.
    :param file: the file's name on a mirror and in the sample.
    :param scale: the scores that its raters could give; None if they are unknown until it is read.
    :param url: the official URL; None if there is none.
    """

    read: Callable[[str | Path], Iterator[RatedReply]]
    file: str
    scale: tuple[int, ...] | None
    url: str | None = None
    sha256: str | None = None

    @property
    def source(self) -> Source:
        """Its source. On a mirror all sets share one folder; here each has its own, and is built independently."""
        home = f"engagement/{self.file.split('.')[0]}"
        return Source("engagement", "1.0", None, (self.file,), self.url, self.sha256, home)

    def scale_with(self, replies: Iterable[RatedReply]) -> tuple[int, ...]:
        """Return the scale if it is known, or else that of the given replies' ratings."""
        return self.scale or scale_of(replies)


EVALUATION_SETS: Mapping[str, EvaluationSet] = {  # in the order of SETS
    "better": EvaluationSet(read_rated_table, "better.csv", None),
    "predeng_600": EvaluationSet(
        read_predeng,
        "predeng600.csv",
        predeng.SCALE,
        f"{PREDICTIVE_ENGAGEMENT}04024062c74692049f880fa86f502209c23477f5/data/Eng_Scores_queries_gen_gtruth_replies.csv",
        "47c5a8a5b2b291373ae61072fed187592e28a5986a14ac73786cbdcdf25267a0",
    ),
    "fed": EvaluationSet(read_fed, "fed_data.json", fed.SCALE, "http://shikib.com/fed_data.json"),
    "red_test": EvaluationSet(read_rated_table, "red_test.csv", None),
    "grade": EvaluationSet(
        read_grade,
        "human_judgement.json",
        grade.SCALE,
        "https://raw.githubusercontent.com/li3cmz/GRADE/08651a6dce7e5c6d68158e35ab94c900819a68ed/evaluation/"
        "human_score/human_judgement.json",
    ),
}


def set_file(name: str, opt: Mapping[str, Any], option: str | None = None) -> Path:
    """Return the path of a set's file, downloaded if necessary: :func:`engagement_set` without reading it.

    :param name: one of :data:`SETS`.
    :param opt: options with ``datapath``, and optionally ``edition``.
    :param option: option with which users may name another file, for error messages.
    :raises OptionError: for an unknown set or edition.
    :raises DownloadError: if its file cannot be found.
    """
    if name not in EVALUATION_SETS:
        raise OptionError(f"there is no evaluation set {name!r}: it must be one of {', '.join(SETS)}")
    source = replace(EVALUATION_SETS[name].source, option=option)
    return SAMPLE / source.files[0] if is_sample(opt) else obtain(opt["datapath"], source) / source.files[0]


def engagement_set(name: str, opt: Mapping[str, Any]) -> list[RatedReply]:
    """Return all replies of a set, downloaded if necessary.

    :param name: one of :data:`SETS`.
    :param opt: options with ``datapath``, and optionally ``edition``.
    :raises OptionError: for an unknown set or edition.
    :raises DownloadError: if its file cannot be found.
    :raises DataError: if the file cannot be read, or has no replies.
    """
    path = set_file(name, opt)
    try:
        return read_set(name, path)
    except DataError as error:
        raise DataError(f"{error}{how_to_fetch_again(path, error)}") from error


def read_set(name: str, path: str | Path) -> list[RatedReply]:
    """Return all replies of a file in the layout of a set.

    :raises DataError: if it cannot be read, or has no replies.
    """
    replies = list(EVALUATION_SETS[name].read(path))
    if not replies:
        raise DataError(f"{path}: it holds no rated reply: use the file as its authors published it")
    return replies
