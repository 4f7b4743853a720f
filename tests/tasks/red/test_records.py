"""Rows with RED's own columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.red.records import COLUMNS, DIMENSIONS, RedPost, post_of

OneLine = Callable[..., None]

ROW: dict[str, Any] = {
    "post": "Goats,\neverywhere!",
    "parent": "What  now?",
    "label": "engaging",
    "fold": "train",
    "subreddit": "goats",
    "source": "reaction",
    **{f"{name}_norm": 0.25 * place for place, name in enumerate(DIMENSIONS)},
    "engagement": 0.6,
}
NO_SCORES = dict.fromkeys([name for name in COLUMNS if name.endswith("_norm") or name == "engagement"])


def test_row_becomes_a_post() -> None:
    assert post_of({**ROW, "z": 2.0, "id": "t1_x"}, "here") == RedPost(
        "Goats, everywhere!",
        "What now?",
        "engaging",
        "train",
        "reaction",
        "goats",
        0.6,
        {"ee": 0.0, "ae": 0.25, "be": 0.5, "re": 0.75},
    )


def test_numbers_may_be_strings() -> None:
    assert post_of({**ROW, "engagement": "0.6", "ee_norm": "0"}, "here") == post_of(ROW, "here")


@pytest.mark.parametrize("nothing", [None, "", float("nan")])
def test_unmeasured_dimension_is_left_out(nothing: object) -> None:
    assert set(post_of({**ROW, "ee_norm": nothing}, "here").dimensions) == {"ae", "be", "re"}


def test_negative_sample_may_lack_scores_and_text() -> None:
    found = post_of({**ROW, **NO_SCORES, "source": "deletion", "post": "", "label": "not engaging"}, "here")
    assert (found.text, found.engagement, found.dimensions) == ("", None, {})


@pytest.mark.parametrize("missing", COLUMNS)
def test_missing_column_error_names_the_column(assert_one_line: OneLine, missing: str) -> None:
    with pytest.raises(DataError) as caught:
        post_of({name: value for name, value in ROW.items() if name != missing}, "file, row 3")
    assert_one_line(caught.value, "file, row 3", f"the column {missing} is missing", "curate_red")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("post", ""),
        ("post", None),
        ("post", 5),
        ("post", "goat\ud83d"),
        ("source", ""),
        ("label", "boring"),
        ("label", None),
        ("fold", "dev"),
        ("parent", ["What?"]),
        ("ee_norm", 1.5),
        ("re_norm", "high"),
        ("engagement", None),
        ("engagement", -0.1),
        ("engagement", float("inf")),
    ],
)
def test_invalid_value_error_names_the_column(assert_one_line: OneLine, column: str, value: object) -> None:
    with pytest.raises(DataError) as caught:
        post_of({**ROW, column: value}, "file, row 3")
    assert_one_line(caught.value, f"file, row 3, column {column}")
