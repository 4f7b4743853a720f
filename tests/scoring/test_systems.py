"""The systems of a log, replies to the same items, and metrics that cannot be computed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import EmpathyError, MissingDependencyError, NotComputableError, OptionError
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.scored import Scored, scored
from parlai_empathy.scoring.systems import (
    System,
    common_items,
    note_on_matches,
    score_systems,
    systems_of,
    systems_of_logs,
)
from parlai_empathy.scoring.word_metrics import Length, Variety, Words


def replies(*texts: str) -> list[LoggedReply]:
    return list(map(LoggedReply, texts))


# --- the systems of a log --------------------------------------------------------------------------------------------


def test_single_system_is_named_after_its_log() -> None:
    (system,) = systems_of("log", replies("a", " ", ""))
    assert (system.name, len(system.replies), system.empty, system.no_answers) == ("log", 3, 2, 0)


def test_systems_are_in_order_of_first_reply() -> None:
    log = [LoggedReply("a b", system="MOE"), LoggedReply("c", system="trs"), LoggedReply("d", system="MOE")]
    assert [(one.name, [reply.reply for reply in one.replies]) for one in systems_of("log", log)] == [
        ("log: MOE", ["a b", "d"]),
        ("log: trs", ["c"]),
    ]


def test_log_with_partly_named_systems_raises() -> None:
    with pytest.raises(OptionError, match=r"^--logs log: some of its replies name their system, others do not$"):
        systems_of("log", [LoggedReply("a", system="MOE"), LoggedReply("b")])


@pytest.mark.parametrize("name", ["A: B", "A:  B"])
def test_two_systems_with_the_same_name_in_tables_raise(name: str) -> None:
    logs = {"A": [LoggedReply("a", system="B")], name: replies("b")}
    with pytest.raises(OptionError, match=r"^--logs: 2 systems are called A: B: give a log or a system another name$"):
        systems_of_logs(logs)
    assert [one.name for one in systems_of_logs({"A": logs["A"], "B": logs[name]})] == ["A: B", "B"]


def test_missing_answers_are_counted_and_keep_their_position() -> None:
    log = [LoggedReply("a"), LoggedReply("half of", no_answer="time-out"), LoggedReply(""), LoggedReply("d")]
    (system,) = systems_of("log", log)
    assert [one.reply for one in system.replies] == ["a", "", "d"]
    assert (system.no_answers, system.empty) == (1, 1), "an empty reply is a reply"
    assert [system.place(reply) for reply in range(3)] == [0, 2, 3]
    assert System("s", system.replies).place(2) == 2


def test_system_without_answers_raises() -> None:
    log = [LoggedReply("a", system="x"), LoggedReply("", system="y", no_answer="time-out")]
    with pytest.raises(NotComputableError, match=r"^log: y: there is no reply to score: no answer could be used$"):
        systems_of("log", log)


# --- scores ----------------------------------------------------------------------------------------------------------


class Fails:
    """A metric that raises the given error."""

    def __init__(self, error: EmpathyError) -> None:
        self._error = error

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        raise self._error


class Counts:
    """Count the replies, without a value for each."""

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        return [scored("replies", "Replies", [len(replies)], {})]


def test_each_system_gets_numbers_of_each_metric() -> None:
    systems = [System("a", replies("x y", "x")), System("b", replies("z"))]
    first, second = score_systems(systems, {"length": Length(Words()), "count": Counts()})
    assert (first.name, first.system) == ("a", systems[0])
    assert (first.numbers, second.numbers) == ({"words": 1.5, "replies": 2}, {"words": 1, "replies": 1})
    assert first.scores["words"].items == (2, 1)
    assert first.missing == second.missing == []


def test_failed_metric_leaves_a_reason() -> None:
    systems = [System("a", replies("")), System("b", replies("z"))]
    library = Fails(MissingDependencyError("this needs that"))
    first, second = score_systems(systems, {"library": library, "distinct": Variety(Words()), "count": Counts()})
    assert first.missing == ["this needs that", "Dist-n: no reply has a word"]
    assert second.missing == ["this needs that"]
    assert list(first.numbers) == ["replies"]
    assert list(second.numbers) == ["dist_1", "dist_1_reply", "replies"]


def test_option_error_of_a_metric_propagates() -> None:
    with pytest.raises(OptionError, match=r"^--this$"):
        score_systems([System("a", replies("x"))], {"m": Fails(OptionError("--this"))})


# --- the same items --------------------------------------------------------------------------------------------------


def asked(*contexts: str, reference: str = "") -> System:
    return System("s", [LoggedReply("r", (one,), (reference,) if reference else ()) for one in contexts])


def test_common_items_match_on_context_and_references() -> None:
    assert common_items(asked("a", "b", "c"), asked("c", "d", "a")) == [(0, 2), (2, 0)]
    assert common_items(asked("a", reference="x"), asked("a", reference="y")) == []


def test_items_match_on_what_both_logs_have() -> None:
    assert common_items(asked("a", "b", reference="x"), asked("b", "a")) == [(0, 1), (1, 0)]
    partly = System("s", [LoggedReply("r", ("a",), ("x",)), LoggedReply("r", ("b",))])
    assert common_items(partly, asked("b", "a", reference="x")) == [(0, 1), (1, 0)]
    named = System("s", [LoggedReply("r", ("a",), item="1"), LoggedReply("r", ("b",), item="2")])
    assert common_items(named, System("s", [LoggedReply("r", item="2"), LoggedReply("r", item="1")])) == [
        (0, 1),
        (1, 0),
    ]
    questions = [System("s", [LoggedReply("r", (), (one,)) for one in texts]) for texts in ("xy", "yx")]
    assert common_items(*questions) == [(0, 1), (1, 0)]


def test_logs_without_items_in_common_get_a_note() -> None:
    """Contexts say what is answered, so their order in the log says nothing."""
    unnamed = System("t", replies("x", "y"))
    assert common_items(asked("a", "b"), unnamed) == []
    note = "no item in common with s: contexts and references must be alike in both logs, or items if they lack those"
    assert note_on_matches(asked("a", "b"), unnamed) == note
    assert note_on_matches(asked("a", reference="x"), asked("a", reference="y")) == note, "references count too"
    assert note_on_matches(asked("a"), asked("a", "b")) is None


def test_repeated_items_are_paired_in_order() -> None:
    assert common_items(asked("a", "b", "a", "a"), asked("a", "a", "b")) == [(0, 0), (1, 2), (2, 1)]


def test_items_without_context_and_references_are_paired_by_name() -> None:
    a, b = (System("s", [LoggedReply("r", item=item) for item in items]) for items in (["1", "2", "3"], ["3", "1"]))
    assert common_items(a, b) == [(0, 1), (2, 0)]
    assert common_items(a, System("s", replies("x", "y", "z"))) == []
    assert note_on_matches(a, b) is None
    assert "no item in common" in (note_on_matches(a, System("s", replies("x", "y", "z"))) or "")


def test_reply_without_context_does_not_keep_the_others_from_matching_on_references() -> None:
    alone = LoggedReply("r", item="1")
    first, second = (
        System("s", [alone, *(LoggedReply("r", ("a",), (text,)) for text in texts)]) for texts in ("xy", "yx")
    )
    assert common_items(first, second) == [(0, 0), (1, 2), (2, 1)]


def test_items_without_anything_are_paired_by_position() -> None:
    first, second = System("a", replies("x", "y")), System("b", replies("p", "q"))
    assert common_items(first, second) == [(0, 0), (1, 1)]
    assert (
        note_on_matches(first, second)
        == "replies without context, reference and item are paired by their place in the logs"
    )
    assert common_items(System("a", replies("x")), asked("a")) == []


def test_logs_of_different_lengths_are_not_paired_by_position() -> None:
    first, second = System("a", replies("x", "y", "z")), System("b", replies("p", "q"))
    assert common_items(first, second) == []
    note = note_on_matches(first, second)
    assert note is not None
    assert note.endswith("are not compared, since the logs have 3 and 2: add one of the three")
    named = [LoggedReply("r", item="1")]
    assert common_items(System("a", [*named, *replies("x", "y")]), System("b", [*replies("p"), *named])) == [(0, 1)]


def test_given_items_are_compared_in_place_of_contexts() -> None:
    """People's replies have no references, but answer the same items as the others."""
    people = System("people", [LoggedReply("r"), LoggedReply("s", ("b",))], items=[(("a",), ("r",)), "b"])
    assert common_items(people, asked("b", "a", reference="r")) == [(0, 1)]
    partly = System("s", [LoggedReply("r", ("b",)), LoggedReply("r", ("a",), ("r",))])
    assert common_items(people, partly) == [(0, 1)]
    people.replies[1] = LoggedReply("s")
    assert common_items(people, partly) == [(0, 1)], "a system's own contexts do not matter if its items are given"


def test_positions_include_missing_answers() -> None:
    broken = [LoggedReply("a"), LoggedReply("", no_answer="time-out"), LoggedReply("c"), LoggedReply("d")]
    (first,), (second,) = systems_of("first", broken), systems_of("second", replies("p", "q", "r", "s"))
    assert [(first.replies[i].reply, second.replies[j].reply) for i, j in common_items(first, second)] == [
        ("a", "p"),
        ("c", "r"),
        ("d", "s"),
    ]


contexts = st.lists(st.sampled_from("abc"), max_size=6)


@given(contexts, contexts)
def test_common_items_is_a_maximum_matching(one: list[str], other: list[str]) -> None:
    pairs = common_items(asked(*one), asked(*other))
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(len(set(places)) == len(pairs) for places in zip(*pairs, strict=True))
    assert len(pairs) == sum(min(one.count(context), other.count(context)) for context in "abc")
    assert [(j, i) for i, j in pairs] == sorted(common_items(asked(*other), asked(*one)), key=lambda pair: pair[1])
