"""Reading Predictive Engagement's tables of labelled pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.convai import Labelled
from parlai_empathy.tasks.engagement.labelled import read_labelled
from parlai_empathy.tasks.engagement.sets import SAMPLE

OneLine = Callable[..., None]


def test_both_layouts_are_read(tmp_path: Path) -> None:
    (tmp_path / "rated.csv").write_text('id,query,reply,label\n0,"Hi , you",Yes .,1\n1,Where ?,,0\n')
    (tmp_path / "tuned.csv").write_text('id,query,reply,label,reply_len,x\n9,"Hi .\n","Yes .\n",0,2,2\n')
    assert list(read_labelled(tmp_path / "rated.csv")) == [
        Labelled("Hi , you", "Yes .", "1"),
        Labelled("Where ?", "", "0"),
    ]
    assert list(read_labelled(tmp_path / "tuned.csv")) == [Labelled("Hi .", "Yes .", "0")]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("id,query,reply,label\n0,a,b,2\n", ["line 2", "column label", "'2'"]),
        ("id,query,reply\n0,a,b\n", ["line 2", "label", "id, query, reply"]),
    ],
)
def test_invalid_table_error_names_the_line(
    tmp_path: Path, assert_one_line: OneLine, content: str, parts: list[str]
) -> None:
    (path := tmp_path / "rated.csv").write_text(content)
    with pytest.raises(DataError) as caught:
        list(read_labelled(path))
    assert_one_line(caught.value, path, *parts)


def test_sample_sizes() -> None:
    sizes = [len(list(read_labelled(SAMPLE / f"DD_finetune_{fold}.csv"))) for fold in ("train", "valid")]
    assert sizes == [12, 4]
