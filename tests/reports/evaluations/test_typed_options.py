"""Options are parsed as eval_model will parse them."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.evaluations.typed_options import typed_options


def test_task_and_agent_options_are_parsed() -> None:
    typed = ["-t", "empathy:reddit", "--reddit-file", "a.jsonl", "-m", "empathy:in_context", "--lm-model", "m"]
    opt = typed_options(typed)
    assert opt["override"] == {
        "task": "empathy:reddit",
        "reddit_file": "a.jsonl",
        "model": "empathy:in_context",
        "lm_model": "m",
    }


def test_unknown_options_are_ignored() -> None:
    opt = typed_options(["-t", "empathy:reddit", "--colour", "red", "--num-examples", "3"])
    assert "colour" not in opt
    assert opt["override"] == {"task": "empathy:reddit"}


def test_invalid_choice_error_is_one_line() -> None:
    with pytest.raises(
        OptionError, match=r"^--inference: invalid choice: 'beam' .*: parlai eval_model would reject it$"
    ):
        typed_options(["-m", "empathy:retrieval", "--inference", "beam"])


def test_short_option_names_are_parsed() -> None:
    assert typed_options(["-t", "empathy:reddit", "-dt", "valid"])["override"]["datatype"] == "valid"


def test_file_of_options_may_have_some_of_the_task_and_of_the_agent(tmp_path: Path) -> None:
    # A model's fingerprint is made without the task, that of the data without the agent.
    file = tmp_path / "options.json"
    file.write_text('{"ed_history": 1, "score": "dot", "batchsize": 2}')
    read = ["--init-opt", str(file), "--batchsize", "4"]
    for known in (["-m", "empathy:retrieval"], ["-t", "empathy:empathetic_dialogues"]):
        override = typed_options([*known, *read])["override"]
        assert (override["ed_history"], override["score"], override["batchsize"]) == (1, "dot", 4)
