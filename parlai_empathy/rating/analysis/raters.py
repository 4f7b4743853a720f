"""Statistics of each rater, and what the rules flagged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from parlai_empathy.rating.analysis import rater_rules
from parlai_empathy.rating.analysis.answers import Answers, is_choice, sort_answers
from parlai_empathy.rating.rating import Rating, Unit

_FEWEST = 3  # pairs of values for a correlation


@dataclass
class Rater:
    """The statistics of one rater.

    :param ratings: the number of ratings, without gold checks and free texts.
    :param same: the share of the rater's most frequent point among ratings of single replies; None without any.
    :param seconds: the median time per page; None if pages were not timed.
    :param checks: the number of answers to gold checks.
    :param failed: how many of these were wrong.
    :param correlation: with the mean of the others, -1..1; None if others rated too few of the same items.
    :param shared: the number of items that others have rated too.
    :param texts: the number of answers in the rater's own words.
    :param judged: those of the rules that need several raters (:data:`rater_rules.NEEDS`) for which there were enough.
    :param flags: the findings, by rule.
    """

    name: str
    ratings: int = 0
    same: float | None = None
    seconds: float | None = None
    checks: int = 0
    failed: int = 0
    correlation: float | None = None
    shared: int = 0
    texts: int = 0
    judged: set[str] = field(default_factory=set)
    flags: dict[str, str] = field(default_factory=dict)


def judge_raters(ratings: Sequence[Rating], tolerance: float = 0.0, excluded: Container[str] = ()) -> list[Rater]:
    """Compute the statistics and flags of all raters of a file, in the order of its rows.

    :param tolerance: by how many points the answer to a check on a scale may differ from the right one.
    :param excluded: raters with whom nobody is compared. They are themselves compared with the others.
    """
    answers = sort_answers(ratings)
    raters = {one.rater: Rater(one.rater) for one in ratings}
    _count(raters, answers)
    _straight(raters, answers, excluded)
    _speeds(raters, ratings, excluded)
    _checks(raters, answers, tolerance)
    _others(raters, answers, excluded)
    _texts(raters, answers)
    return list(raters.values())


def reasons(raters: Sequence[Rater]) -> dict[str, str]:
    """Map each flagged rater to the reason."""
    return {one.name: "; ".join(one.flags.values()) for one in raters if one.flags}


def _by_rater(ratings: Sequence[Rating]) -> dict[str, list[Rating]]:
    found: dict[str, list[Rating]] = defaultdict(list)
    for one in ratings:
        found[one.rater].append(one)
    return found


def _note(rater: Rater, rule: str, seen: str | None) -> None:
    if seen:
        rater.flags[rule] = seen


def _count(raters: dict[str, Rater], answers: Answers) -> None:
    for name, mine in _by_rater(answers.rated).items():
        raters[name].ratings = len(mine)
    for name, mine in _by_rater(answers.texts).items():
        raters[name].texts = len(mine)


def _straight(raters: dict[str, Rater], answers: Answers, excluded: Container[str]) -> None:
    """Comparisons are judged by side of the page: a rater who always prefers the same system may be right."""
    scores = _said([(one.rater, one.question, one.rating or 0.0) for one in answers.scores])
    for name, mine in scores.items():
        values = [value for _, value in mine]
        raters[name].same = max(map(values.count, set(values))) / len(values)
    compared = [one for one in answers.preferences if one.side]
    sides = [(one.rater, one.question, (one.rating or 0.0) * (1 if one.side == "left" else -1)) for one in compared]
    for rule, by_rater, answered in (
        (rater_rules.straight_lining, scores, answers.scores),
        (rater_rules.one_side, _said(sides), compared),
    ):
        pages = {name: len({one.unit for one in mine}) for name, mine in _by_rater(answered).items()}
        for name, mine in by_rater.items():
            if len({value for _, value in mine}) == 1:  # comparing with all others is slow
                others = [said for other, said in by_rater.items() if other != name and other not in excluded]
                seen = rule(mine, [one for said in others for one in said], pages[name])
                _note(raters[name], "straight-lining", seen)


def _said(answers: Sequence[tuple[str, str, float]]) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for name, question, value in answers:
        found[name].append((question, value))
    return found


def _speeds(raters: dict[str, Rater], ratings: Sequence[Rating], excluded: Container[str]) -> None:
    """Each question of a page has the time of the whole page: a page counts once, with its longest time."""
    pages: dict[str, dict[Unit, float]] = defaultdict(dict)
    for one in ratings:
        if one.seconds is not None:
            pages[one.rater][one.unit] = max(one.seconds, pages[one.rater].get(one.unit, 0.0))
    for name, times in pages.items():
        raters[name].seconds = float(median(times.values()))
    everybody = [one.seconds for one in raters.values() if one.seconds is not None and one.name not in excluded]
    for name, times in pages.items():
        if rater_rules.enough_times(mine := list(times.values()), everybody):
            raters[name].judged.add("speed")
            _note(raters[name], "speed", rater_rules.speed(mine, everybody))


def _checks(raters: dict[str, Rater], answers: Answers, tolerance: float) -> None:
    choices = {one.question for one in answers.choices}

    def has_failed(one: Rating) -> bool:
        # The tolerance is for points of a scale: another side or choice is simply wrong.
        is_scale = not (one.is_preference or is_choice(one, choices))
        return abs((one.rating or 0.0) - (one.check or 0.0)) > (tolerance if is_scale else 0.0)

    for name, mine in _by_rater(answers.checks).items():
        raters[name].checks, raters[name].failed = len(mine), sum(map(has_failed, mine))
        _note(raters[name], "checks", rater_rules.gold_checks(raters[name].failed, len(mine)))


def _others(raters: dict[str, Rater], answers: Answers, excluded: Container[str]) -> None:
    """Correlate each rater with the mean of the others. All questions are pooled, each centred on its mean: that one
    question gets higher ratings than another is not agreement.
    """
    found: dict[str, list[list[_Shared]]] = defaultdict(list)
    for ratings in _by_question(answers.rated).values():
        for name, shared in _shared(ratings, excluded).items():
            found[name].append(shared)
    for name, questions in found.items():
        raters[name].shared = len({unit for shared in questions for unit, _, _ in shared})
        raters[name].correlation = _within(questions)
    fewest = rater_rules.FEWEST_SHARED
    known = {
        name: one.correlation for name, one in raters.items() if one.correlation is not None and one.shared >= fewest
    }
    compared = [correlation for name, correlation in known.items() if name not in excluded]
    if len(compared) < rater_rules.FEWEST_RATERS:
        return
    middle = median(compared)
    for name, correlation in known.items():
        raters[name].judged.add("others")
        _note(raters[name], "others", rater_rules.disagrees_with_others(correlation, raters[name].shared, middle))


_Shared = tuple[Unit, float, float]
"""A unit, a rater's rating of it, and the mean rating of the others."""


def _shared(ratings: Sequence[Rating], excluded: Container[str]) -> dict[str, list[_Shared]]:
    """For one question, each rater's units that others rated too, in standard deviations of the question's ratings."""
    compared = [one.rating for one in ratings if one.rating is not None and one.rater not in excluded]
    spread = float(np.std(compared or [0.0])) or 1.0
    units: dict[Unit, list[tuple[str, float]]] = defaultdict(list)
    for one in ratings:
        units[one.unit].append((one.rater, (one.rating or 0.0) / spread))
    found: dict[str, list[_Shared]] = defaultdict(list)
    for unit, said in units.items():
        values = [value for name, value in said if name not in excluded]
        total, many = sum(values), len(values)
        for name, value in said:
            own = int(name not in excluded)
            if many > own:
                found[name].append((unit, value, (total - own * value) / (many - own)))
    return found


def _within(questions: Sequence[Sequence[_Shared]]) -> float | None:
    """Pearson correlation of the deviations from each question's mean; None if there are too few, or no variance."""
    sides: list[list[float]] = [[], []]
    for shared in questions:
        for place, side in enumerate(sides, start=1):
            values = np.array([float(one[place]) for one in shared])  # type: ignore[arg-type]
            side.extend(values - values.mean())
    one, other = np.array(sides)
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    if len(one) < _FEWEST or size < 1e-9 * len(one):
        return None
    return float(one @ other) / size


def _by_question(ratings: Sequence[Rating]) -> dict[tuple[str, bool], list[Rating]]:
    found: dict[tuple[str, bool], list[Rating]] = defaultdict(list)
    for one in ratings:
        found[one.question, bool(one.other)].append(one)
    return found


def _texts(raters: dict[str, Rater], answers: Answers) -> None:
    for name, mine in _by_rater(answers.texts).items():
        for rule, seen in rater_rules.replies([one.text for one in mine]).items():
            _note(raters[name], rule, seen)
