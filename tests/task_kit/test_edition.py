"""The option that all our data sets share."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.edition import add_edition, is_sample


def test_full_edition_is_the_default() -> None:
    parser = argparse.ArgumentParser()
    add_edition(parser)
    assert not is_sample(vars(parser.parse_args([])))
    assert is_sample(vars(parser.parse_args(["--edition", "sample"])))
    assert not is_sample({})


def test_unknown_edition_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"^--edition tiny: must be full or sample$"):
        is_sample({"edition": "tiny"})


@pytest.mark.parametrize(
    "task",
    [
        *("daily_dialog", "empathetic_dialogues", "empathetic_intents", "epitome", "go_emotions", "humod"),
        *("newsgroups", "red", "reddit"),
    ],
)
def test_every_task_rejects_an_unknown_edition(task: str, tmp_path: Path) -> None:
    build = importlib.import_module(f"parlai_empathy.tasks.{task}.build").build
    with pytest.raises(OptionError, match=r"^--edition smaple: must be full or sample$"):
        build({"datapath": str(tmp_path / "data"), "edition": "smaple"})
