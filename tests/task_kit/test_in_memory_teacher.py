"""The base class of teachers of small data sets, tested with an invented teacher."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from teachers import load_teacher

from parlai_empathy import tasks
from parlai_empathy.errors import DataError
from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher


class Toy(InMemoryTeacher):
    """Gives the lines of a file as texts, and its fold as their label."""

    title = "Toys"

    @staticmethod
    def build(opt: dict[str, Any]) -> Path:
        """Return the file that the test wrote."""
        return Path(opt["datapath"]) / f"{opt['edition']}.txt"

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield a message for each line."""
        for line in path.read_text().splitlines():
            yield {"text": line, "labels": [self.fold]}


@pytest.fixture
def opt(tmp_path: Path) -> Opt:
    (tmp_path / "sample.txt").write_text("one\ntwo\n")
    return Opt({"datapath": str(tmp_path), "edition": "sample", "datatype": "train:stream", "task": "toys"})


def test_streaming_loads_all_examples_and_leaves_no_files(opt: Opt, tmp_path: Path) -> None:
    teacher = Toy(opt)
    assert (teacher.num_examples(), teacher.fold) == (2, "train")
    assert [path.name for path in tmp_path.iterdir()] == ["sample.txt"]


def test_each_message_is_an_episode_of_its_fold(opt: Opt) -> None:
    teacher = Toy(opt)
    assert [teacher.get(place) for place in range(2)] == [
        {"fold": "train", "text": text, "labels": ["train"], "episode_done": True} for text in ("one", "two")
    ]


def test_fold_without_examples_is_an_error(opt: Opt, tmp_path: Path) -> None:
    (tmp_path / "sample.txt").write_text("")
    with pytest.raises(DataError, match=rf"{tmp_path}/sample.txt: its train fold has no example for Toy$"):
        Toy(opt)


def test_error_in_a_fetched_file_says_how_to_fetch_it_again(opt: Opt, tmp_path: Path) -> None:
    """A damaged copy would otherwise be found again each time."""

    class Broken(Toy):
        def messages(self, path: Path) -> Iterator[dict[str, Any]]:
            raise DataError(f"{path}, line 1: wrong")

    with pytest.raises(DataError, match=r"line 1: wrong$"):
        Broken(opt)
    (tmp_path / ".built").touch()
    with pytest.raises(DataError, match=rf"line 1: wrong; or delete {tmp_path}, and all of it is fetched again$"):
        Broken(opt)


def test_error_in_an_unreadable_file_is_kept(opt: Opt) -> None:
    """A name that is too long stands for any reason, such as a folder of somebody else."""

    class Unreadable(Toy):
        @staticmethod
        def build(opt: dict[str, Any]) -> Path:
            return Path(300 * "u")

        def messages(self, path: Path) -> Iterator[dict[str, Any]]:
            raise DataError("it cannot be read")

    with pytest.raises(DataError, match=r"^it cannot be read$"):
        Unreadable(opt)


def test_copies_for_a_batch_do_not_locate_the_data_again(opt: Opt) -> None:
    class Located(Toy):
        times = 0

        @classmethod
        def build(cls, opt: dict[str, Any]) -> Path:
            cls.times += 1
            return Toy.build(opt)

    teacher = Located(opt)
    copies = [Located(opt, teacher.share()) for _ in range(3)]
    assert Located.times == 1
    assert {copy.datafile for copy in copies} == {teacher.datafile}
    assert [copy.num_examples() for copy in copies] == [2] * 3


def test_options_are_not_modified(opt: Opt) -> None:
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
def test_streaming_a_sample_loads_all_examples_and_leaves_no_files(tmp_path: Path, task: str, size: int) -> None:
    sample = Path(tasks.__file__).parent / task / "sample"
    before = sorted(sample.rglob("*"))
    assert load_teacher(tmp_path, f"empathy:{task}", "train:stream", edition="sample").num_examples() == size
    assert sorted(sample.rglob("*")) == before != []


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_fold_comes_from_the_datatype(opt: Opt, fold: str) -> None:
    teacher = Toy(Opt({**opt, "datatype": fold}))
    assert list(teacher.act()["eval_labels"]) == [fold]


def test_edition_is_the_only_option() -> None:
    parser = ParlaiParser(False, False)
    before = {action.dest for action in parser._actions}
    Toy.add_cmdline_args(parser)
    group = next(group for group in parser._action_groups if group.title == "Toys")
    assert [action.dest for action in group._group_actions] == ["edition"]
    assert "edition" not in before


def test_subclass_options_are_in_the_same_group() -> None:
    class Chosen(Toy):
        @classmethod
        def add_options(cls, group: Any) -> None:
            super().add_options(group)
            group.add_argument("--colour")

    parser = ParlaiParser(False, False)
    Chosen.add_cmdline_args(parser)
    (group,) = (group for group in parser._action_groups if group.title == "Toys")
    assert [action.dest for action in group._group_actions] == ["edition", "colour"]
