"""Options are parsed as eval_model will parse them."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.typed_options import typed_options


def test_those_of_the_task_and_the_agent_are_known() -> None:
    typed = ["-t", "empathy:reddit", "--reddit-file", "a.jsonl", "-m", "empathy:in_context", "--lm-model", "m"]
    opt = typed_options(typed)
    assert opt["override"] == {
        "task": "empathy:reddit",
        "reddit_file": "a.jsonl",
        "model": "empathy:in_context",
        "lm_model": "m",
    }


def test_what_nobody_knows_is_left_out() -> None:
    opt = typed_options(["-t", "empathy:reddit", "--colour", "red", "--num-examples", "3"])
    assert "colour" not in opt
    assert opt["override"] == {"task": "empathy:reddit"}


def test_a_value_that_an_option_does_not_take_is_one_line() -> None:
    with pytest.raises(
        OptionError, match=r"^--inference: invalid choice: 'beam' .*: parlai eval_model would reject it$"
    ):
        typed_options(["-m", "empathy:retrieval", "--inference", "beam"])


def test_short_names_are_known() -> None:
    assert typed_options(["-t", "empathy:reddit", "-dt", "valid"])["override"]["datatype"] == "valid"
