"""Power by simulation: it agrees with the formulas, and its rank tests with the exact ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics import simulated_power
from parlai_empathy.statistics.likert_power import LikertDesign, likert_power
from parlai_empathy.statistics.rank_tests import rank_sum
from parlai_empathy.statistics.sign_test_power import sign_test_power
from parlai_empathy.statistics.simulated_power import (
    simulated_rank_test_power,
    simulated_sign_test_power,
    simulated_t_test_power,
)

DESIGNS = [
    LikertDesign(1.0, paired=False),
    LikertDesign(1.2, raters=3, same_reply=0.4, paired=False),
    LikertDesign(1.2, raters=3, same_reply=0.4, same_item=0.2),
]
FINE = [step / 10 for step in range(-100, 101)]  # a scale with neither visible limits nor rounding


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("difference", [0.0, 0.4])
def test_simulated_t_test_power_matches_formula(design: LikertDesign, difference: float) -> None:
    """A share of 4,000 trials is within .026 of its probability in 999 of 1,000 cases."""
    expected = likert_power(design, difference, 40)
    assert simulated_t_test_power(design, difference, 40, runs=4000) == pytest.approx(expected, abs=0.026)


@pytest.mark.parametrize("design", DESIGNS)
def test_rank_test_power_on_normal_ratings_has_known_efficiency(design: LikertDesign) -> None:
    """The relative efficiency of rank tests is 3/pi, about .955: as if there were that share of the items."""
    expected = likert_power(design, 0.4, 60 * 3 / np.pi)
    assert simulated_rank_test_power(design, 0.4, 60, FINE, 0.0, runs=2000) == pytest.approx(expected, abs=0.04)
    assert simulated_rank_test_power(design, 0.0, 60, FINE, 0.0, runs=2000) == pytest.approx(0.05, abs=0.016)


def test_end_of_scale_lowers_rank_test_power() -> None:
    design = LikertDesign(1.0, paired=False)
    middle = simulated_rank_test_power(design, 0.5, 60, [1, 2, 3, 4, 5], 3.0, runs=500)
    end = simulated_rank_test_power(design, 0.5, 60, [1, 2, 3, 4, 5], 5.5, runs=500)
    assert middle > end + 0.1
    assert simulated_rank_test_power(design, 0.5, 60, [1, 2], 99.0, runs=50) == 0.0  # everybody answers 2


@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_paired_rank_test_power_matches_all_sign_assignments(alpha: float) -> None:
    """At .005 the normal approximation detects half as many of these differences: 11 pairs are too few for it."""
    design, signs = LikertDesign(1.0, 3, same_reply=0.3), np.array(list(product([-1, 1], repeat=11)))
    seen = 0
    for first, second in simulated_power._studies(design, 1.5, 11, alpha, runs=300, seed=4):
        for one, other in zip(first, second, strict=True):
            apart = [np.clip(np.rint(3 + ratings), 1, 5).mean(axis=1) for ratings in (one, other)]
            differences = np.round(apart[0] - apart[1], 9)
            ranks = np.sign(differences) * stats.rankdata(np.where(differences, np.abs(differences), 99))
            # Zeros get the highest ranks and sign 0, so the other ranks are the same as without them.
            seen += (np.abs(signs @ np.abs(ranks)) >= abs(ranks.sum()) - 1e-9).mean() <= alpha
    points = [1, 2, 3, 4, 5]
    assert simulated_rank_test_power(design, 1.5, 11, points, 3, alpha, runs=300, seed=4) == seen / 300


def test_two_sample_rank_test_power_matches_rank_sum() -> None:
    design = LikertDesign(1.0, 2, same_reply=0.3, paired=False)
    for items in (8, 35):  # counted exactly, and by the normal approximation
        seen = 0
        for first, second in simulated_power._studies(design, 1.0, items, 0.01, runs=100, seed=4):
            for one, other in zip(first, second, strict=True):
                apart = [np.clip(np.rint(3 + ratings), 1, 5).mean(axis=1) for ratings in (one, other)]
                seen += rank_sum(*apart).p_value <= 0.01
        points = [1, 2, 3, 4, 5]
        assert simulated_rank_test_power(design, 1.0, items, points, 3, 0.01, runs=100, seed=4) == seen / 100


def test_constant_ratings_have_p_value_one() -> None:
    for paired in (True, False):
        assert simulated_power._p_value(np.ones(5), np.ones(5), paired) == 1.0


def test_simulated_sign_test_power_matches_formula() -> None:
    assert simulated_sign_test_power(0.65, 90, runs=4000) == pytest.approx(sign_test_power(0.65, 90), abs=0.026)
    assert simulated_sign_test_power(1.0, 6) == 1.0
    assert simulated_sign_test_power(1.0, 5) == 0.0


def test_seed_reproduces_power_and_block_size_changes_it_little(monkeypatch: pytest.MonkeyPatch) -> None:
    design = DESIGNS[2]
    whole = simulated_t_test_power(design, 0.4, 40, runs=500, seed=3)
    assert simulated_t_test_power(design, 0.4, 40, runs=500, seed=3) == whole
    assert simulated_t_test_power(design, 0.4, 40, runs=500, seed=4) != whole
    monkeypatch.setattr(simulated_power, "_AT_ONCE", 1000)  # eight studies per block
    assert simulated_t_test_power(design, 0.4, 40, runs=500, seed=3) == pytest.approx(whole, abs=0.08)


def test_invalid_runs_scale_or_alpha_raise_option_error() -> None:
    for simulate in (
        lambda: simulated_t_test_power(DESIGNS[0], 0.4, 40, runs=0),
        lambda: simulated_sign_test_power(0.6, 40, runs=0),
    ):
        with pytest.raises(OptionError, match=r"^runs 0: at least 1 is needed$"):
            simulate()
    with pytest.raises(OptionError, match=r"^scale 3: at least two points are needed$"):
        simulated_rank_test_power(DESIGNS[0], 0.4, 40, [3, 3], 3)
    for simulate in (
        lambda: simulated_t_test_power(DESIGNS[0], 0.4, 40, alpha=2.0, runs=2),
        lambda: simulated_rank_test_power(DESIGNS[0], 0.4, 40, [1, 2], 1.5, alpha=2.0, runs=2),
        lambda: simulated_sign_test_power(0.6, 40, alpha=2.0, runs=2),
    ):
        with pytest.raises(OptionError, match=r"^alpha 2: must lie between 0 and 1"):
            simulate()


@pytest.mark.parametrize(
    ("simulate", "kind", "message"),
    [
        (lambda: simulated_t_test_power(DESIGNS[0], 0.4, 0), NotComputableError, "no power for 0 items: "),
        (lambda: simulated_t_test_power(DESIGNS[2], 0.4, 1), NotComputableError, "no power for 1 items: "),
        (
            lambda: simulated_rank_test_power(DESIGNS[0], 0.4, 0, [1, 2], 1.5),
            NotComputableError,
            "no power for 0 items: ",
        ),
        (lambda: simulated_sign_test_power(0.6, 0), NotComputableError, "no power for 0 comparisons: "),
        (lambda: simulated_sign_test_power(1.2, 9), OptionError, "win rate 1.2: "),
    ],
)
def test_impossible_studies_raise_the_error_of_the_formulas(
    simulate: Callable[[], float], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=f"^{message}"):
        simulate()
