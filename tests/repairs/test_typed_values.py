"""``--option=value``: the value is kept as typed, and overrides a saved model's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from parlai.core import params
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import superscript_main
from parlai_as_it_comes import unrepaired

from parlai_empathy.scripts.agreement import AgreementOfRaters


def parsed(parser: Any, words: list[str]) -> Opt:
    opt: Opt = parser.parse_args(words)
    return opt


def test_unrepaired_parlai_alters_values_and_skips_overrides() -> None:
    opt = parsed(unrepaired("parlai.core.params").ParlaiParser(True, False), ["--image_mode=no_image", "-dt", "valid"])
    assert opt["image_mode"] == "no-image"
    assert opt["override"] == {"datatype": "valid"}


def test_underscores_in_values_are_kept() -> None:
    assert parsed(ParlaiParser(True, False), ["--image_mode=no_image"])["image_mode"] == "no_image"
    # A value may contain "=", or options of another command, which that command parses itself.
    assert params.fix_underscores(["--a_b=c_d=e_f", "--x_y", "-z_z", "a_b", "=_", 3, "--eval_args=--p_q r_s"]) == [
        *("--a-b=c_d=e_f", "--x-y", "-z-z", "a_b", "=_", 3, "--eval-args=--p_q r_s")
    ]
    assert params.fix_underscores([]) == []
    assert params.fix_underscores(None) is None


def test_command_line_values_override_saved_options(tmp_path: Path) -> None:
    file = str(tmp_path / "my_model")
    Opt({"model": "repeat_label", "image_mode": "raw", "datatype": "train"}).save(f"{file}.opt")
    Path(file).touch()
    for words in (["--image-mode=no_image"], ["--image_mode", "no_image"]):
        opt = parsed(ParlaiParser(True, True), [f"--model-file={file}", "-dt", "valid", *words])
        assert opt["override"] == {"model_file": file, "datatype": "valid", "image_mode": "no_image"}
        assert create_agent(opt).opt["image_mode"] == "no_image"


def test_options_not_given_are_not_overrides() -> None:
    assert parsed(ParlaiParser(True, False), ["--datatype", "valid"])["override"] == {"datatype": "valid"}


@pytest.mark.parametrize("by_name", [True, False])
def test_underscores_in_values_are_kept_for_commands_with_and_without_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_name: bool
) -> None:
    rows = "".join(f"{item},{rater},{item % 2}\n" for item in range(4) for rater in ("ann", "bob"))
    (tmp_path / "my_ratings.csv").write_text(f"item,rater,rating\n{rows}")
    monkeypatch.chdir(tmp_path)
    words = ["--ratings=my_ratings.csv", "--out=my_report", "--resamples=10", "--loglevel=error"]
    monkeypatch.setattr(sys, "argv", ["parlai", "agreement", *words] if by_name else ["agreement", *words])
    superscript_main() if by_name else AgreementOfRaters.main()
    assert {path.name for path in tmp_path.iterdir()} == {"my_ratings.csv", "my_report"}
