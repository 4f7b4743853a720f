"""Replies that other systems wrote, scored and set beside what papers report of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.published import published
from parlai_empathy.reports.report import Table
from parlai_empathy.reports.signature_notes import signature_notes
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs_scores import LogScores, score_replies

_COLUMNS = {
    "avg_bleu": "AVG BLEU",
    "bleu_4": "BLEU-4 (sacrebleu)",
    "dist_1": "Dist-1",
    "dist_2": "Dist-2",
    "words": "words a reply",
}


@dataclass(frozen=True)
class Log:
    """A log and what tables call it; it may hold the replies of several systems."""

    name: str
    replies: Sequence[LoggedReply]


def score_logs(logs: Sequence[Log], tokens: str, lower_case: bool) -> list[LogScores]:
    """Score each system of each log.

    :param tokens: of :data:`parlai_empathy.scoring.logs_scores.TOKENS`.
    """
    return [score_replies(name, replies, tokens, lower_case) for log in logs for name, replies in _systems(log).items()]


def _systems(log: Log) -> Mapping[str, list[LoggedReply]]:
    systems: dict[str, list[LoggedReply]] = {}
    for reply in log.replies:
        systems.setdefault(reply.system, []).append(reply)
    if len(systems) > 1 and "" in systems:
        raise OptionError(f"--logs {log.name}: some of its replies name their system, others do not")
    return {f"{log.name}: {system}" if system else log.name: replies for system, replies in systems.items()}


def logs_table(scores: Sequence[LogScores]) -> Table:
    """The systems' numbers, and below them what papers report of the same columns."""
    others = published("dist_1", "dist_2")
    rows: list[list[Cell]] = [
        [one.system, one.replies, one.empty, *(one.numbers.get(column) for column in _COLUMNS)] for one in scores
    ]
    rows += [[one.name, None, None, *(one.values.get(column) for column in _COLUMNS)] for one in others]
    notes = [
        *signature_notes({one.system: one.numbers for one in scores}),
        *(
            f"- {one.system}: {one.unreferred:,} replies without a reference say nothing of BLEU"
            for one in scores
            if one.unreferred
        ),
        *dict.fromkeys(f"- left out: {text}" for one in scores for text in one.missing),
        "- names with a paper: that paper's figures, not measured here",
        "- logs are compared as they are: what has other items, or text cut or cased in another way, has other numbers",
    ]
    header = ["system", "replies", "empty", *_COLUMNS.values()]
    return Table("Replies that other systems wrote", header, rows, notes, digits=2)
