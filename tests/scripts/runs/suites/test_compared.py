"""Helpers shared by the suites that compare models and logs."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.scripts.runs.suites.compared import about, check_any, eval_options, options_note


def test_eval_args_are_split_like_a_shell() -> None:
    opt = {"edition": "sample", "eval_args": "--inference beam --text 'a b' --task-x -t2"}
    assert eval_options(opt) == ["--edition", "sample", "--inference", "beam", "--text", "a b", "--task-x", "-t2"]


def test_note_repeats_the_options_as_a_shell_reads_them() -> None:
    options = eval_options({"edition": "full", "eval_args": "--ed-history 1 --text 'a b'"})
    assert options_note(options) == "- models were evaluated with: --edition full --ed-history 1 --text 'a b'"


def test_titles_name_the_fold_and_any_edition_but_the_full_one() -> None:
    assert about({"fold": "valid", "edition": "full"}) == "valid fold"
    assert about({"fold": "test", "edition": "sample"}) == "test fold of the sample"


@pytest.mark.parametrize(
    ("typed", "named", "advice"),
    [
        ("-bs 4 -dt valid", "-dt", "use --fold"),
        ("--datatype=train", "--datatype", "use --fold"),
        ("-t empathy:daily_dialog", "-t", "leave it out"),
        ("--model_file other", "--model-file", "name models with --models"),
        ("-dp data", "-dp", "use --datapath, outside --eval-args"),
        ("--edition full", "--edition", "use --edition, outside --eval-args"),
        ("--world-logs x", "--world-logs", "leave it out"),
    ],
)
def test_eval_args_reserved_by_the_leaderboard_raise_option_error(typed: str, named: str, advice: str) -> None:
    """Else ``-dt valid`` would label valid numbers as "test fold", and ``-mf`` would evaluate one model for all."""
    message = f"^--eval-args {named}: the leaderboard sets it for all models: {advice}$"
    with pytest.raises(OptionError, match=message):
        eval_options({"edition": "sample", "eval_args": typed})


def test_check_any_raises_only_if_all_failed_and_nothing_else_remains() -> None:
    with pytest.raises(ModelFileError, match=r"^b: is broken; all 2 failed$"):
        check_any(False, ["b: is broken", "a: is gone"])
    with pytest.raises(ModelFileError, match=r"^a: is broken$"):
        check_any(False, ["a: is broken"])
    check_any(True, ["a: is broken"])
    check_any(False, [])
