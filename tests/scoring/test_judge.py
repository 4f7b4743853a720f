"""The check of lengths shared by all judges."""

from __future__ import annotations

import re

import pytest

from parlai_empathy.errors import NotComputableError
from parlai_empathy.scoring.judge import Texts, check_lengths


@pytest.mark.parametrize("references", [None, [["a"], ["b", "c"]], [("a",), ()]])
def test_matching_lengths_are_accepted(references: Texts | None) -> None:
    check_lengths([["hello", "hi"], []], ["how are you?", ""], references)


@pytest.mark.parametrize(
    ("contexts", "replies", "references", "message"),
    [
        ([], [], None, "no list of replies to score: give one with at least one reply"),
        ([["a"]], "b", None, "no list of replies to score: give one with at least one reply"),
        ([["a"]], ["b", "c"], None, "1 x context for 2 replies: give one for each reply"),
        ([["a"], ["b"]], ["c"], None, "2 x context for 1 replies: give one for each reply"),
        ([["a"]], ["b"], [], "0 x list of references for 1 replies: give one for each reply"),
        ([["a"], "b"], ["c", "d"], None, "item 1, counted from 0: the context is one text: give a list of texts"),
        ([["a"]], ["b"], ["c"], "item 0, counted from 0: the list of references is one text: give a list of texts"),
    ],
)
def test_mismatched_lengths_raise(contexts: Texts, replies: list[str], references: Texts | None, message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        check_lengths(contexts, replies, references)
