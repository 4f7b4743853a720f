"""The strengths of several systems, estimated from pairwise comparisons (Bradley and Terry 1952).

The model: system i is preferred to j with the odds ``exp(strength[i] - strength[j])``. Only differences of strengths
are meaningful, so they are shifted to a mean of 0. A tie counts as half a win for each side. (Davidson 1970 models ties
with an additional parameter. If all systems are compared equally often, this gives the same ranking, but one more
parameter must be estimated; half wins need none, and keep strengths comparable with those of studies without ties.)

Strengths exist if and only if, for every division of the systems into two groups, some system in each group has won (or
tied) against one in the other (Ford 1957). Otherwise one of them would be infinite, which is an error here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csgraph

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.bootstrap import Floats

_STEPS = 200  # maximum of Newton's method; fewer than ten are needed unless a strength is nearly infinite


def bradley_terry(wins: Floats, names: Sequence[str]) -> Floats:
    """Return the maximum-likelihood estimate of the strengths.

    :param wins: ``(n, n)``, how often the row's system was preferred to the column's; a tie is half a win for both.
    :param names: the systems' names, for error messages.
    :returns: ``(n,)`` strengths on the scale of log-odds, with a mean of 0.
    :raises NotComputableError: for fewer than two systems, or if strengths do not exist; it names the systems that
        cause this.
    """
    if len(names) < 2:
        raise NotComputableError("no Bradley-Terry strengths for a single system: at least two are needed")
    _check_connected(wins, names)
    games, won = wins + wins.T, wins.sum(axis=1)
    strengths: Floats = np.zeros(len(names))
    best = _log_likelihood(wins, strengths)
    for _ in range(_STEPS):
        chances = _chances(strengths)
        gradient = won - (games * chances).sum(axis=1)
        information = -games * chances * chances.T
        np.fill_diagonal(information, -information.sum(axis=1))
        step = np.linalg.lstsq(information, gradient, rcond=None)[0]
        while (found := _log_likelihood(wins, strengths + step)) < best and np.abs(step).max() > 1e-12:
            step = step / 2  # overshot: the likelihood has one peak, on the way there
        strengths, best = strengths + step, max(found, best)
        if np.abs(step).max() < 1e-10:
            break
    # Least-norm steps sum to 0, except for rounding errors, which are large if a strength is nearly infinite.
    centred: Floats = strengths - strengths.mean()
    return centred


def _chances(strengths: Floats) -> Floats:
    """Return the probability that the row's system is preferred to the column's, ``(n, n)``."""
    chances: Floats = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return chances


def _log_likelihood(wins: Floats, strengths: Floats) -> float:
    return float(-(wins * np.logaddexp(0, strengths[None, :] - strengths[:, None])).sum())


def _check_connected(wins: Floats, names: Sequence[str]) -> None:
    """Raise an error if strengths do not exist."""
    groups, group = csgraph.connected_components(wins + wins.T > 0, directed=False)
    if groups > 1:
        apart = [", ".join(_chosen(names, group == one)) for one in range(groups)]
        raise NotComputableError(
            f"no Bradley-Terry strengths: {' | '.join(apart)} are never compared with one another, directly or through "
            "others: compare them"
        )
    groups, group = csgraph.connected_components(wins > 0, directed=True, connection="strong")
    if groups == 1:
        return
    for one in range(groups):
        inside = group == one
        if not wins[~inside][:, inside].any():  # no system outside won against them
            raise NotComputableError(
                f"no Bradley-Terry strengths: {', '.join(_chosen(names, inside))} never lost or tied against the "
                "others, which would make the strength infinite: more comparisons are needed"
            )


def _chosen(names: Sequence[str], chosen: np.typing.NDArray[np.bool_]) -> list[str]:
    return [name for name, yes in zip(names, chosen, strict=True) if yes]
