"""F1 of rationales: by hand, and compared with scikit-learn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.rationale_f1 import iou_f1, runs, token_f1

_MARKS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20).filter(
    lambda marks: any(true for _, true in marks)
)


def marks(text: str) -> list[bool]:
    return [letter == "x" for letter in text]


@given(_MARKS)
def test_token_f1_matches_scikit_learn(both: list[tuple[bool, bool]]) -> None:
    chosen, true = zip(*both, strict=True)
    assert token_f1(chosen, true) == pytest.approx(f1_score(true, chosen))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", []), ("..", []), ("x", [(0, 1)]), (".xx.x", [(1, 3), (4, 5)]), ("xx", [(0, 2)])],
)
def test_runs_find_consecutive_marks(text: str, expected: list[tuple[int, int]]) -> None:
    assert runs(marks(text)) == expected


@pytest.mark.parametrize(
    ("chosen", "true", "expected"),
    [
        ("xx..", "xx..", 1.0),
        ("x...", "xx..", 1.0),  # 1 of 2 tokens is half of the union
        ("x...", "xxx.", 0.0),  # 1 of 3 is not
        (".xxx", "xxx.", 1.0),  # 2 of 4
        ("....", "xx..", 0.0),
        ("xx.xx", "xx...", 2 / 3),  # precision 1/2, recall 1
        ("xx...", "xx.xx", 2 / 3),  # precision 1, recall 1/2
        ("x.x.", "xxx.", 0.0),  # each span is a third of the union
    ],
)
def test_iou_f1_counts_spans_with_half_overlap(chosen: str, true: str, expected: float) -> None:
    assert iou_f1(marks(chosen), marks(true)) == pytest.approx(expected)


@given(_MARKS)
def test_exact_rationale_has_f1_of_one(both: list[tuple[bool, bool]]) -> None:
    _, true = zip(*both, strict=True)
    assert iou_f1(true, true) == token_f1(true, true) == 1.0


@pytest.mark.parametrize("measure", [token_f1, iou_f1])
def test_unmarked_or_unequal_tokens_raise_error(measure: object) -> None:
    with pytest.raises(NotComputableError, match="raters marked no word"):
        measure([True], [False])  # type: ignore[operator]
    with pytest.raises(NotComputableError, match="of 1 and 2 tokens"):
        measure([True], [True, False])  # type: ignore[operator]
