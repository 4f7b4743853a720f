"""Reading a crowd's link."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.entry import Entry, check_id_parameter, entry_of, may_enter

MTURK = {
    "assignmentId": "3A123",
    "hitId": "3H456",
    "workerId": "A1WORKER",
    "turkSubmitTo": "https://workersandbox.mturk.com",
}
PROLIFIC = {"PROLIFIC_PID": "5f00aa", "STUDY_ID": "60aa", "SESSION_ID": "61bb"}


def test_mturk_link_gives_entry() -> None:
    assert entry_of(MTURK) == Entry(
        "mturk",
        "mturk:A1WORKER",
        "3A123",
        "https://workersandbox.mturk.com/mturk/externalSubmit",
        {"crowd": "mturk", "worker": "A1WORKER", "ticket": "3A123", "hit": "3H456"},
    )


def test_mturk_preview_has_no_rater() -> None:
    # In a preview Mechanical Turk sends neither workerId nor turkSubmitTo.
    entry = entry_of({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3H456"})
    assert entry is not None
    assert entry.is_preview
    assert entry.rater == ""


def test_prolific_link_gives_entry() -> None:
    entry = entry_of(PROLIFIC)
    assert entry is not None
    assert (entry.crowd, entry.rater, entry.ticket) == ("prolific", "prolific:5f00aa", "61bb")
    assert entry.details["study"] == "60aa"
    assert not entry.is_preview


def test_custom_id_parameter_gives_entry() -> None:
    entry = entry_of({"participant": "p-7"}, "participant")
    assert entry == Entry("link", "link:p-7", details={"crowd": "link", "worker": "p-7"})
    assert entry_of({"participant": "p-7"}) is None
    assert entry_of({}, "participant") is None


def test_rater_names_differ_between_crowds() -> None:
    raters = {
        entry.rater
        for entry in (
            entry_of({**MTURK, "workerId": "x"}),
            entry_of({**PROLIFIC, "PROLIFIC_PID": "x"}),
            entry_of({"who": "x"}, "who"),
        )
        if entry
    }
    assert len(raters) == 3


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"assignmentId": ""}, "assignmentId"),
        ({"workerId": "a b"}, "workerId"),
        ({"workerId": "x" * 81}, "workerId"),
        ({"hitId": "<script>"}, "hitId"),
        ({"turkSubmitTo": "https://evil.example"}, "turkSubmitTo"),
    ],
)
def test_invalid_mturk_link_raises_option_error_without_ids(changes: dict[str, str], wrong: str) -> None:
    with pytest.raises(OptionError, match=wrong) as raised:
        entry_of({**MTURK, **changes})
    assert not any(value and value in str(raised.value) for value in changes.values())  # the message names no id


@pytest.mark.parametrize("missing", ["workerId", "turkSubmitTo"])
def test_missing_mturk_parameter_raises_option_error(missing: str) -> None:
    with pytest.raises(OptionError, match=missing):
        entry_of({key: value for key, value in MTURK.items() if key != missing})


def test_unfilled_prolific_placeholder_raises_option_error() -> None:
    with pytest.raises(OptionError, match="PROLIFIC_PID of this link is missing or invalid"):
        entry_of({**PROLIFIC, "PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})


@given(st.dictionaries(st.sampled_from([*MTURK, *PROLIFIC, "who"]), st.text(max_size=90)))
def test_arbitrary_link_gives_entry_none_or_one_line_error(query: dict[str, str]) -> None:
    entry: Entry | str | None
    try:
        entry = entry_of(query, "who")
    except OptionError as error:
        entry = str(error)
    if isinstance(entry, str):
        assert "\n" not in entry
    elif entry is not None and not entry.is_preview:
        assert entry.rater.split(":")[0] == entry.crowd


def test_worker_may_reenter_only_with_same_assignment() -> None:
    entry, other = entry_of(MTURK), entry_of({**MTURK, "assignmentId": "3OTHER"})
    assert entry is not None
    assert other is not None
    assert may_enter(entry, None)
    assert may_enter(entry, entry.details)
    assert not may_enter(other, entry.details)


def test_link_without_ticket_cannot_enter_as_rater_with_ticket() -> None:
    link = entry_of({"who": "x"}, "who")
    assert link is not None
    assert may_enter(link, link.details)
    assert not may_enter(link, {"ticket": "3A"})


@pytest.mark.parametrize("name", ["", "a b", "1st", "x&y", "workerId", "PROLIFIC_PID", "x" * 41])
def test_invalid_id_parameter_raises_option_error(name: str) -> None:
    with pytest.raises(OptionError, match="--id-parameter"):
        check_id_parameter(name)


def test_valid_id_parameter_is_accepted() -> None:
    name: Any = "participant_id"
    assert check_id_parameter(name) == name
