"""The base class of teachers of small data sets, tested with an invented teacher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.tasks import in_memory_teacher
from parlai_empathy.tasks.in_memory_teacher import WholeTeacher


class Toy(WholeTeacher):
    """Gives the lines of a file as texts, and its fold as their label."""

    title = "Toys"

    @staticmethod
    def build(opt: dict[str, Any]) -> Path:
        """Return the file that the test wrote."""
        return Path(opt["datapath"]) / f"{opt['edition']}.txt"

    def setup_data(self, datafile: str) -> Iterator[tuple[dict[str, Any], bool]]:
        for line in Path(datafile).read_text().splitlines():
            yield {"text": line, "labels": [self.fold]}, True


@pytest.fixture
def opt(tmp_path: Path) -> Opt:
    (tmp_path / "sample.txt").write_text("one\ntwo\n")
    return Opt({"datapath": str(tmp_path), "edition": "sample", "datatype": "train:stream", "task": "toys"})


def test_streamed_data_are_read_whole_and_nothing_is_left_beside_them(opt: Opt, tmp_path: Path) -> None:
    teacher = Toy(opt)
    assert (teacher.num_examples(), teacher.fold) == (2, "train")
    assert [path.name for path in tmp_path.iterdir()] == ["sample.txt"]


def test_the_options_it_was_given_stay_as_they_are(opt: Opt) -> None:
    before = dict(opt)
    Toy(opt)
    assert dict(opt) == before


@pytest.mark.parametrize(
    ("task", "size"),
    [
        ("daily_dialog", 173 - 36),
        ("empathetic_intents", 36),
        ("epitome", 110),
        ("go_emotions", 130),
        ("newsgroups", 61),
        ("red", 84),
    ],
)
def test_a_streamed_sample_is_read_whole_and_nothing_is_left_beside_it(
    load_teacher: Callable[..., Any], task: str, size: int
) -> None:
    sample = Path(in_memory_teacher.__file__).parent / task / "sample"
    before = sorted(sample.rglob("*"))
    assert load_teacher(f"empathy:{task}", "train:stream", edition="sample").num_examples() == size
    assert sorted(sample.rglob("*")) == before != []


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_the_fold_is_the_datatypes(opt: Opt, fold: str) -> None:
    teacher = Toy(Opt({**opt, "datatype": fold}))
    assert list(teacher.act()["eval_labels"]) == [fold]


def test_its_only_option_is_the_edition() -> None:
    parser = ParlaiParser(False, False)
    before = {action.dest for action in parser._actions}
    Toy.add_cmdline_args(parser)
    group = next(group for group in parser._action_groups if group.title == "Toys")
    assert [action.dest for action in group._group_actions] == ["edition"]
    assert "edition" not in before


def test_a_subclass_has_its_options_in_the_same_group() -> None:
    class Chosen(Toy):
        @classmethod
        def add_options(cls, group: Any) -> None:
            super().add_options(group)
            group.add_argument("--colour")

    parser = ParlaiParser(False, False)
    Chosen.add_cmdline_args(parser)
    (group,) = (group for group in parser._action_groups if group.title == "Toys")
    assert [action.dest for action in group._group_actions] == ["edition", "colour"]
