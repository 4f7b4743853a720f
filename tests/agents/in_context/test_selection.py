"""Selection of examples, with vectors that can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agents.in_context.example_source import Conversation
from parlai_empathy.agents.in_context.selection import Query, Selector
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.encoders.sentence_encoder import Vectors

# Five conversations, with the angle of their vectors to the first axis in degrees.
DEGREES = {"a": 0, "b": 20, "c": 40, "d": 60, "e": 80}
EMOTIONS = {"a": "sad", "b": "proud", "c": "sad", "d": "proud", "e": "sad"}
CONVERSATIONS = [Conversation(name, EMOTIONS[name], f"about {name}", (f"{name}?", f"{name}!")) for name in DEGREES]


def encode(texts: Sequence[str]) -> Vectors:
    """Encode a text that ends in a number as a vector with that angle to the first axis, in degrees."""
    angles = np.deg2rad([float(text.split()[-1]) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def selector(selection: str, count: int = 2, **changes: Any) -> Selector:
    vectors = encode([str(degrees) for degrees in DEGREES.values()])
    return Selector(CONVERSATIONS, count, selection, **{"vectors": vectors, "encode": encode, **changes})


def names(made: Selector, *queries: Query) -> list[str]:
    return ["".join(example.conv_id for example in chosen.examples) for chosen in made.choose(queries)]


def test_most_similar_example_is_last() -> None:
    made = selector("context", 3)
    assert names(made, Query(("at 0",)), Query(("at 85",)), Query(("at 41",))) == ["cba", "cde", "bdc"]


def test_earlier_of_equally_similar_conversations_is_preferred() -> None:
    made = selector("context", vectors=encode(["50", "20", "50", "20", "50"]))
    assert names(made, Query(("at 20",)), Query(("at 50",))) == ["db", "ca"]


def test_conversation_is_not_its_own_example() -> None:
    assert names(selector("context"), Query(("at 0",), conv_id="a")) == ["cb"]
    assert names(selector("context", 9), Query(("at 0",), conv_id="a")) == ["edcb"]


def test_only_the_last_seven_turns_are_compared() -> None:
    """The data set's contexts have at most seven turns."""
    compared: list[str] = []

    def remembered(texts: Sequence[str]) -> Vectors:
        compared.extend(texts)
        return encode(texts)

    selector("context", encode=remembered).choose([Query(tuple(f"turn {n}" for n in range(1, 11)))])
    assert compared == ["\n".join(f"turn {n}" for n in range(4, 11))]


def test_sitsm_compares_situations() -> None:
    query = Query(("at 0",), situation="at 85", emotion="sad")
    assert names(selector("sitsm", oracle=True), query) == ["de"]


def test_emositsm_selects_only_the_true_emotion() -> None:
    query = Query(("at 0",), situation="at 85", emotion="proud")
    (chosen,) = selector("emositsm", oracle=True).choose([query])
    assert [example.conv_id for example in chosen.examples] == ["b", "d"]
    assert chosen.emotion == "proud"
    assert names(selector("emositsm", 3, oracle=True), query) == ["bd"]  # there are no more


def test_emositsm_without_oracle_predicts_emotion_and_compares_contexts() -> None:
    asked: list[str] = []

    def predict(texts: Sequence[str]) -> list[str]:
        asked.extend(texts)
        return ["sad" for _ in texts]

    made = selector("emositsm", predict=predict)
    # The situation and emotion of an oracle, unlike the classifier's prediction: both must be ignored.
    (chosen,) = made.choose([Query(("It was", "at 10"), situation="at 85", emotion="proud")])
    assert [example.conv_id for example in chosen.examples] == ["c", "a"]
    assert chosen.emotion == "sad"
    assert asked == ["It was\nat 10"]


@pytest.mark.parametrize(
    ("selection", "query", "missing"),
    [
        ("sitsm", Query(("at 0",), emotion="sad"), "situation"),
        ("emositsm", Query(("at 0",), situation="at 0"), "emotion"),
    ],
)
def test_missing_oracle_field_raises_option_error(selection: str, query: Query, missing: str) -> None:
    with pytest.raises(OptionError, match=f"--oracle true: a message of this task has no {missing}"):
        selector(selection, oracle=True).choose([query])


def test_no_queries_give_no_examples() -> None:
    assert selector("context").choose([]) == []


contexts = st.lists(st.text(max_size=5), min_size=1, max_size=6)


@given(contexts, st.integers(1, 6), st.integers(0, 3))
def test_random_examples_do_not_depend_on_order_or_batch(texts: list[str], count: int, seed: int) -> None:
    made = Selector(CONVERSATIONS, count, "random", seed=seed)
    queries = [Query((text,), conv_id="c") for text in texts]
    together = names(made, *queries)
    assert together == [names(made, query)[0] for query in queries]
    assert together == list(reversed(names(made, *reversed(queries))))
    for chosen in together:
        assert len(set(chosen)) == len(chosen) == min(count, 4)  # four remain, because c is the query
        assert set(chosen) <= set("abde")


def test_random_examples_differ_by_query_and_seed() -> None:
    drawn = [
        names(Selector(CONVERSATIONS, 2, "random", seed=seed), Query((f"{n}",)))[0]
        for seed in (1, 2)
        for n in range(50)
    ]
    assert drawn[:50] != drawn[50:]
    assert len(set(drawn[:50])) > 10  # of 20 ordered pairs


def test_random_examples_depend_on_the_turns_before_the_last() -> None:
    made = Selector(CONVERSATIONS, 2, "random")
    assert len(set(names(made, *(Query((f"{n}", "Thank you.")) for n in range(50))))) > 10
