"""Commands show only those of ParlAI's general options that they use."""

from __future__ import annotations

from argparse import SUPPRESS

from parlai_empathy.scripts.parts.command_parser import command_parser

OF_WORLDS = {"task", "datatype", "batchsize", "dynamic_batching"}


def shown(*takes: str, of_models: bool = False) -> set[str]:
    parser = command_parser("Do", *takes, of_models=of_models)
    return {action.dest for action in parser._actions if action.help != SUPPRESS}


def test_what_goes_through_no_task_shows_nothing_of_tasks() -> None:
    assert shown() & OF_WORLDS == set()
    assert {"datapath", "init_opt", "helpall"} <= shown()
    assert shown("task", "datatype") - shown() == {"task", "datatype"}


def test_options_of_models_are_there_for_who_takes_them() -> None:
    assert "model_file" not in shown()
    assert "model_file" in shown(of_models=True)


def test_what_is_not_shown_is_still_taken_and_on_the_page_of_all() -> None:
    parser = command_parser("Do")
    assert parser.parse_args(["--batchsize", "3"])["batchsize"] == 3
    assert "--batchsize" not in parser.format_help()
    parser._unsuppress_hidden()
    assert "--batchsize" in parser.format_help()
