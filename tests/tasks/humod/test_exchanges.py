"""Contexts with all their replies, and the dialogues recombined from them, checked by hand and by counting."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.humod.exchanges import Exchange, alternatives, choices, exchanges, recombine
from parlai_empathy.tasks.humod.records import Pair


def pair(context: str, reply: str, is_original: bool = True, human: str = "") -> Pair:
    """Return a pair; bars separate the turns of the context, and the human replies."""
    turns, replies = tuple(context.split("|")), tuple(human.split("|")) if human else ()
    return Pair(f"{context} {reply}", turns, reply, is_original, (), None, replies)


# --- exchanges -------------------------------------------------------------------------------------------------------


def test_original_and_random_pair_form_one_exchange() -> None:
    original, other = pair("a|b", "c", human="x|y|z"), pair("a|b", "d", False, human="u|v|x")
    assert exchanges([original, other]) == [Exchange(("a", "b"), original, other)]
    assert exchanges([other, original]) == [Exchange(("a", "b"), original, other)]


def test_exchanges_keep_file_order() -> None:
    found = exchanges([pair("b", "1"), pair("a", "2", False), pair("a", "3"), pair("c", "4")])
    assert [exchange.context for exchange in found] == [("b",), ("a",), ("c",)]


def test_exchange_may_lack_one_pair() -> None:
    original, other = pair("a", "1"), pair("b", "2", False)
    assert exchanges([original, other]) == [Exchange(("a",), original, None), Exchange(("b",), None, other)]
    assert exchanges([]) == []


def test_repeated_context_gives_two_exchanges() -> None:
    """Wherever they occur, the first original reply is paired with the first random one."""
    one, two, three = pair("a", "1"), pair("a", "2", False), pair("a", "3")
    assert exchanges([one, two, pair("b", "9"), three]) == [
        Exchange(("a",), one, two),
        Exchange(("a",), three, None),
        Exchange(("b",), pair("b", "9"), None),
    ]


def test_human_replies_are_unique_and_nonempty() -> None:
    exchange = Exchange(("a",), pair("a", "1", human="x||y"), pair("a", "2", False, human="y|z|x"))
    assert exchange.human_replies == ["x", "y", "z"]
    assert Exchange(("a",), None, pair("a", "2", False, human="y")).human_replies == ["y"]
    assert Exchange(("a",), pair("a", "1"), None).human_replies == []


def test_alternatives_of_repeated_contexts_are_merged() -> None:
    pairs = [pair("a", "1", human="x|y"), pair("b", "2", human="u"), pair("a", "3", human="y|z")]
    assert alternatives(exchanges(pairs)) == {("a",): ["x", "y", "z"], ("b",): ["u"]}


# --- choices ---------------------------------------------------------------------------------------------------------


def test_turn_has_choices_where_preceding_turns_are_a_context() -> None:
    """For the dialogue a, b, c, d the data have human replies after ``a`` and after ``a b c``, not after ``a b``."""
    whole = exchanges([pair("a", "b", human="b1|b2"), pair("a|b|c", "d", human="d1|d"), pair("x|b", "c", human="c1")])
    assert choices(whole[1], alternatives(whole)) == [["a"], ["b", "b1", "b2"], ["c"], ["d", "d1"]]


def test_choices_ignore_contexts_containing_human_replies() -> None:
    """Human replies to ``a b1`` are no choices for a dialogue that begins with ``a b``."""
    whole = exchanges([pair("a", "b", human="b1"), pair("a|b1", "c", human="c1"), pair("a|b", "d")])
    assert choices(whole[2], alternatives(whole)) == [["a"], ["b", "b1"], ["d"]]


def test_choices_without_original_reply_or_alternatives() -> None:
    exchange = Exchange(("a", "b"), None, pair("a|b", "c", False, human="x"))
    assert choices(exchange, {("a", "b"): ["x"]}) == [["a"], ["b"]]
    assert choices(Exchange(("a",), pair("a", "b"), None), {}) == [["a"], ["b"]]


# --- recombination ---------------------------------------------------------------------------------------------------


def test_recombine_gives_all_125_dialogues_of_paper_example() -> None:
    """Figure 4: three turns with five choices each give 125 dialogues."""
    turns = [[f"{turn}{reply}" for reply in range(5)] for turn in "abc"]
    found = recombine(turns, 125)
    assert len(set(found)) == len(found) == 125
    assert set(found) == set(product(*turns))
    assert recombine(turns, 1000) == found == list(product(*turns))


@pytest.mark.parametrize("limit", [1, 7, 124])
def test_recombine_stops_at_limit_without_duplicates(limit: int) -> None:
    turns = [[f"{turn}{reply}" for reply in range(5)] for turn in "abc"]
    found = recombine(turns, limit, "seed")
    assert len(set(found)) == len(found) == limit
    assert set(found) < set(product(*turns))


def test_recombine_depends_only_on_seed() -> None:
    turns = [[f"{turn}{reply}" for reply in range(6)] for turn in range(7)]
    assert recombine(turns, 10, "a") == recombine(turns, 10, "a")
    assert set(recombine(turns, 10, "a")) != set(recombine(turns, 10, "b"))


def test_recombine_samples_dialogues_uniformly() -> None:
    """Each of 200 seeds draws half of the eight dialogues: each is drawn about 100 times (standard deviation 7)."""
    turns = [["a", "A"], ["b", "B"], ["c", "C"]]
    drawn = [one for seed in range(200) for one in recombine(turns, 4, str(seed))]
    assert all(65 <= drawn.count(one) <= 135 for one in product(*turns))


def test_recombine_handles_more_than_2_to_the_64_dialogues() -> None:
    turns = [[f"{turn} {reply}" for reply in range(7)] for turn in range(40)]  # 7 to the power of 40
    found = recombine(turns, 50, "seed")
    assert len(set(found)) == 50
    assert all(text in texts for dialogue in found for text, texts in zip(dialogue, turns, strict=True))
    assert len({dialogue[0] for dialogue in found}) == 7


def test_recombine_without_alternatives_returns_the_dialogue() -> None:
    assert recombine([["a"], ["b"]], 5) == [("a", "b")]


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    limit=st.integers(1, 300),
    seed=st.text(max_size=3),
)
def test_recombine_count_is_minimum_of_limit_and_combinations(sizes: list[int], limit: int, seed: str) -> None:
    turns = [[f"{turn}.{choice}" for choice in range(size)] for turn, size in enumerate(sizes)]
    found = recombine(turns, limit, seed)
    assert len(set(found)) == len(found) == min(limit, prod(sizes))
    assert set(found) <= set(product(*turns))
