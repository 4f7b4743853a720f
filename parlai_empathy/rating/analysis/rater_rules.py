"""When a rater's answers should be looked at: the rules, each with its threshold and its reason.

A rule looks at one rater beside all others, and says what it saw, or None. It suggests; people decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from parlai_empathy.rating.analysis import free_text

SAME_BY_CHANCE = 0.001
"""All answers alike are looked at if fewer than one in a thousand raters would give them who drew theirs at random from
what the others answered. So five times the same says little where most answers are the same anyway."""

FAST_TIMES = 2.0
"""At least so many times as fast as the middle rater: half the time is too little to read the same text."""

FAST_SPREADS = 3.0
"""And so many (robust) standard deviations below, where people's speeds differ much: 1 in 700 is by chance."""

FEWEST_RATERS = 5
"""Of fewer, nobody knows what is usual."""

FEWEST_PAGES = 3
"""A single quick page may be an easy one."""

FAILED_CHECKS = 0.5
"""More than this share failed: whoever answers at random fails at least half, whoever reads may slip once."""

FEWEST_SHARED = 5
"""So many items at least were rated by others too, before agreement with them is judged."""

APART_SPREADS = 2.33
"""A correlation with the others that lies so many standard errors below the middle rater's is there by chance in one of
a hundred."""

FEWEST_TEXTS = 5
MOST_GENERIC = 0.5
"""More than half: of HUMOD's raters' replies 4 % are generic, so three of five are by chance in 1 of 1,700."""
MOST_GIBBERISH = 0.2
"""More than a fifth, and two at least: of HUMOD's replies the rule finds fewer than 1 in 1,000."""
MOST_SAME = 0.5
"""More than half of the replies are one and the same, though they answer different dialogues."""


def straight_lining(answers: Sequence[tuple[str, float]], others: Sequence[tuple[str, float]]) -> str | None:
    """Whether all answers are the same, and that would be strange.

    :param answers: question and rating of everything that the rater answered.
    :param others: the same of all other raters.
    """
    values = {value for _, value in answers}
    if len(values) != 1 or same_by_chance(answers, others) >= SAME_BY_CHANCE:
        return None
    return f"all {len(answers)} ratings are {values.pop():g}"


def one_side(answers: Sequence[tuple[str, float]], others: Sequence[tuple[str, float]]) -> str | None:
    """Whether all comparisons were decided for the same side of the page, or all were ties, and that would be strange.

    :param answers: question, and 1 for the left side, -1 for the right one, 0 for a tie.
    :param others: the same of all other raters.
    """
    if straight_lining(answers, others) is None:
        return None
    return f"all {len(answers)} comparisons are {_SIDES[answers[0][1]]}"


_SIDES = {1.0: "for the left side", -1.0: "for the right side", 0.0: "ties"}


def same_by_chance(answers: Sequence[tuple[str, float]], others: Sequence[tuple[str, float]]) -> float:
    """How probably somebody who draws from the others' answers would give the same one to all of these questions.

    Each point that occurs counts once more than it was chosen, so that nothing is impossible.
    """
    points = sorted({value for _, value in [*answers, *others]})
    logs = np.zeros(len(points))
    for question in {question for question, _ in answers}:
        chosen = [value for asked, value in others if asked == question]
        counts = np.array([chosen.count(point) + 1 for point in points], dtype=np.float64)
        logs += np.log(counts / counts.sum()) * sum(asked == question for asked, _ in answers)
    return float(np.exp(logs).sum())


def speed(pages: Sequence[float], everybody: Sequence[float]) -> str | None:
    """Whether a rater was too fast to have read.

    :param pages: seconds on each of the rater's pages.
    :param everybody: each rater's median seconds, this one's too.
    """
    if len(pages) < FEWEST_PAGES or len(everybody) < FEWEST_RATERS:
        return None
    mine, usual = median(pages), median(everybody)
    logs = [_log(seconds) for seconds in everybody]
    spread = 1.4826 * median(abs(one - _log(usual)) for one in logs)  # of a normal distribution: its deviation
    if _log(usual) - _log(mine) < max(math.log(FAST_TIMES), FAST_SPREADS * spread):
        return None
    return f"{mine:.1f} seconds a page, where {usual:.1f} are usual"


def _log(seconds: float) -> float:
    return math.log(max(seconds, 0.01))


def gold_checks(failed: int, checks: int) -> str | None:
    """Whether too many items with a known answer were answered otherwise."""
    if not checks or failed / checks <= FAILED_CHECKS:
        return None
    return f"{failed} of {checks} checks failed"


def apart_from_others(correlation: float, items: int, middle: float) -> str | None:
    """Whether a rater agrees with the others much less than raters do (Fisher's transformation).

    :param correlation: of the rater's ratings with the mean of the others', -1..1.
    :param items: how many were rated by others too; several questions of one item count once.
    :param middle: the median rater's correlation.
    """
    if items < FEWEST_SHARED:
        return None
    mine, usual = (math.atanh(max(-0.999, min(0.999, value))) for value in (correlation, middle))
    if mine + APART_SPREADS / math.sqrt(items - 3) >= usual:
        return None
    return f"correlation of {correlation:.2f} with the others on {items} items, where {middle:.2f} is usual"


def replies(texts: Sequence[str]) -> Mapping[str, str]:
    """What is wrong with a rater's own replies, by the rule that saw it: HUMOD's four reasons."""
    if not texts:
        return {}
    n, found = len(texts), {}
    generic = sum(map(free_text.is_generic, texts))
    if n >= FEWEST_TEXTS and generic > MOST_GENERIC * n:
        found["generic"] = f"{generic} of {n} replies are generic"
    gibberish = sum(map(free_text.is_gibberish, texts))
    if gibberish >= 2 and gibberish > MOST_GIBBERISH * n:
        found["gibberish"] = f"{gibberish} of {n} replies are no words"
    if wrong := _language(texts):
        found["language"] = wrong
    same = free_text.same_share(texts)
    if n >= FEWEST_TEXTS and same > MOST_SAME:
        found["same"] = f"{round(same * n)} of {n} replies are the same"
    return found


def _language(texts: Sequence[str]) -> str | None:
    other = sum(map(free_text.is_other_script, texts))
    if other > len(texts) / 2:
        return f"{other} of {len(texts)} replies are not in Latin letters"
    # What is no word of any language has a rule of its own.
    share = free_text.english_share([text for text in texts if not free_text.is_gibberish(text)])
    if share is None or share >= free_text.LEAST_ENGLISH:
        return None
    return f"only {100 * share:.0f} % of the replies' words are common in English"
