"""Dist-n against counts derived here, and how it adds up."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.metrics import Metrics

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.distinct import Distinct, distinct, distinct_of_one

replies_of_words = st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=8)


def test_distinct_is_computed_over_the_whole_corpus() -> None:
    # Words: a b a, a b: 2 distinct of 5. Bigrams: ab ba, ab: 2 distinct of 3.
    replies = [["a", "b", "a"], ["a", "b"]]
    assert distinct(replies, 1) == pytest.approx(40)
    assert distinct(replies, 2) == pytest.approx(200 / 3)


def test_bigrams_do_not_cross_replies() -> None:
    assert distinct([["a", "b"], ["c", "d"]], 2) == 100
    assert distinct([["a"], ["a", "b"], []], 2) == 100


@pytest.mark.parametrize("replies", [[], [[]], [["a"], ["b"]]])
def test_replies_without_bigrams_raise_error(replies: list[list[str]]) -> None:
    with pytest.raises(NotComputableError, match=r"^Dist-2: no reply has 2 token\(s\)$"):
        distinct(replies, 2)


def test_distinct_of_one_matches_hand_calculation() -> None:
    # Words: a and b, of 3. Bigrams: ab and ba, of 2. There is no 4-gram.
    assert [distinct_of_one(["a", "b", "a"], order) for order in (1, 2, 3, 4)] == [pytest.approx(2 / 3), 1, 1, None]
    assert distinct_of_one(["a", "a", "a"], 2) == 0.5
    assert distinct_of_one([], 1) is None


@given(st.lists(st.sampled_from("abc"), max_size=6), st.integers(1, 3))
def test_distinct_of_one_matches_corpus_of_one_reply(reply: list[str], order: int) -> None:
    found = distinct_of_one(reply, order)
    if len(reply) < order:
        assert found is None
    else:
        assert found == pytest.approx(distinct([reply], order) / 100)


@given(replies_of_words, st.integers(1, 2))
def test_repeating_all_replies_halves_distinct(replies: list[list[str]], order: int) -> None:
    if max(map(len, replies)) < order:
        return
    once = distinct(replies, order)
    assert 0 < once <= 100
    assert distinct(replies * 2, order) == pytest.approx(once / 2)


@given(replies_of_words, st.integers(1, 2))
def test_metric_aggregates_to_corpus_value(replies: list[list[str]], order: int) -> None:
    if max(map(len, replies)) < order:
        return
    metrics = Metrics()
    for reply in replies:
        metrics.add("dist", Distinct(order, [reply], tokens="re"))
    assert metrics.report()["dist"].value() == pytest.approx(distinct(replies, order))


def test_metric_without_bigrams_is_nan_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr("parlai_empathy.metrics.distinct.warn_once", warned.append)
    assert math.isnan(Distinct(2, [["a"]], tokens="re").value())
    assert warned == ["Dist-2: no reply has 2 token(s)"]


def test_adding_keeps_settings_in_signature() -> None:
    first, second = (Distinct(2, [reply.split()], "peers", "greedy", "test") for reply in ("a b", "c d"))
    total = first + second
    assert total + None is total
    assert total.macro_average
    assert total.signature == (f"Dist-2|level:corpus|tokens:peers|decoding:greedy|n:2|split:test|version:{__version__}")
