"""What can be measured of a log of replies: BLEU with its references, and how varied and how long the replies are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from parlai.core.dict import DictionaryAgent

from parlai_empathy.errors import MissingDependencyError, NotComputableError
from parlai_empathy.metrics.avg_bleu import BleuStatistics, avg_bleu, bleu_statistics
from parlai_empathy.metrics.distinct import ORDERS, distinct
from parlai_empathy.metrics.number import Number
from parlai_empathy.metrics.signature import signature
from parlai_empathy.scoring.logged_reply import LoggedReply

TOKENS: dict[str, Callable[[str], list[str]]] = {
    "re": DictionaryAgent.re_tokenize,  # words and marks apart: as our agents' dictionaries, and so their AVG BLEU
    "space": str.split,  # for text that is cut into tokens already: how the MoEL line counts its own logs
}


@dataclass(frozen=True)
class LogScores:
    """The numbers of one system's replies.

    :param numbers: ``avg_bleu`` and ``bleu_4`` (0..100, of the replies with a reference), ``dist_1`` and ``dist_2``
        (x100), ``words`` (mean length of a reply in tokens); those that cannot be computed are missing.
    :param replies: how many there are; ``empty`` and ``unreferred`` of them are blank, or have no reference.
    :param missing: one line for each number that lacks a library.
    :param items: one record a reply, with what BLEU needs to know of it: the records of a sample of replies add up.
    """

    system: str
    numbers: dict[str, Number]
    replies: int
    empty: int
    unreferred: int
    missing: tuple[str, ...]
    items: list[dict[str, Any]]


def score_replies(
    system: str, replies: Sequence[LoggedReply], tokens: str = "re", lower_case: bool = False
) -> LogScores:
    """Score the replies of one system. An empty reply counts like any other.

    :param tokens: one of :data:`TOKENS`.
    :param lower_case: whether replies and references are lower-cased first.
    :raises NotComputableError: without replies.
    """
    if not replies:
        raise NotComputableError(f"{system}: there is no reply to score")
    cased = str.lower if lower_case else str
    cut = TOKENS[tokens]
    words = [cut(cased(one.reply)) for one in replies]
    references = [[cased(text) for text in one.references if text.strip()] for one in replies]
    statistics = [
        bleu_statistics(mine, *map(cut, theirs)) if theirs else None
        for mine, theirs in zip(words, references, strict=True)
    ]
    settings = {"case": "lower" if lower_case else "kept", "tokens": tokens}
    texts = [(cased(one.reply), theirs) for one, theirs in zip(replies, references, strict=True) if theirs]
    missing: list[str] = []
    numbers = _variety(words, settings)
    if texts:
        numbers |= _bleus(texts, [one for one in statistics if one], settings, missing)
    return LogScores(
        system,
        numbers,
        len(replies),
        sum(not one.reply.strip() for one in replies),
        len(replies) - len(texts),
        tuple(missing),
        [_item(system, *one) for one in zip(range(len(replies)), replies, words, statistics, strict=True)],
    )


def _variety(words: Sequence[Sequence[str]], settings: dict[str, Any]) -> dict[str, Number]:
    numbers = {"words": Number(fmean(map(len, words)), signature("mean length", **settings, n=len(words)))}
    for order in ORDERS:
        with suppress(NotComputableError):  # of replies too short for it
            text = signature(f"Dist-{order}", level="corpus", **settings, n=len(words))
            numbers[f"dist_{order}"] = Number(distinct(words, order), text)
    return numbers


def _bleus(
    texts: Sequence[tuple[str, Sequence[str]]],
    statistics: Sequence[BleuStatistics],
    settings: dict[str, Any],
    missing: list[str],
) -> dict[str, Number]:
    """Both kinds of BLEU; into ``missing`` goes why one is left out."""
    counts = sorted({len(references) for _, references in texts})
    several = str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
    value = avg_bleu(functools.reduce(operator.add, statistics))
    text = signature("AVG BLEU", orders="1-4", smoothing="none", references=several, **settings, n=len(texts))
    numbers = {"avg_bleu": Number(value, text)}
    try:
        numbers["bleu_4"] = _bleu_4(texts, settings["case"])
    except MissingDependencyError as error:
        missing.append(str(error))
    return numbers


def _bleu_4(texts: Sequence[tuple[str, Sequence[str]]], case: str) -> Number:
    """Corpus BLEU-4 with sacrebleu's own words (Post 2018), which has its own tokens."""
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingDependencyError(
            f'BLEU-4 needs sacrebleu, which cannot be imported ({error}): pip install "parlai-empathy[overlap]"'
        ) from error
    most = max(len(references) for _, references in texts)
    streams: Any = [[refs[i] if i < len(refs) else None for _, refs in texts] for i in range(most)]
    bleu = BLEU(tokenize="13a", smooth_method="exp", force=True)  # it would print advice for text that is tokenised
    value = bleu.corpus_score([reply for reply, _ in texts], streams).score
    theirs = bleu.get_signature().info
    kept = {key: theirs[key] for key in ("nrefs", "tok", "smooth")}
    return Number(value, signature("BLEU-4", case=case, **kept, sacrebleu=theirs["version"], n=len(texts)))


def _item(
    system: str, place: int, reply: LoggedReply, words: Sequence[str], statistics: BleuStatistics | None
) -> dict[str, Any]:
    return {
        "system": system,
        "item": place,
        "line": reply.line,
        "emotion": reply.emotion,
        "reply": reply.reply,
        "words": len(words),
        "bleu": asdict(statistics) if statistics else None,
    }
