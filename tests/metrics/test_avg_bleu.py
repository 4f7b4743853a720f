"""AVG BLEU against sacrebleu on the same tokens, and against values worked out by hand."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.metrics import Metrics
from sacrebleu.metrics.bleu import BLEU, BLEUScore

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.avg_bleu import (
    AvgBleu,
    BleuStatistics,
    avg_bleu,
    bleu_statistics,
    corpus_bleu,
)

Pairs = Sequence[tuple[list[str], list[str]]]
ORDERS = (1, 2, 3, 4)

# A small vocabulary, so that n-grams of all orders match, repeat and get clipped.
tokens = st.lists(st.sampled_from(["i", "am", "so", "sorry", "."]), max_size=9)
corpora = st.lists(st.tuples(tokens, tokens.filter(len)), min_size=1, max_size=6)


def added_up(pairs: Pairs) -> BleuStatistics:
    return functools.reduce(operator.add, (bleu_statistics(reply, reference) for reply, reference in pairs))


def words(*texts: str) -> list[tuple[list[str], list[str]]]:
    """Return (reply, reference) pairs from alternating texts, split at spaces."""
    lists = [text.split() for text in texts]
    return list(zip(lists[::2], lists[1::2], strict=True))


def sacrebleus(pairs: Pairs, order: int) -> BLEUScore:
    bleu = BLEU(tokenize="none", smooth_method="none", max_ngram_order=order, effective_order=False, force=True)
    return bleu.corpus_score([" ".join(reply) for reply, _ in pairs], [[" ".join(reference) for _, reference in pairs]])


# --- against sacrebleu -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@given(pairs=corpora)
def test_corpus_bleu_matches_sacrebleu(order: int, pairs: Pairs) -> None:
    assert corpus_bleu(added_up(pairs), order) == pytest.approx(sacrebleus(pairs, order).score, abs=1e-9)


@given(pairs=corpora)
def test_counts_match_sacrebleu(pairs: Pairs) -> None:
    statistics, theirs = added_up(pairs), sacrebleus(pairs, 4)
    assert list(statistics.matches) == list(theirs.counts)
    assert list(statistics.totals) == list(theirs.totals)
    assert (statistics.reply_length, statistics.reference_length) == (theirs.sys_len, theirs.ref_len)


@given(corpus=st.lists(st.tuples(tokens, st.lists(tokens.filter(len), min_size=3, max_size=3)), min_size=1, max_size=5))
def test_counts_with_several_references_match_sacrebleu(corpus: list[tuple[list[str], list[list[str]]]]) -> None:
    bleu = BLEU(tokenize="none", smooth_method="none", effective_order=False, force=True)
    streams = [[" ".join(references[i]) for _, references in corpus] for i in range(3)]
    theirs = bleu.corpus_score([" ".join(reply) for reply, _ in corpus], streams)
    statistics = functools.reduce(operator.add, (bleu_statistics(reply, *refs) for reply, refs in corpus))
    assert list(statistics.matches) == list(theirs.counts)
    assert list(statistics.totals) == list(theirs.totals)
    assert (statistics.reply_length, statistics.reference_length) == (theirs.sys_len, theirs.ref_len)


def published_replies(path: Path, reply: str, reference: str) -> list[tuple[list[str], list[str]]]:
    """Return the pairs of a log whose reply and reference lines start with the given prefixes."""
    pairs, said = [], None
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith(reply):
            said = line.removeprefix(reply).split()
        elif line.startswith(reference) and said is not None:
            pairs.append((said, line.removeprefix(reference).split()))
            said = None
    return pairs


@pytest.mark.parametrize(
    ("file", "reply", "reference", "count"),
    [
        ("EmpDG_EmpDG.txt", "Pred:", "Ref:", 2713),
        ("EmpDG_Transformer.txt", "Pred:", "Ref:", 2713),
        ("MoEL_generation_result.txt", "MOE:", "ref:", 5255),
    ],
)
def test_scores_of_published_replies_match_sacrebleu(
    real_data: Path, file: str, reply: str, reference: str, count: int
) -> None:
    pairs = published_replies(real_data / "peers" / file, reply, reference)
    assert len(pairs) == count  # the number of lines with a reference in the log
    theirs = [sacrebleus(pairs, order).score for order in ORDERS]
    assert min(theirs) > 0
    statistics = added_up(pairs)
    assert [corpus_bleu(statistics, order) for order in ORDERS] == pytest.approx(theirs)
    assert avg_bleu(statistics) == pytest.approx(sum(theirs) / 4)


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_brevity_penalty_matches_hand_calculation() -> None:
    # The reply is the first 4 of the reference's 6 tokens: every n-gram matches, so each precision is 1 and only the
    # brevity penalty remains, exp(1 - 6/4) = exp(-0.5) = 0.606531 for each order.
    statistics = added_up(words("the cat sat on", "the cat sat on the mat"))
    assert [corpus_bleu(statistics, order) for order in ORDERS] == pytest.approx([60.6531] * 4, abs=1e-4)
    assert avg_bleu(statistics) == pytest.approx(60.6531, abs=1e-4)


def test_longer_reply_gets_no_bonus() -> None:
    # 4 of 6 words and 3 of 5 bigrams match: BLEU-1 is 100 * 4/6, BLEU-2 is 100 * sqrt(4/6 * 3/5) = 63.2456.
    statistics = added_up(words("a b c d x y", "a b c d"))
    assert corpus_bleu(statistics, 1) == pytest.approx(66.6667, abs=1e-4)
    assert corpus_bleu(statistics, 2) == pytest.approx(63.2456, abs=1e-4)


def test_repeated_words_are_clipped_to_the_reference_count() -> None:
    # "the" occurs three times and is clipped to one: 1 of 3. No bigram matches, so BLEU-2 to BLEU-4 are 0.
    statistics = added_up(words("the the the", "the cat"))
    assert statistics.matches == (1, 0, 0, 0)
    assert statistics.totals == (3, 2, 1, 0)
    assert avg_bleu(statistics) == pytest.approx(100 / 3 / 4)


def test_counts_are_summed_before_division() -> None:
    # Words: 2 of 2 and 0 of 1, so 2 of 3 together (the mean of the two replies' precisions would be 1/2).
    # Bigrams: 1 of 1. Lengths are equal: BLEU-1 = 66.6667, BLEU-2 = 100 * sqrt(2/3) = 81.6497.
    statistics = added_up(words("a b", "a b", "c", "d"))
    assert corpus_bleu(statistics, 1) == pytest.approx(66.6667, abs=1e-4)
    assert corpus_bleu(statistics, 2) == pytest.approx(81.6497, abs=1e-4)


def test_matching_is_case_sensitive() -> None:
    assert bleu_statistics(["Sorry"], ["sorry"]).matches == (0, 0, 0, 0)


def test_order_without_matches_is_zero_without_affecting_lower_orders() -> None:
    statistics = added_up(words("a b x", "b a x"))
    assert corpus_bleu(statistics, 1) == 100
    assert [corpus_bleu(statistics, order) for order in (2, 3, 4)] == [0, 0, 0]
    assert avg_bleu(statistics) == 25


def test_empty_reply_counts_only_towards_reference_length() -> None:
    assert bleu_statistics([], ["a", "b"]) == BleuStatistics((0, 0, 0, 0), (0, 0, 0, 0), 0, 2)
    assert avg_bleu(bleu_statistics([], ["a", "b"])) == 0
    # With "a b" for "a b": 2 of 2 words match, and the references have 4 tokens in all, not 2: exp(1 - 4/2) = 0.367879.
    statistics = bleu_statistics(["a", "b"], ["a", "b"]) + bleu_statistics([], ["c", "d"])
    assert corpus_bleu(statistics, 1) == pytest.approx(36.7879, abs=1e-4)


def test_empty_references_raise_error() -> None:
    nothing = bleu_statistics([], [])
    for compute in (avg_bleu, lambda statistics: corpus_bleu(statistics, 1), lambda s: AvgBleu(s, "re").value()):
        with pytest.raises(NotComputableError, match=r"^BLEU: all references are empty$"):
            compute(nothing)


# --- addition --------------------------------------------------------------------------------------------------------


@given(st.tuples(*[st.tuples(tokens, tokens)] * 3))
def test_addition_is_associative_and_commutative(pairs: tuple[tuple[list[str], list[str]], ...]) -> None:
    a, b, c = (bleu_statistics(*pair) for pair in pairs)
    assert (a + b) + c == a + (b + c) == c + b + a


def metrics_of(pairs: Iterable[tuple[list[str], list[str]]]) -> list[AvgBleu]:
    return [AvgBleu(bleu_statistics(*pair), tokens="re", pool="7-abc", split="test") for pair in pairs]


@given(pairs=corpora)
def test_metric_aggregates_to_corpus_value(pairs: Pairs) -> None:
    metrics = Metrics()
    for metric in metrics_of(pairs):
        metrics.add("avg_bleu", metric)
    total = metrics.report()["avg_bleu"]
    assert total.value() == pytest.approx(avg_bleu(added_up(pairs)))
    assert total.n == len(pairs)
    assert 0 <= total.value() <= 100 + 1e-9
    assert math.isclose(total.value(), sum(sacrebleus(pairs, order).score for order in ORDERS) / 4, abs_tol=1e-9)


def test_sums_of_metrics_count_all_replies() -> None:
    """As those that several workers, or several tasks, have accumulated."""
    first, second, third, fourth = metrics_of(words("a", "a", "b", "b", "c", "c", "d", "d"))
    assert ((first + second) + (third + fourth)).n == 4


def test_adding_none_returns_the_metric() -> None:
    (metric,) = metrics_of(words("a b", "a b"))
    assert (metric + None) is metric


def test_tasks_are_macro_averaged() -> None:
    assert metrics_of(words("a", "a"))[0].macro_average


def test_signature_lists_the_settings() -> None:
    first, second = metrics_of(words("a", "a", "b", "b"))
    assert (first + second).signature == (
        "AVG BLEU|orders:1-4|smoothing:none|case:kept|tokens:re|references:1|pool:7-abc|n:2|split:test"
        f"|version:{__version__}"
    )


def test_signature_of_generated_replies_names_the_decoding() -> None:
    first, second = (
        AvgBleu(bleu_statistics(*pair), tokens="peers", split="test", case="lower", decoding="beam,size=5")
        for pair in words("a", "a", "b", "b")
    )
    assert (first + second).signature == (
        "AVG BLEU|orders:1-4|smoothing:none|case:lower|tokens:peers|references:1|decoding:beam,size=5|n:2|split:test"
        f"|version:{__version__}"
    )
