"""Commands show only those of ParlAI's general options that they use."""

from __future__ import annotations

from argparse import SUPPRESS

from parlai_empathy.scripts.parts.command_parser import command_parser

OF_WORLDS = {"task", "datatype", "batchsize", "dynamic_batching"}


def shown(*takes: str, of_models: bool = False) -> set[str]:
    parser = command_parser("Do", *takes, of_models=of_models)
    return {action.dest for action in parser._actions if action.help != SUPPRESS}


def test_task_options_are_hidden_unless_requested() -> None:
    assert shown() & OF_WORLDS == set()
    assert {"datapath", "init_opt", "helpall"} <= shown()
    assert shown("task", "datatype") - shown() == {"task", "datatype"}


def test_model_options_are_present_only_when_requested() -> None:
    assert "model_file" not in shown()
    assert "model_file" in shown(of_models=True)


def test_hidden_options_still_parse_and_appear_in_full_help() -> None:
    parser = command_parser("Do")
    assert parser.parse_args(["--batchsize", "3"])["batchsize"] == 3
    assert "--batchsize" not in parser.format_help()
    parser._unsuppress_hidden()
    assert "--batchsize" in parser.format_help()
