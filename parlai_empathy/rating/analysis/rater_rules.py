"""Rules that flag raters whose answers deserve a closer look, each with its threshold and reason.

A rule compares one rater with all others, and returns its finding in words, or None. Rules suggest; people decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from parlai_empathy.rating.analysis import free_text

SAME_BY_CHANCE = 0.001
"""Identical answers are flagged if fewer than one in 1,000 raters who drew their answers at random from the others'
would give them. So five identical answers mean little if most answers are the same anyway."""

FAST_TIMES = 2.0
"""At least this many times as fast as the median rater: half the time is too short to read the same text."""

FAST_SPREADS = 3.0
"""And at least this many (robust) standard deviations faster, since speeds may differ a lot: 1 in 700 by chance."""

FEWEST_RATERS = 5
"""With fewer raters, it is unknown what is usual."""

FEWEST_PAGES = 3
"""With fewer pages, a rater's speed is not judged: a single quick page may be an easy one."""

FAILED_CHECKS = 0.5
"""More than this share of checks failed: random answers fail at least half; a careful reader may slip once."""

FEWEST_SHARED = 5
"""The minimum number of items that others rated too, for judging a rater's agreement with them."""

APART_SPREADS = 2.33
"""The correlation with the others lies this many standard errors below the median rater's: 1 in 100 by chance."""

NEEDS = {
    "speed": f"{FEWEST_RATERS} raters whose pages were timed, and {FEWEST_PAGES} pages of the rater",
    "others": f"{FEWEST_RATERS} raters, each with {FEWEST_SHARED} items that others rated too",
}
"""What the rules that compare a rater with what is usual need; with less, they judge nobody."""

FEWEST_TEXTS = 5
MOST_GENERIC = 0.5
"""More than half: 4 % of HUMOD's replies are generic, so that three of five are generic by chance in 1 of 1,700."""
MOST_GIBBERISH = 0.2
"""More than a fifth, and at least two: the rule finds fewer than 1 in 1,000 of HUMOD's replies."""
MOST_SAME = 0.5
"""More than half of the replies are identical, although they answer different dialogues."""


def straight_lining(
    answers: Sequence[tuple[str, float]], others: Sequence[tuple[str, float]], pages: int
) -> str | None:
    """Flag a rater whose answers are all the same, if that is unlikely by chance.

    :param answers: pairs of question and rating, of all of the rater's answers.
    :param others: the same for all other raters.
    :param pages: number of pages on which the rater gave them.
    """
    values = {value for _, value in answers}
    if len(values) != 1 or chance_of_same_answers(answers, others, pages) >= SAME_BY_CHANCE:
        return None
    return f"all {len(answers)} ratings are {values.pop():g}"


def one_side(answers: Sequence[tuple[str, float]], others: Sequence[tuple[str, float]], pages: int) -> str | None:
    """Flag a rater who always prefers the same side of the page, or always a tie, if that is unlikely by chance.

    :param answers: pairs of question, and 1 for the left side, -1 for the right one, 0 for a tie.
    :param others: the same for all other raters.
    :param pages: number of pages on which the rater gave them.
    """
    if straight_lining(answers, others, pages) is None:
        return None
    return f"all {len(answers)} comparisons are {_SIDES[answers[0][1]]}"


_SIDES = {1.0: "for the left side", -1.0: "for the right side", 0.0: "ties"}


def chance_of_same_answers(
    answers: Sequence[tuple[str, float]], others: Sequence[tuple[str, float]], pages: int
) -> float:
    """The probability that a rater who draws from the others' answers gives the same answer on all of these pages.

    Several questions of a page count as one, since who likes a reply likes it in every respect. Each point is counted
    once more than it was chosen (add-one smoothing), so that no probability is 0.
    """
    points = sorted({value for _, value in [*answers, *others]})
    logs = np.zeros(len(points))
    for question in {question for question, _ in answers}:
        chosen = [value for asked, value in others if asked == question]
        counts = np.array([chosen.count(point) + 1 for point in points], dtype=np.float64)
        logs += np.log(counts / counts.sum()) * sum(asked == question for asked, _ in answers)
    return float(np.exp(logs * pages / len(answers)).sum())


def speed(pages: Sequence[float], everybody: Sequence[float]) -> str | None:
    """Flag a rater who was too fast to have read the pages; there must be :func:`enough_times`.

    :param pages: seconds spent on each of the rater's pages.
    :param everybody: the median seconds of each rater, including this one.
    """
    mine, usual = median(pages), median(everybody)
    logs = [_log(seconds) for seconds in everybody]
    spread = 1.4826 * median(abs(one - _log(usual)) for one in logs)  # estimates a normal distribution's deviation
    if _log(usual) - _log(mine) < max(math.log(FAST_TIMES), FAST_SPREADS * spread):
        return None
    return f"{mine:.1f} seconds per page, where {usual:.1f} are usual"


def enough_times(pages: Sequence[float], everybody: Sequence[float]) -> bool:
    """Whether a rater's speed can be judged; the parameters are those of :func:`speed`."""
    return len(pages) >= FEWEST_PAGES and len(everybody) >= FEWEST_RATERS


def _log(seconds: float) -> float:
    return math.log(max(seconds, 0.01))


def gold_checks(failed: int, checks: int) -> str | None:
    """Flag a rater who failed too many gold checks."""
    if not checks or failed / checks <= FAILED_CHECKS:
        return None
    return f"{failed} of {checks} checks failed"


def disagrees_with_others(correlation: float, items: int, middle: float) -> str | None:
    """Flag a rater who agrees with the others much less than is usual (Fisher's transformation).

    :param correlation: of the rater's ratings with the mean of the others', -1..1.
    :param items: the number of items that others rated too; several questions about one item count once.
    :param middle: the median rater's correlation.
    """
    if items < FEWEST_SHARED:
        return None
    mine, usual = (math.atanh(max(-0.999, min(0.999, value))) for value in (correlation, middle))
    if mine + APART_SPREADS / math.sqrt(items - 3) >= usual:
        return None
    return f"correlation of {correlation:.2f} with the others on {items} items, where {middle:.2f} is usual"


def replies(texts: Sequence[str]) -> Mapping[str, str]:
    """Flag a rater's own replies for HUMOD's four reasons; returns the findings by rule."""
    if not texts:
        return {}
    n, found = len(texts), {}
    generic = sum(map(free_text.is_generic, texts))
    if n >= FEWEST_TEXTS and generic > MOST_GENERIC * n:
        found["generic"] = f"{generic} of {n} replies are generic"
    gibberish = sum(map(free_text.is_gibberish, texts))
    if gibberish >= 2 and gibberish > MOST_GIBBERISH * n:
        found["gibberish"] = f"{gibberish} of {n} replies are not words"
    if wrong := _language(texts):
        found["language"] = wrong
    same = free_text.most_frequent_share(texts)
    if n >= FEWEST_TEXTS and same > MOST_SAME:
        found["same"] = f"{round(same * n)} of {n} replies are the same"
    return found


def _language(texts: Sequence[str]) -> str | None:
    other = sum(map(free_text.is_other_script, texts))
    if other > len(texts) / 2:
        return f"{other} of {len(texts)} replies are not in Latin letters"
    # Gibberish has its own rule.
    share = free_text.english_share([text for text in texts if not free_text.is_gibberish(text)])
    if share is None or share >= free_text.LEAST_ENGLISH:
        return None
    return f"only {100 * share:.0f} % of the replies' words are common in English"
