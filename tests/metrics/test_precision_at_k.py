"""P@k,100: ranks and blocks against plain loops, and ParlAI's metrics that add them up in any order."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from parlai.core.metrics import Metrics, aggregate_unnamed_reports
from torch import Tensor

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.precision_at_k import (
    CUTOFFS,
    SHUFFLE_SEED,
    BlockPrecision,
    EncodedExamples,
    RankedPrecision,
    block_precisions,
    block_ranks,
    key,
    precision_at,
    ranked_precisions,
    true_ranks,
)

PROTOCOLS = ("shuffled", "ordered")


def encodings(n: int, dim: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return ``n`` contexts and replies, weakly correlated so that ranks lie between best and worst."""
    generator = torch.Generator().manual_seed(seed)
    contexts = torch.randn(n, dim, generator=generator)
    return contexts, contexts + 2 * torch.randn(n, dim, generator=generator)


def plain_rank(scores: Sequence[float], true: int) -> int:
    """Sort the candidates, best first; Python's sort is stable for equal scores."""
    ranking = sorted(range(len(scores)), key=lambda candidate: -scores[candidate])
    return ranking.index(true) + 1


# --- ranks -----------------------------------------------------------------------------------------------------------


@st.composite
def scored_rows(draw: st.DrawFn) -> tuple[list[list[float]], list[int]]:
    """Draw rows with few distinct scores, so that most have ties, and infinities (padding is scored minus infinity)."""
    width = draw(st.integers(1, 8))
    score = st.sampled_from([-math.inf, -1.5, 0.0, 0.5, 2.0, math.inf])
    rows = draw(st.lists(st.lists(score, min_size=width, max_size=width), min_size=1, max_size=6))
    return rows, draw(st.lists(st.integers(0, width - 1), min_size=len(rows), max_size=len(rows)))


@given(scored_rows())
def test_true_ranks_match_stable_sorting(rows: tuple[list[list[float]], list[int]]) -> None:
    scores, true = rows
    expected = [plain_rank(row, place) for row, place in zip(scores, true, strict=True)]
    assert true_ranks(torch.tensor(scores), torch.tensor(true)).tolist() == expected


def test_ties_rank_earlier_candidates_higher() -> None:
    # Of three candidates with equal scores, the first has rank 1 and the last rank 3.
    assert true_ranks(torch.zeros(3, 3), torch.tensor([0, 1, 2])).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("scores", "rank"),
    [
        ([math.nan, math.nan, math.nan], 3),  # a model that has diverged is never right
        ([math.nan, 1.0, 2.0], 3),  # the true candidate has no score: it ranks last
        ([5.0, math.nan, 2.0], 2),  # another candidate has no score: it ranks higher
    ],
)
def test_nan_scores_count_against_the_model(scores: list[float], rank: int) -> None:
    assert true_ranks(torch.tensor([scores]), torch.tensor([0])).tolist() == [rank]


def test_precision_matches_hand_calculation() -> None:
    ranks = torch.tensor([1, 2, 3, 11])
    # Of four ranks one is 1, three are at most 3, and the same three at most 10.
    assert [precision_at(k, ranks) for k in CUTOFFS] == [0.25, 0.75, 0.75]


def test_precision_without_examples_raises_error() -> None:
    with pytest.raises(NotComputableError, match=r"^P@3: there are no examples$"):
        precision_at(3, torch.tensor([]))


# --- blocks ----------------------------------------------------------------------------------------------------------


def plain_block_ranks(contexts: Tensor, replies: Tensor, order: Sequence[int], block: int) -> list[int]:
    ranks = []
    for start in range(0, len(order) - block + 1, block):
        members = order[start : start + block]
        for place, example in enumerate(members):
            scores = [float((contexts[example] * replies[other]).sum()) for other in members]
            ranks.append(plain_rank(scores, place))
    return ranks


@settings(max_examples=40)
@given(n=st.integers(3, 25), block=st.integers(1, 7), seed=st.integers(0, 99))
def test_ordered_block_ranks_match_explicit_loop(n: int, block: int, seed: int) -> None:
    block = min(n, block)
    contexts, replies = encodings(n, seed=seed)
    expected = plain_block_ranks(contexts, replies, range(n), block)
    assert block_ranks(contexts, replies, "ordered", block).tolist() == expected


@settings(max_examples=40)
@given(n=st.integers(3, 25), block=st.integers(1, 7), seed=st.integers(0, 99))
def test_shuffled_block_ranks_match_explicit_loop_with_signature_seed(n: int, block: int, seed: int) -> None:
    block = min(n, block)
    contexts, replies = encodings(n, seed=seed)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(SHUFFLE_SEED)).tolist()
    expected = plain_block_ranks(contexts, replies, order, block)
    assert block_ranks(contexts, replies, "shuffled", block).tolist() == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("n", "ranked"), [(100, 100), (199, 100), (200, 200), (250, 200)])
def test_incomplete_last_block_is_left_out(protocol: str, n: int, ranked: int) -> None:
    assert len(block_ranks(*encodings(n), protocol)) == ranked


def test_shuffling_is_reproducible_and_keeps_global_random_state() -> None:
    contexts, replies = encodings(250)
    torch.manual_seed(1)
    first = block_ranks(contexts, replies, "shuffled")
    next_number = torch.rand(1)
    torch.manual_seed(2)
    assert torch.equal(first, block_ranks(contexts, replies, "shuffled"))
    torch.manual_seed(1)
    assert torch.equal(next_number, torch.rand(1))


def test_file_neighbours_share_blocks_only_in_ordered_protocol() -> None:
    # Two runs of 100 equal replies. In the file's order each block is one run: each reply ties with the 99 others, and
    # the ranks are 1..100. When shuffled, the other run's replies score lower, and about half as many tie.
    vectors = torch.eye(2).repeat_interleave(100, dim=0)
    assert block_ranks(vectors, vectors, "ordered").tolist() == 2 * list(range(1, 101))
    assert block_ranks(vectors, vectors, "shuffled").max() < 75


@pytest.mark.parametrize("n", [0, 99])
def test_fewer_examples_than_a_block_raise_error(n: int) -> None:
    with pytest.raises(NotComputableError, match=rf"^P@k,100 needs at least 100 examples, but got {n}$"):
        block_ranks(*encodings(n), "ordered")


# --- ParlAI's metric of blocks ---------------------------------------------------------------------------------------


def metric_of(positions: Sequence[int], fold: tuple[Tensor, Tensor], protocol: str, k: int = 1) -> BlockPrecision:
    chosen = torch.tensor(positions, dtype=torch.long)
    examples = EncodedExamples(chosen, fold[0][chosen], fold[1][chosen])
    return BlockPrecision(k, protocol, (examples,), score="dot", split="test")


@settings(max_examples=30)
@given(data=st.data(), protocol=st.sampled_from(PROTOCOLS), k=st.sampled_from(CUTOFFS))
def test_value_does_not_depend_on_batches_or_their_order(data: st.DataObject, protocol: str, k: int) -> None:
    fold = encodings(230)
    expected = precision_at(k, block_ranks(*fold, protocol))
    cuts = sorted(data.draw(st.sets(st.integers(1, 229), max_size=8)))
    batches = [range(a, b) for a, b in zip([0, *cuts], [*cuts, 230], strict=True)]
    metrics = [metric_of(batch, fold, protocol, k) for batch in data.draw(st.permutations(batches))]
    assert functools.reduce(operator.add, metrics).value() == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_two_processes_match_one_process(protocol: str) -> None:
    fold = encodings(230)
    reports = []
    for rank in (0, 1):
        mine = range(rank, 230, 2)
        metrics = Metrics()
        for start in range(0, len(mine), 32):
            metrics.add("p", metric_of(mine[start : start + 32], fold, protocol))
        reports.append(metrics.report())
    together = aggregate_unnamed_reports(reports)["p"]
    assert together.value() == precision_at(1, block_ranks(*fold, protocol))


def test_block_precisions_cover_each_cutoff_and_protocol() -> None:
    fold = encodings(230)
    totals = Metrics()
    for start in (0, 100, 200):
        positions = torch.arange(start, min(start + 100, 230))
        batch = EncodedExamples(positions, fold[0][positions], fold[1][positions])
        for name, metric in block_precisions(batch, "cosine", "valid").items():
            totals.add(name, metric)
    expected = {
        f"p_at_{k}_100_{protocol}": precision_at(k, block_ranks(*fold, protocol))
        for k in (1, 3, 10)
        for protocol in PROTOCOLS
    }
    report = totals.report()
    assert {name: metric.value() for name, metric in report.items()} == expected
    assert "score:cosine|n:200|split:valid" in report["p_at_3_100_ordered"].signature


def test_sample_data_gives_intermediate_precision() -> None:
    values = [metric_of(range(230), encodings(230), protocol).value() for protocol in PROTOCOLS]
    assert 0 < min(values) <= max(values) < 1


def test_too_few_examples_give_nan_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr("parlai_empathy.metrics.precision_at_k.warn_once", warned.append)
    assert math.isnan(metric_of(range(99), encodings(99), "shuffled").value())
    assert warned == ["P@k,100 needs at least 100 examples, but got 99"]


def test_adding_none_returns_the_metric() -> None:
    metric = metric_of(range(100), encodings(100), "ordered")
    assert (metric + None) is metric


def test_tasks_are_macro_averaged() -> None:
    assert metric_of(range(100), encodings(100), "ordered").macro_average


@pytest.mark.parametrize(
    ("protocol", "settings_"), [("shuffled", "protocol:shuffled|seed:42"), ("ordered", "protocol:ordered")]
)
def test_block_precision_signature_lists_the_settings(protocol: str, settings_: str) -> None:
    fold = encodings(250)
    metric = metric_of(range(120), fold, protocol) + metric_of(range(120, 250), fold, protocol)
    # 250 examples are two full blocks: 200 are ranked.
    assert metric.signature == f"P@k,100|{settings_}|score:dot|n:200|split:test|version:{__version__}"


# --- ParlAI's metric of inline candidates ----------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1))
def test_inline_precision_and_signature_combine_examples(hits: list[bool]) -> None:
    metrics = [RankedPrecision(hit, score="dot", candidates="file", split="valid") for hit in hits]
    total = functools.reduce(operator.add, metrics)
    assert total.value() == pytest.approx(sum(hits) / len(hits))
    assert total.signature == (
        f"P@k,100|protocol:inline|candidates:file|score:dot|n:{len(hits)}|split:valid|version:{__version__}"
    )


def test_ranked_precisions_give_one_metric_per_example() -> None:
    metrics = ranked_precisions(torch.tensor([1, 3, 11]), "inline", "dot", "sampled", "test")
    hits = {name: [metric.value() for metric in values] for name, values in metrics.items()}
    # Rank 1 is a hit for every k, rank 3 for k = 3 and 10, rank 11 for none.
    assert hits == {
        "p_at_1_100_inline": [1, 0, 0],
        "p_at_3_100_inline": [1, 1, 0],
        "p_at_10_100_inline": [1, 1, 0],
    }
    assert "candidates:sampled|score:dot|n:1|split:test" in metrics["p_at_3_100_inline"][0].signature


def test_adding_none_to_inline_precision_keeps_value_and_signature() -> None:
    metric = RankedPrecision(1, score="cosine", candidates="sampled", split="test")
    assert (metric + None).value() == metric.value()
    assert (metric + None).signature == metric.signature


def test_inline_signature_omits_unknown_settings() -> None:
    assert RankedPrecision(1).signature == f"P@k,100|protocol:inline|n:1|version:{__version__}"


def test_signature_names_changed_example_order() -> None:
    vectors = torch.eye(100)
    examples = EncodedExamples(torch.arange(100), vectors, vectors, "side-by-side-4")
    metric = block_precisions(examples, "dot", "test")["p_at_1_100_ordered"]
    assert "|protocol:ordered|order:side-by-side-4|score:dot|" in metric.signature
    ranked = RankedPrecision(1, 1, "ordered", "rerank-4", order="side-by-side-4")
    assert "|protocol:ordered|order:side-by-side-4|score:rerank-4|" in (ranked + ranked).signature


def test_key_contains_cutoff_candidates_and_protocol() -> None:
    assert [key(k, "ordered") for k in CUTOFFS] == ["p_at_1_100_ordered", "p_at_3_100_ordered", "p_at_10_100_ordered"]
