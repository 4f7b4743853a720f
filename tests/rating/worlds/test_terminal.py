"""What somebody types in a terminal."""

from __future__ import annotations

import io

import pytest

from parlai_empathy.rating.study.questions import FreeText
from parlai_empathy.rating.worlds.interview import Interview
from parlai_empathy.rating.worlds.terminal import TerminalRater


def test_input_that_is_not_utf8_is_an_invalid_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = io.TextIOWrapper(io.BytesIO(b"J\xfcrgen\nJ\xc3\xbcrgen\n"), encoding="utf-8", errors="strict")
    monkeypatch.setattr("sys.stdin", typed)
    rater, interview = TerminalRater({}), Interview([FreeText("who", "Who?")])
    assert "contains half a character" in interview.hear(rater.act()["text"])
    assert interview.hear(rater.act()["text"]) == ""
    assert interview.answers == {"who": "Jürgen"}
    assert rater.act()["episode_done"] is True
