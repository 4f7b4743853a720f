"""Token sampling: penalties and top-p by hand, and frequencies against the distribution."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.errors import LanguageModelError
from parlai_empathy.language_models.local.token_sampling import (
    TokenSampler,
    draw,
    keep_nucleus,
    penalize,
    random_source,
)
from parlai_empathy.language_models.prompt import Sampling

PLAIN = Sampling(temperature=1, frequency_penalty=0, presence_penalty=0)


def test_penalties_match_hand_computed_scores() -> None:
    scores = torch.tensor([[1.0, 2.0, 3.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
    written = torch.tensor([[2, 2, 0], [3, 3, 3]])
    found = penalize(scores, written, Sampling(frequency_penalty=0.5, presence_penalty=0.25))
    # Row 0: token 0 once: 1 - .5 - .25; token 2 twice: 3 - 1 - .25. Row 1: token 3 three times: -1.5 - .25.
    expected = torch.tensor([[0.25, 2.0, 1.75, -1.0], [0.0, 0.0, 0.0, -1.75]])
    assert torch.allclose(found, expected)


def test_negative_penalty_raises_scores() -> None:
    sampling = Sampling(frequency_penalty=0, presence_penalty=-1)
    assert penalize(torch.zeros(1, 2), torch.tensor([[1, 1]]), sampling).tolist() == [[0.0, 1.0]]


def test_prompt_is_not_penalized() -> None:
    choose = TokenSampler(Sampling(temperature=0, frequency_penalty=2, presence_penalty=2), 2, [random_source(0, [])])
    assert choose(torch.tensor([[0, 0]]), torch.tensor([[1.0, 0.0]])).argmax() == 0
    assert choose(torch.tensor([[0, 0, 0]]), torch.tensor([[1.0, 0.0]])).argmax() == 1


@pytest.mark.parametrize("temperature", [1e-3, 1e-29, 1e-31, 1e-40, 1e-300])
def test_lowest_temperatures_choose_the_most_probable_token(temperature: float) -> None:
    choose = TokenSampler(Sampling(temperature, 0.9, 1, 0, 0), 1, [random_source(0, [])])
    assert choose(torch.tensor([[1]]), torch.tensor([[1.0, 30.0, -2.0]])).argmax() == 1


def test_zero_temperature_leaves_scores_unchanged() -> None:
    choose = TokenSampler(Sampling(0, 0.5, 1, 0, 0), 0, [random_source(0, [])])
    scores = torch.tensor([[0.1, 0.2, 0.3]])
    assert torch.equal(choose(torch.zeros(1, 0, dtype=torch.long), scores), scores)


@pytest.mark.parametrize(
    ("share", "kept"),
    [(1.0, [0, 1, 2, 3]), (0.94, [0, 1, 2]), (0.79, [1, 2]), (0.51, [1, 2]), (0.49, [1]), (0.01, [1])],
)
def test_top_p_keeps_expected_tokens(share: float, kept: list[int]) -> None:
    scores = torch.tensor([[0.15, 0.5, 0.3, 0.05]]).double().log()
    found = keep_nucleus(scores, share)
    assert found.isfinite().nonzero()[:, 1].tolist() == kept
    assert torch.equal(found[found.isfinite()], scores[found.isfinite()])


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.floats(0.05, 0.95))
def test_top_p_keeps_the_smallest_sufficient_set(scores: list[float], share: float) -> None:
    kept = keep_nucleus(torch.tensor([scores], dtype=torch.float64), share)[0].isfinite().tolist()
    weights = [math.exp(score) for score in scores]
    inside = [w / sum(weights) for w, keep in zip(weights, kept, strict=True) if keep]
    outside = [w / sum(weights) for w, keep in zip(weights, kept, strict=True) if not keep]
    assert sum(inside) >= share - 1e-9
    assert sum(inside) - min(inside) < share + 1e-9, "without the last one it would be too few"
    assert max(outside, default=0.0) <= min(inside) + 1e-12


def test_draw_inverts_the_cumulative_distribution() -> None:
    # Intervals of width .2, .5, 0 and .3 side by side end at .2, .7, .7 and 1.
    scores = torch.tensor([[0.2, 0.5, 0.0, 0.3]]).double().log().expand(6, -1)
    numbers = torch.tensor([0.0, 0.19, 0.21, 0.69, 0.71, 1 - 2**-53], dtype=torch.float64)
    assert draw(scores, numbers).tolist() == [0, 0, 1, 1, 3, 3]


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8), st.floats(0, 1, exclude_max=True), st.integers(0, 1))
def test_zero_probability_token_is_never_drawn(scores: list[float], number: float, gap: int) -> None:
    row = torch.tensor([[*scores[:gap], -math.inf, *scores[gap:]]])
    assert draw(row, torch.tensor([number], dtype=torch.float64)).item() != gap


def test_nan_logits_raise_language_model_error() -> None:
    choose = TokenSampler(PLAIN, 0, [random_source(0, [])])
    with pytest.raises(LanguageModelError, match="logits contain NaN: use --precision float32"):
        choose(torch.zeros(1, 0, dtype=torch.long), torch.tensor([[0.0, math.nan]]))


def drawn(sampling: Sampling, scores: torch.Tensor, rows: int) -> torch.Tensor:
    """Return each token's relative frequency among many draws."""
    sources = [random_source(row, [1, 2]) for row in range(rows)]
    choose = TokenSampler(sampling, 0, sources)
    tokens = choose(torch.zeros(rows, 0, dtype=torch.long), scores.expand(rows, -1)).argmax(dim=1)
    return tokens.bincount(minlength=scores.size(-1)) / rows


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_sampled_frequencies_match_the_softmax(temperature: float) -> None:
    scores = torch.tensor([0.0, 1.0, 2.0, -1.0])
    expected = (scores / temperature).softmax(dim=0)
    found = drawn(Sampling(temperature, 1.0, 1, 0, 0), scores, 4000)
    # Standard error: at most sqrt(.25 / 4000) = .008; the seeds are fixed, so this cannot fail at random.
    assert torch.allclose(found, expected, atol=0.03)


def test_tokens_outside_top_p_are_never_drawn() -> None:
    found = drawn(Sampling(1.0, 0.6, 1, 0, 0), torch.tensor([0.4, 0.3, 0.2, 0.1]).log(), 500)
    assert found[2:].sum() == 0
    # .4 and .3, renormalised by their sum .7
    assert torch.allclose(found[:2], torch.tensor([4 / 7, 3 / 7]), atol=0.07)


@given(st.integers(0, 2**62), st.integers(1, 4), st.integers(0, 3))
@settings(max_examples=30)
def test_samples_do_not_depend_on_other_rows(seed: int, before: int, after: int) -> None:
    scores = torch.linspace(-1, 1, 50)
    alone = TokenSampler(PLAIN, 0, [random_source(seed, [7])])
    sources = [random_source(row, [1]) for row in range(before)]
    sources += [random_source(seed, [7]), *(random_source(row, [2]) for row in range(after))]
    among = TokenSampler(PLAIN, 0, sources)
    for _ in range(3):
        one = alone(torch.zeros(1, 0, dtype=torch.long), scores[None])
        many = among(torch.zeros(len(sources), 0, dtype=torch.long), scores.expand(len(sources), -1))
        assert torch.equal(one[0], many[before])


def test_random_source_depends_on_seed_and_prompt() -> None:
    sources = [random_source(0, [1]), random_source(1, [1]), random_source(0, [2]), random_source(0, [1, 1])]
    assert len({torch.rand(1, generator=source, dtype=torch.float64).item() for source in sources}) == 4
