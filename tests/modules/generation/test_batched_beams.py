"""Batched beam search, against a plain algorithm over lists and against ParlAI's search of one example at a time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.torch_generator_agent import BeamSearch, GreedySearch, TreeSearch

from parlai_empathy.modules.generation.batched_beams import BatchedBeams, Beams, best_of
from parlai_empathy.modules.generation.diverse_beam import DiverseBeamSearch

PAD, BOS, EOS = 0, 1, 2
CPU = torch.device("cpu")
NextTokens = Callable[[tuple[int, ...]], list[float]]
Ended = list[tuple[tuple[int, ...], float]]


def toy_model(seed: int, vocabulary: int, levels: int | None = None) -> NextTokens:
    """Return a function that maps a prefix to log-probabilities of the next token, which depend on the whole prefix.

    :param levels: the number of distinct log-probabilities, so that many are equal; None: all differ.
    """

    def next_tokens(prefix: tuple[int, ...]) -> list[float]:
        draw = random.Random(f"{seed} {prefix}")
        if levels:  # integers, whose sums are exact: equal scores are equal
            return [-float(draw.randrange(1, levels + 1)) for _ in range(vocabulary)]
        weights = [draw.random() ** 3 + 1e-3 for _ in range(vocabulary)]
        weights[EOS] *= 2
        return [math.log(weight / sum(weights)) for weight in weights]

    return next_tokens


def search(models: Sequence[NextTokens], how: Beams, steps: int, contexts: torch.Tensor | None = None) -> list[Ended]:
    """Return the finished hypotheses of each example, best first, without the start token."""
    beams = BatchedBeams(len(models), how, CPU, contexts)
    for _ in range(steps):
        slots = beams.is_alive().nonzero().squeeze(1)
        if not len(slots):
            break
        written = beams.tokens.flatten(0, 1)[slots].tolist()
        rows = [
            models[slot // how.size](tuple(tokens[1:])) for slot, tokens in zip(slots.tolist(), written, strict=True)
        ]
        beams.advance(torch.tensor(rows, dtype=torch.float64), slots)
    beams.end()
    return [
        [(tuple(tokens.tolist()[1:]), float(score)) for tokens, score, _ in found.get_rescored_finished()]
        for found in beams.finished
    ]


def alone(tree: TreeSearch, model: NextTokens, steps: int, context: list[int] | None = None) -> Ended:
    """Return the finished hypotheses of one example from one of ParlAI's searches."""
    if context is not None:
        tree.set_context(torch.tensor(context))
    for step in range(steps):
        if tree.is_done():
            break
        rows = [model(tuple(hypothesis[1:])) for hypothesis in tree.partial_hyps.tolist()]
        tree.advance(torch.tensor(rows, dtype=torch.float64), step)
    return [(tuple(tokens.tolist()[1:]), float(score)) for tokens, score, _ in tree.get_rescored_finished()]


def assert_same(found: Sequence[Ended], expected: Sequence[Ended]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert [tokens for tokens, _ in one] == [tokens for tokens, _ in other]
        assert [score for _, score in one] == pytest.approx([score for _, score in other])


# --- the algorithm, group by group, over plain lists; ties: the first hypothesis, then the lowest token id ------------


@dataclass
class Group:
    """Hypotheses as (tokens, log-probability), best first; finished ones stay in the list."""

    size: int
    live: list[tuple[tuple[int, ...], float]] = field(default_factory=lambda: [((), 0.0)])
    ended: int = 0
    best_has_ended: bool = False


def reference(model: NextTokens, size: int, groups: int, strength: float, steps: int) -> Ended:
    """Return the finished hypotheses of all groups (Vijayakumar et al. 2018, algorithm 1)."""
    all_groups, everything = [Group(size // groups) for _ in range(groups)], []
    for _ in range(steps):
        said: list[int] = []
        for group in all_groups:
            if group.best_has_ended and group.ended >= group.size:
                continue
            extended = [
                (-(logprob + next_logprob - strength * said.count(token)), place, token, logprob + next_logprob)
                for place, (tokens, logprob) in enumerate(group.live)
                if not tokens or tokens[-1] != EOS
                for token, next_logprob in enumerate(model(tokens))
            ]
            chosen = sorted(extended)[: group.size]
            group.live = [((*group.live[place][0], token), logprob) for _, place, token, logprob in chosen]
            ends = [hypothesis for hypothesis in group.live if hypothesis[0][-1] == EOS]
            group.best_has_ended |= group.live[0][0][-1] == EOS
            group.ended += len(ends)
            everything += ends
            said += [token for _, _, token, _ in chosen]
    normalised = [(tokens, logprob / ((len(tokens) + 2) / 6) ** 0.65) for tokens, logprob in everything]
    return sorted(normalised, key=lambda hypothesis: hypothesis[1], reverse=True)


shapes = st.sampled_from([(1, 1), (2, 1), (4, 1), (2, 2), (3, 3), (4, 2), (4, 4), (6, 2), (6, 3)])
strengths = st.sampled_from([0.0, 1.0, 2.0, 5.0])


@given(st.integers(0, 10_000), shapes, strengths, st.integers(8, 12), st.integers(3, 7), st.sampled_from([None, 2, 3]))
def test_matches_reference_algorithm_including_ties(
    seed: int, shape: tuple[int, int], strength: float, vocabulary: int, steps: int, levels: int | None
) -> None:
    size, groups = shape
    models = [toy_model(seed + example, vocabulary, levels) for example in range(3)]
    found = search(models, Beams(BOS, EOS, size, groups, strength), steps)
    for one, model in zip(found, models, strict=True):
        expected = reference(model, size, groups, strength, steps)
        if expected:  # otherwise the first hypothesis is forced to end
            assert sorted(tokens for tokens, _ in one) == sorted(tokens for tokens, _ in expected)
            assert [score for _, score in one] == pytest.approx([score for _, score in expected])
        else:
            assert len(one) == 1
            assert len(one[0][0]) == steps


def test_example_ending_at_first_step_does_not_affect_others() -> None:
    """The first example ends at once in both of its groups; the other continues, with the same result as alone."""
    at_once = [-5.0] * 6
    at_once[EOS] = -0.1
    models = [lambda _: at_once, toy_model(4, 6)]
    how = Beams(BOS, EOS, 2, 2)
    assert search(models, how, 6)[0] == [((EOS,), pytest.approx(-0.1 / (3 / 6) ** 0.65))] * 2
    assert_same([search(models, how, 6)[1]], search(models[1:], how, 6))


# --- against ParlAI's searches, without equal scores -----------------------------------------------------------------

RULES: list[dict[str, Any]] = [
    {},
    {"min_length": 3},
    {"block_ngram": 1},
    {"block_ngram": 2},
    {"block_ngram": 3, "min_length": 2},
    {"context_block_ngram": 1},
    {"context_block_ngram": 2},
    {"length_penalty": 0.0},
]
CONTEXTS = [[3, 4, 5, 3, 4, 6], [7, 6, 5, PAD, PAD, PAD], [4, PAD, PAD, PAD, PAD, PAD]]


@given(st.integers(0, 10_000), shapes, st.sampled_from([0.0, 0.4, 3.0]), st.sampled_from(RULES))
def test_matches_separate_diverse_beam_search_per_example(
    seed: int, shape: tuple[int, int], strength: float, rules: dict[str, Any]
) -> None:
    size, groups = shape
    models = [toy_model(seed + example, 14) for example in range(3)]
    found = search(models, Beams(BOS, EOS, size, groups, strength, **rules), 8, torch.tensor(CONTEXTS))
    options = {"padding_token": PAD, "bos_token": BOS, "eos_token": EOS, "min_length": 0, **rules}
    trees = [DiverseBeamSearch(size, groups=groups, strength=strength, **options) for _ in models]
    assert_same(found, [alone(*example) for example in zip(trees, models, [8] * 3, CONTEXTS, strict=True)])


@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from(RULES))
def test_single_group_matches_parlai_beam_and_greedy_search(seed: int, size: int, rules: dict[str, Any]) -> None:
    models = [toy_model(seed + example, 14) for example in range(3)]
    found = search(models, Beams(BOS, EOS, size, **rules), 8, torch.tensor(CONTEXTS))
    options = {"padding_token": PAD, "bos_token": BOS, "eos_token": EOS, "min_length": 0, **rules}
    for kind in (BeamSearch, GreedySearch) if size == 1 else (BeamSearch,):
        trees = [kind(size, **options) for _ in models]
        assert_same(found, [alone(*example) for example in zip(trees, models, [8] * 3, CONTEXTS, strict=True)])


def first_largest(numbers: torch.Tensor, count: int, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Do what ``torch.topk`` does, and of equal numbers return the first."""
    values, places = numbers.sort(dim=dim, descending=True, stable=True)
    return values[:count], places[:count]


@given(st.integers(0, 10_000), shapes, st.sampled_from([0.0, 0.5]), st.sampled_from(RULES))
def test_equal_scores_match_separate_search_that_breaks_ties_alike(
    seed: int, shape: tuple[int, int], strength: float, rules: dict[str, Any]
) -> None:
    size, groups = shape
    models = [toy_model(seed + example, 9, levels=3) for example in range(3)]
    found = search(models, Beams(BOS, EOS, size, groups, strength, **rules), 8, torch.tensor(CONTEXTS))
    options = {"padding_token": PAD, "bos_token": BOS, "eos_token": EOS, "min_length": 0, **rules}
    trees = [DiverseBeamSearch(size, groups=groups, strength=strength, **options) for _ in models]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "topk", first_largest)
        expected = [alone(*example) for example in zip(trees, models, [8] * 3, CONTEXTS, strict=True)]
    assert_same(found, expected)


def test_finished_hypotheses_are_sorted_best_first() -> None:
    models = [toy_model(example, 10) for example in range(4)]
    beams = BatchedBeams(4, Beams(BOS, EOS, 3), CPU)
    for _ in range(6):
        slots = beams.is_alive().nonzero().squeeze(1)
        written = beams.tokens.flatten(0, 1)[slots].tolist()
        rows = [models[slot // 3](tuple(tokens[1:])) for slot, tokens in zip(slots.tolist(), written, strict=True)]
        beams.advance(torch.tensor(rows, dtype=torch.float64).view(-1, 10), slots)
    beams.end()
    for best, found in zip(best_of(beams.finished), beams.finished, strict=True):
        everything = found.get_rescored_finished()
        assert best[1] == max(score for _, score, _ in everything)
        assert everything[0] is not None
        assert len(found.get_rescored_finished(1)) == 1
