"""Finding a task's classes: one task, several, and tasks without classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.judging.task_classes import set_classes_of_task, task_classes
from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS
from parlai_empathy.tasks.empathetic_intents.reader import INTENTS
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS as GO_EMOTIONS
from parlai_empathy.tasks.newsgroups.topics import TOPICS

STARS = ["1", "2", "3", "4", "5"]


def options(task: str, **changes: Any) -> Opt:
    opt: Opt = ParlaiParser(True, False).parse_args(["--task", task, "--datatype", "valid"])
    opt.update({"edition": "sample", **changes})
    return opt


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("empathy:humod:Relevance", STARS),
        ("empathy:empathetic_dialogues:SituationEmotion", list(EMOTIONS)),
        ("empathy:empathetic_intents", list(INTENTS)),
        ("empathy:go_emotions", list(GO_EMOTIONS)),
        ("empathy:newsgroups", list(TOPICS.values())),
        *(
            (f"empathy:red{teacher}", ["not engaging", "engaging"])
            for teacher in ("", ":NegativeSamples", ":EE", ":Test")
        ),
        ("empathy:humod:NextUtterance", None),  # two candidates each, but different ones
        ("empathy:humod", None),  # no candidates
        ("empathy:empathetic_dialogues", None),  # candidates only in evaluation
        ("empathy:humod:Relevance,empathy:humod:Relevance:humod_split=rated", STARS),
        ("empathy:humod:NextUtterance,empathy:humod", None),
    ],
)
def test_classes_are_inferred_from_the_task(task: str, expected: list[str] | None) -> None:
    opt = options(task)
    before = dict(opt)
    assert task_classes(opt) == expected
    assert opt == before, "the options of the training are its own"


@pytest.mark.parametrize("other", ["empathy:humod:NextUtterance", "empathy:empathetic_dialogues:SituationEmotion"])
def test_tasks_with_different_classes_raise_option_error(other: str) -> None:
    tasks = f"empathy:humod:Relevance,{other}"
    with pytest.raises(OptionError) as caught:
        task_classes(options(tasks))
    assert str(caught.value).startswith(f"--task {tasks}: its tasks have different classes; ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("opt", [{}, {"task": None}, {"task": "interactive", "interactive_mode": True}])
def test_missing_task_raises_option_error(opt: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"^this judge does not know its classes: .* with --classes$"):
        task_classes(Opt(opt))


def test_single_example_suffices_to_infer_classes(tmp_path: Path) -> None:
    """Fewer examples than are usually inspected, and a single candidate, which defines no classes."""
    for name, candidates, expected in (("two", "yes|no", ["yes", "no"]), ("one", "yes", None)):
        path = tmp_path / f"{name}.txt"
        path.write_text(f"text:Is it?\tlabels:yes\tlabel_candidates:{candidates}\tepisode_done:True\n")
        files = {"fromfile_datapath": str(path), "fromfile_datatype_extension": False}
        assert task_classes(options("fromfile:parlaiformat", **files)) == expected


def test_inferred_classes_are_kept_for_another_task() -> None:
    opt = options("empathy:humod:Relevance")
    set_classes_of_task(opt)
    assert opt["classes"] == STARS
    opt["task"] = "empathy:empathetic_dialogues:SituationEmotion"
    set_classes_of_task(opt)
    assert opt["classes"] == STARS, "an evaluation on another task"


def test_absence_of_classes_is_kept_for_another_task() -> None:
    opt = options("empathy:humod:NextUtterance")
    set_classes_of_task(opt)
    opt["task"] = "empathy:humod:Relevance"
    set_classes_of_task(opt)
    assert opt["classes"] == []


def test_classes_option_takes_precedence_over_task() -> None:
    opt = options("empathy:humod:NextUtterance", classes=["no", "yes"])
    set_classes_of_task(opt)
    assert opt["classes"] == ["no", "yes"]
