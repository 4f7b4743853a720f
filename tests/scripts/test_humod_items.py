"""``parlai humod_items`` on our own task, on dialogues in ParlAI's text format, and on unusable input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from processes import parlai_command, succeeded

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.scripts.humod_items import HumodItems
from parlai_empathy.scripts.humod_report import HumodReport
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import Pair

ED: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample", "ed_history": -1}

# Two dialogues of two exchanges and one of one, in ParlAI's text format, with one message per line.
DIALOGUES = [
    [("hello", "hi there"), ("how was it?", "rather long")],
    [("what is that?", "a sheep"), ("it is green\\nand it talks", "so it is")],
    [("good night", "sleep well")],
]
REPLIES = {
    ("hello",): "hi there",
    ("hello", "hi there", "how was it?"): "rather long",
    ("what is that?",): "a sheep",
    ("what is that?", "a sheep", "it is green", "and it talks"): "so it is",
    ("good night",): "sleep well",
}


def run(out: Path, **options: Any) -> list[Pair]:
    """Return the items as read by HUMOD's reader."""
    number = HumodItems.main(loglevel="error", out=str(out), **options)
    pairs = list(read_humod(out))
    assert len(pairs) == number
    return pairs


@pytest.fixture
def own_task(tmp_path: Path) -> dict[str, Any]:
    """Return options for the dialogues above, written to a file in ParlAI's text format."""
    lines = []
    for dialogue in DIALOGUES:
        messages = [f"text:{text}\tlabels:{label}" for text, label in dialogue]
        lines += [*messages[:-1], f"{messages[-1]}\tepisode_done:True"]
    for fold in ("train", "valid"):
        (tmp_path / f"mine_{fold}.txt").write_text(
            "\n".join(lines if fold == "train" else lines[-1:] + lines[:2]) + "\n"
        )
    return {
        "task": "fromfile:parlaiformat",
        "fromfile_datapath": str(tmp_path / "mine"),
        "fromfile_datatype_extension": True,
    }


# --- where the dialogues come from -----------------------------------------------------------------------------------


@pytest.mark.parametrize("datatype", [None, "train", "train:ordered", "train:stream", "train:evalmode"])
def test_items_from_dialogues_in_parlai_format(own_task: dict[str, Any], tmp_path: Path, datatype: str | None) -> None:
    # ParlAI samples from train endlessly; here each message occurs once.
    folds = {"datatype": datatype} if datatype else {}
    pairs = run(tmp_path / "items.jsonl", contexts=5, **own_task, **folds)
    assert {pair.context: pair.reply for pair in pairs if pair.is_original} == REPLIES
    for pair in pairs:
        if not pair.is_original:
            assert pair.reply in set(REPLIES.values()) - {REPLIES[pair.context]}


def test_datatype_selects_the_fold(own_task: dict[str, Any], tmp_path: Path) -> None:
    pairs = run(tmp_path / "items.jsonl", contexts=3, datatype="valid", **own_task)
    assert {pair.context for pair in pairs} == {("good night",), ("hello",), ("hello", "hi there", "how was it?")}


def test_min_and_max_turns_limit_context_length(own_task: dict[str, Any], tmp_path: Path) -> None:
    pairs = run(tmp_path / "items.jsonl", contexts=2, min_turns=2, max_turns=4, **own_task)
    assert {pair.context for pair in pairs} == {context for context in REPLIES if len(context) > 1}


@pytest.mark.parametrize("fold", ["train", "valid", "test"])
def test_items_of_the_sample_pair_contexts_with_original_and_random_replies(tmp_path: Path, fold: str) -> None:
    pairs = run(tmp_path / "items.jsonl", contexts=20, datatype=fold, **ED)
    spoken = [
        [" ".join(turn.text.split()) for turn in dialogue.turns]
        for dialogue in read_empathetic_dialogues(SAMPLE / f"{fold}.csv")
    ]
    followed = {(tuple(turns[:n]), turns[n]) for turns in spoken for n in range(1, len(turns))}
    assert len({pair.context for pair in pairs}) == 20
    for pair in pairs:
        assert ((pair.context, pair.reply) in followed) == pair.is_original
        assert pair.reply in {text for turns in spoken for text in turns}


def test_items_combine_several_tasks(own_task: dict[str, Any], tmp_path: Path) -> None:
    both = {**own_task, **ED, "task": "fromfile:parlaiformat,empathy:empathetic_dialogues"}
    contexts = {pair.context for pair in run(tmp_path / "items.jsonl", contexts=300, **both)}
    assert contexts & set(REPLIES)
    assert contexts - set(REPLIES)


# --- what is written -------------------------------------------------------------------------------------------------


def test_seed_determines_the_drawn_items(tmp_path: Path) -> None:
    first, again, other = (
        run(tmp_path / f"{place}.jsonl", contexts=10, seed=seed, **ED) for place, seed in enumerate((3, 3, 4))
    )
    assert first == again
    assert first != other


def test_humod_report_reads_the_items(own_task: dict[str, Any], tmp_path: Path) -> None:
    run(tmp_path / "items.jsonl", contexts=5, **own_task)
    report = HumodReport.main(humod_file=str(tmp_path / "items.jsonl"), out=str(tmp_path / "out"), loglevel="error")
    sizes = dict(report.tables[0].rows)
    assert (sizes["pairs of context and reply"], sizes["different contexts"], sizes["rated pairs"]) == (10, 5, 0)
    assert (tmp_path / "out" / "turns.png").is_file()


# --- what it cannot use ----------------------------------------------------------------------------------------------


def test_too_few_contexts_raise_data_error(own_task: dict[str, Any], tmp_path: Path) -> None:
    message = (
        "^the task has 5 different contexts of 1 to 6 turns, not 500: ask for fewer, or for other numbers of turns$"
    )
    with pytest.raises(DataError, match=message):
        run(tmp_path / "items.jsonl", **own_task)
    assert not (tmp_path / "items.jsonl").exists()


def test_missing_task_raises_option_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^--task: name the task whose dialogues to use, for instance -t empathy:"):
        run(tmp_path / "items.jsonl")


@pytest.mark.parametrize(("contexts", "fewest", "most"), [(0, 1, 6), (-1, 1, 6), (5, 0, 6), (5, 3, 2)])
def test_invalid_context_or_turn_counts_raise_option_error(
    tmp_path: Path, contexts: int, fewest: int, most: int
) -> None:
    message = f"^--contexts {contexts} --min-turns {fewest} --max-turns {most}: all must be at least 1, and --min-turns"
    with pytest.raises(OptionError, match=message):
        run(tmp_path / "items.jsonl", contexts=contexts, min_turns=fewest, max_turns=most, **ED)


def test_command_line_run_writes_items(tmp_path: Path) -> None:
    command = ("humod_items", "-t", "empathy:empathetic_dialogues", "--edition", "sample", "--contexts", "7")
    result = succeeded(parlai_command(*command, "--out", "new/items.jsonl", cwd=tmp_path))
    assert "14 items of 7 contexts: new/items.jsonl\n" in result.stdout
    lines = (tmp_path / "new" / "items.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"item_{number:05d}" for number in range(14)]
