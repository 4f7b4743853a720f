"""Diverse beam search, against a plain algorithm over lists and against ParlAI's beam search."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.torch_generator_agent import BeamSearch, TreeSearch

from parlai_empathy.modules.generation.diverse_beam import DiverseBeamSearch

PAD, BOS, EOS = 0, 1, 2
PENALTY = 0.65

NextTokens = Callable[[tuple[int, ...]], list[float]]


def toy_model(seed: int, vocabulary: int) -> NextTokens:
    """Return a function that maps a prefix to log-probabilities of the next token, all different for each prefix."""

    def next_tokens(prefix: tuple[int, ...]) -> list[float]:
        draw = random.Random(f"{seed} {prefix}")
        weights = [draw.random() ** 3 + 1e-3 for _ in range(vocabulary)]
        weights[EOS] *= 2
        return [math.log(weight / sum(weights)) for weight in weights]

    return next_tokens


def search(tree: TreeSearch, model: NextTokens, steps: int) -> TreeSearch:
    """Run the search the way ParlAI's agents do."""
    for step in range(steps):
        if tree.is_done():
            break
        rows = [model(tuple(hypothesis[1:])) for hypothesis in tree.partial_hyps.tolist()]
        tree.advance(torch.tensor(rows, dtype=torch.float64), step)
    return tree


def finished(tree: TreeSearch) -> list[tuple[tuple[int, ...], float]]:
    """Return all finished hypotheses, best first, without the start token."""
    return [(tuple(tokens.tolist()[1:]), float(score)) for tokens, score, _ in tree.get_rescored_finished()]


def options(**changes: Any) -> dict[str, Any]:
    return {
        "padding_token": PAD,
        "bos_token": BOS,
        "eos_token": EOS,
        "min_length": 0,
        "length_penalty": PENALTY,
        **changes,
    }


def diverse(size: int, groups: int, strength: float, **changes: Any) -> DiverseBeamSearch:
    return DiverseBeamSearch(size, groups=groups, strength=strength, **options(**changes))


# --- the algorithm, group by group, over plain lists -----------------------------------------------------------------


@dataclass
class Group:
    """Live hypotheses as (tokens, log-probability), best first, and the finished ones."""

    size: int
    live: list[tuple[tuple[int, ...], float]] = field(default_factory=lambda: [((), 0.0)])
    ended: list[tuple[tuple[int, ...], float]] = field(default_factory=list)
    best_has_ended: bool = False

    @property
    def is_over(self) -> bool:
        return self.best_has_ended and len(self.ended) >= self.size


def reference(model: NextTokens, size: int, groups: int, strength: float, steps: int) -> list[tuple[Any, float]]:
    """Return all finished hypotheses, best first by normalised log-probability (Vijayakumar et al., algorithm 1)."""
    all_groups = [Group(size // groups) for _ in range(groups)]
    for _ in range(steps):
        said: list[int] = []  # tokens chosen by the previous groups at this step
        for group in all_groups:
            if group.is_over:
                continue
            extended = [
                (logprob + next_logprob - strength * said.count(token), (*tokens, token), logprob + next_logprob)
                for tokens, logprob in group.live
                for token, next_logprob in enumerate(model(tokens))
            ]
            chosen = sorted(extended, reverse=True)[: group.size]
            group.best_has_ended |= chosen[0][1][-1] == EOS
            group.ended += [(tokens, logprob) for _, tokens, logprob in chosen if tokens[-1] == EOS]
            group.live = [(tokens, logprob) for _, tokens, logprob in chosen if tokens[-1] != EOS]
            said += [tokens[-1] for _, tokens, _ in chosen]
    everything = [hypothesis for group in all_groups for hypothesis in group.ended]
    normalised = [(tokens, logprob / ((len(tokens) + 2) / 6) ** PENALTY) for tokens, logprob in everything]
    return sorted(normalised, key=lambda hypothesis: hypothesis[1], reverse=True)


shapes = st.sampled_from([(2, 1), (2, 2), (3, 3), (4, 2), (4, 4), (6, 2), (6, 3)])


@given(st.integers(0, 10_000), shapes, st.sampled_from([0.0, 0.3, 1.0, 5.0]), st.integers(8, 12), st.integers(3, 7))
def test_matches_reference_algorithm(
    seed: int, shape: tuple[int, int], strength: float, vocabulary: int, steps: int
) -> None:
    size, groups = shape
    model = toy_model(seed, vocabulary)
    expected = reference(model, size, groups, strength, steps)
    tree = search(diverse(size, groups, strength), model, steps)
    if not expected:  # nothing has finished: ParlAI ends the first hypothesis itself
        assert len(finished(tree)) == 1
        return
    found = finished(tree)
    assert sorted(tokens for tokens, _ in found) == sorted(tokens for tokens, _ in expected)
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    assert found[0][0] == expected[0][0]


# --- against ParlAI's beam search ------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([{}, {"min_length": 3}, {"block_ngram": 2}]))
def test_single_group_matches_parlai_beam_search(seed: int, size: int, changes: dict[str, int]) -> None:
    model = toy_model(seed, 8)
    ours = search(diverse(size, 1, 0.7, **changes), model, 8)
    theirs = search(BeamSearch(size, **options(**changes)), model, 8)
    for name in ("outputs", "all_scores", "bookkeep"):
        assert all(map(torch.equal, getattr(ours, name), getattr(theirs, name)))
        assert len(getattr(ours, name)) == len(getattr(theirs, name))
    assert finished(ours) == finished(theirs)


@given(st.integers(0, 10_000), st.sampled_from([(2, 2), (4, 2), (6, 3), (6, 2)]))
def test_zero_strength_makes_each_group_a_plain_beam_search(seed: int, shape: tuple[int, int]) -> None:
    size, groups = shape
    model = toy_model(seed, 8)
    ours = search(diverse(size, groups, 0.0), model, 8)
    theirs = search(BeamSearch(size // groups, **options()), model, 8)
    assert len(ours.outputs) == len(theirs.outputs)
    for mine, other in zip(ours.outputs, theirs.outputs, strict=True):
        assert mine.tolist() == other.tolist() * groups
    if theirs.finished:  # otherwise ParlAI ends only the first hypothesis
        assert sorted(finished(ours)) == sorted(finished(theirs) * groups)


@given(st.integers(0, 10_000), st.sampled_from([(2, 2), (4, 2), (6, 3)]), st.sampled_from([0.5, 3.0]))
def test_first_group_matches_plain_beam_search(seed: int, shape: tuple[int, int], strength: float) -> None:
    size, groups = shape
    model = toy_model(seed, 8)
    alone = search(BeamSearch(size // groups, **options()), model, 8)
    if alone.finished:
        assert set(finished(alone)) <= set(finished(search(diverse(size, groups, strength), model, 8)))


# --- diversity -------------------------------------------------------------------------------------------------------


def test_high_strength_makes_groups_choose_different_tokens() -> None:
    tree = diverse(4, 4, 100.0)
    model = toy_model(3, 12)
    for step in range(4):
        going_on = [group for group in range(4) if not tree._is_over(group)]
        rows = [model(tuple(hypothesis[1:])) for hypothesis in tree.partial_hyps.tolist()]
        tree.advance(torch.tensor(rows, dtype=torch.float64), step)
        said = tree.outputs[-1][going_on].tolist()
        assert len(set(said)) == len(said) > 0


def test_diversity_penalty_affects_choice_but_not_score() -> None:
    """Both groups prefer 3; the second would pay 1 nat for it and chooses 4. Its score is 4's own log-probability."""
    tree = diverse(2, 2, 1.0)
    logprobs = torch.full((2, 5), -9.0, dtype=torch.float64)
    logprobs[:, 3], logprobs[:, 4] = -0.5, -1.2
    tree.advance(logprobs, 0)
    assert tree.outputs[-1].tolist() == [3, 4]
    assert tree.scores.tolist() == [-0.5, -1.2]
    # A penalty of .6 nats is too small: 3, at -.5 - .6, is still better.
    cheap = diverse(2, 2, 0.6)
    cheap.advance(logprobs.clone(), 0)
    assert cheap.outputs[-1].tolist() == [3, 3]
    assert cheap.scores.tolist() == [-0.5, -0.5]


def test_finished_group_adds_no_tokens_or_penalties() -> None:
    """Group 1 ends at once, which penalises the end token for group 2 at that step but not later."""
    tree = diverse(2, 2, 2.0)
    first = torch.full((2, 6), -9.0, dtype=torch.float64)
    first[:, EOS], first[:, 3] = -0.1, -1.0
    tree.advance(first, 0)
    assert tree.outputs[-1].tolist() == [EOS, 3]
    assert not tree.is_done()
    second = torch.full((2, 6), -9.0, dtype=torch.float64)
    second[:, EOS], second[:, 4] = -0.4, -0.9
    tree.advance(second, 1)
    assert tree.outputs[-1][1] == EOS
    assert tree.is_done()
    assert [tokens for tokens, _ in finished(tree)] == [(EOS,), (3, EOS)]


@given(st.integers(0, 10_000))
def test_block_ngram_prevents_repeated_bigrams(seed: int) -> None:
    tree = search(diverse(4, 2, 0.5, block_ngram=2), toy_model(seed, 8), 8)
    for tokens, _ in finished(tree):
        pairs = list(itertools.pairwise(tokens))
        assert len(set(pairs)) == len(pairs)


@given(st.integers(0, 10_000))
def test_no_hypothesis_ends_before_min_length(seed: int) -> None:
    tree = search(diverse(4, 2, 0.5, min_length=3), toy_model(seed, 8), 9)
    if tree.finished:
        assert min(len(tokens) for tokens, _ in finished(tree)) > 3


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_verbose_details_are_those_of_the_model_without_costs(groups: int) -> None:
    model = toy_model(1, 8)
    tree = search(diverse(4, groups, 2.0, verbose=True), model, 8)
    for tokens, _, details in tree.get_rescored_finished():
        said = tokens.tolist()[1:]
        assert len(details) == len(tokens)  # one for the start token, too
        for place, (token, detail) in enumerate(zip(said, details[1:], strict=True)):
            logprobs = model(tuple(said[:place]))
            assert detail["token_logprob"] == pytest.approx(logprobs[token])
            assert detail["token_rank"] == sorted(logprobs, reverse=True).index(logprobs[token])


def test_verbose_details_renormalise_where_tokens_are_forbidden() -> None:
    model = toy_model(1, 8)
    tree = search(diverse(4, 2, 2.0, verbose=True, min_length=3), model, 8)
    for tokens, _, details in tree.get_rescored_finished():
        for place, (token, detail) in enumerate(zip(tokens.tolist()[1:], details[1:], strict=True)):
            logprobs = model(tuple(tokens.tolist()[1 : place + 1]))
            allowed = [p for word, p in enumerate(logprobs) if place >= 3 or word != EOS]
            whole = math.log(sum(math.exp(p) for p in allowed))
            assert detail["token_logprob"] == pytest.approx(logprobs[token] - whole)
