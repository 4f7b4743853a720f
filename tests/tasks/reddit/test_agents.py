"""The teacher, as ParlAI itself loads it: streamed training, shares of several processes, folds, candidates, counts."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parlai.agents.repeat_label.repeat_label import RepeatLabelAgent
from parlai.core.params import ParlaiParser
from parlai.core.worlds import create_task
from parlai.scripts.build_dict import BuildDict
from processes import TINY, parlai_command, succeeded
from teachers import examples_of

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.reddit import agents
from parlai_empathy.tasks.reddit.build import SAMPLE
from parlai_empathy.tasks.reddit.folds import fold_of

OneLine = Callable[..., None]
Load = Callable[..., Any]

TASK = "empathy:reddit"
README = Path(agents.__file__).parent / "README.md"
FOLDS = {"train": "train:ordered", "valid": "valid", "test": "test"}
SIZES = {"train": 121, "valid": 104, "test": 107}
THREAD_OF_FILTERS = "Is butter good after a week on the table?"


def raw_sample() -> dict[str, dict[str, Any]]:
    """Return the sample's records by their full names, without the reader."""
    records = [json.loads(line) for file in SAMPLE.iterdir() for line in file.read_text().splitlines()]
    return {("t3_" if "title" in record else "t1_") + record["id"]: record for record in records}


def comment_ids(found: list[dict[str, Any]]) -> list[str]:
    return [example["comment_id"] for example in found]


def some(teacher: Any, number: int) -> list[dict[str, Any]]:
    """Return the next messages of a teacher, which may be endless."""
    return [teacher.act() for _ in range(number)]


# --- messages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fold", FOLDS)
def test_sample_pairs_match_the_raw_records(load_teacher: Load, fold: str) -> None:
    """Each comment follows the texts above it in the thread, at most four, up to the submission."""
    raw = raw_sample()
    found = examples_of(load_teacher(TASK, FOLDS[fold], edition="sample"))
    assert len(found) == len(set(comment_ids(found))) == SIZES[fold]
    for example in found:
        record = raw[example["comment_id"]]
        turns, above = [], record["parent_id"]
        while above:
            turns.append(raw[above].get("body") or raw[above]["title"])
            above = raw[above].get("parent_id")
        if THREAD_OF_FILTERS not in turns:
            assert example["text"] == "\n".join(turns[3::-1])
            assert example["labels"] == [record["body"]]
        assert example["turn"] == len(turns) + 1
        assert example["conv_id"] == record["link_id"]
        assert example["subreddit"] == record["subreddit"]
        assert example["fold"] == fold == fold_of(record["link_id"])


def test_message_fields(load_teacher: Load) -> None:
    found = examples_of(load_teacher(TASK, edition="sample", reddit_history=1))
    (example,) = (example for example in found if example["labels"] == ["He does, you are the man with the worms."])
    assert example == {
        "id": TASK,
        "text": "And I thought that he liked me.",
        "labels": ["He does, you are the man with the worms."],
        "conv_id": example["conv_id"],
        "turn": 4,
        "subreddit": "birds",
        "comment_id": example["comment_id"],
        "fold": "train",
        "episode_done": True,
    }
    assert re.fullmatch(r"t3_\w+", example["conv_id"])


def test_filtered_sample_comments_are_excluded_and_logged(load_teacher: Load, log: pytest.LogCaptureFixture) -> None:
    """Each filter excludes one comment, seven in one thread, and the log lists the reasons."""
    found = examples_of(load_teacher(TASK, edition="sample"))
    assert not any(example["subreddit"] == "cooking" and "butter" in example["text"] for example in found)
    reasons = "1 quote, 1 deleted, 1 to one that is deleted, 1 by a bot, 1 links only, 1 too short, 1 too long"
    assert f"left out: {reasons}; bad lines: none; too far out of order: 0; broken files: 0" in log.text


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_candidates_are_100_replies_of_the_fold(load_teacher: Load, fold: str) -> None:
    found = examples_of(load_teacher(TASK, fold, edition="sample"))
    replies = {example["labels"][0] for example in found}
    for example in found:
        assert example["candidates_source"] == "sampled"
        assert len(set(example["label_candidates"])) == 100
        assert set(example["label_candidates"]) <= replies
        assert example["labels"][0] in example["label_candidates"]


def test_eval_size_limits_pairs_and_candidates(load_teacher: Load) -> None:
    """Its candidates come from the same pairs, so that no more of the dump is read."""
    whole = examples_of(load_teacher(TASK, "test", edition="sample"))
    teacher = load_teacher(TASK, "test", edition="sample", reddit_eval_size=30)
    short = examples_of(teacher)
    assert teacher.num_examples() == teacher.num_episodes() == 30
    assert comment_ids(short) == comment_ids(whole)[:30]
    for example in short:
        assert sorted(example["label_candidates"]) == sorted(reply["labels"][0] for reply in short)


# --- streaming -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("datatype", ["train", "train:stream", "train:ordered:stream", "train:evalmode"])
def test_training_is_streamed_for_any_train_datatype(load_teacher: Load, datatype: str) -> None:
    teacher = load_teacher(TASK, datatype, edition="sample")
    assert teacher.stream
    assert isinstance(teacher.data.data, itertools.chain | type(_ for _ in ()))
    assert ("labels" in teacher.act()) == (datatype != "train:evalmode")


def test_each_epoch_has_every_pair_once_in_a_new_order(load_teacher: Load) -> None:
    ordered = comment_ids(examples_of(load_teacher(TASK, edition="sample")))
    teacher = load_teacher(TASK, "train", edition="sample", others={"seed": 1})
    epochs = [comment_ids(some(teacher, SIZES["train"])) for _ in range(3)]
    for epoch in epochs:
        assert sorted(epoch) == sorted(ordered)
        assert epoch != ordered
    assert len(set(map(tuple, epochs))) == 3


def test_training_order_depends_on_the_seed(load_teacher: Load) -> None:
    orders = [
        comment_ids(some(load_teacher(TASK, "train", edition="sample", others={"seed": seed}), 200))
        for seed in (1, 1, 2, None)
    ]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == 3


def test_buffer_size_limits_the_shuffling(load_teacher: Load) -> None:
    ordered = comment_ids(examples_of(load_teacher(TASK, edition="sample")))
    assert (
        comment_ids(some(load_teacher(TASK, "train", edition="sample", others={"seed": 1}, reddit_buffer=1), 121))
        == ordered
    )
    found = comment_ids(some(load_teacher(TASK, "train", edition="sample", others={"seed": 1}, reddit_buffer=5), 121))
    assert all(ordered.index(name) < place + 5 for place, name in enumerate(found))


@pytest.mark.parametrize("datatype", ["train:ordered", "train:evalmode"])
def test_ordered_passes_are_identical(load_teacher: Load, datatype: str) -> None:
    teacher = load_teacher(TASK, datatype, edition="sample")
    first = comment_ids(examples_of(teacher))
    assert comment_ids(examples_of(teacher)) == first
    assert len(first) == 121


@pytest.mark.parametrize(("datatype", "expected"), [("train:evalmode", 121), ("test", 107)])
def test_batched_pass_covers_all_examples(tmp_path: Path, datatype: str, expected: int) -> None:
    opt = ParlaiParser(True, True).parse_kwargs(
        task=TASK, edition="sample", datapath=str(tmp_path), datatype=datatype, batchsize=8, model="repeat_label"
    )
    world = create_task(opt, RepeatLabelAgent(opt))
    while not world.epoch_done():
        world.parley()
    assert int(world.report()["exs"]) == expected
    assert float(world.report()["accuracy"]) == 1


def test_batched_training_covers_every_pair(tmp_path: Path) -> None:
    opt = ParlaiParser(True, True).parse_kwargs(
        task=TASK, edition="sample", datapath=str(tmp_path), datatype="train", batchsize=8, model="repeat_label"
    )
    world = create_task(opt, RepeatLabelAgent(opt))
    met: Counter[str] = Counter()
    for _ in range(121 * 2 // 8):
        world.parley()
        met.update(act["comment_id"] for act in world.acts[0])
    assert len(met) == 121
    assert set(met.values()) <= {1, 2}


# --- several processes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [2, 3])
def test_training_pairs_are_divided_among_processes(
    load_teacher: Load, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr(agents, "num_workers", lambda: processes)
    met = []
    for rank in range(processes):
        monkeypatch.setattr(agents, "get_rank", lambda rank=rank: rank)
        teacher = load_teacher(TASK, "train", edition="sample", reddit_buffer=1)
        assert teacher.num_examples() == 121  # ParlAI adds up the processes' shares
        found = comment_ids(some(teacher, 121))
        met.append(found[: found.index(found[0], 1)])  # its own pairs, once each
    assert sum(map(len, met)) == len(set().union(*met)) == 121
    assert min(map(len, met)) > 10


def test_ordered_datatype_gives_each_process_all_pairs(load_teacher: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of replies needs them all."""
    monkeypatch.setattr(agents, "num_workers", lambda: 2)
    assert len(examples_of(load_teacher(TASK, edition="sample"))) == 121


def test_training_pairs_are_divided_among_workers(load_teacher: Load) -> None:
    """ParlAI's --num-workers: each worker creates its own teacher."""
    met = []
    for number in (0, 1):
        others = {"num_workers": 2, "background_index": number}
        met.append(set(comment_ids(some(load_teacher(TASK, "train", edition="sample", others=others), 200))))
    assert met[0].isdisjoint(met[1])
    assert len(met[0] | met[1]) == 121


def test_multiprocessing_train_with_two_processes(tmp_path: Path) -> None:
    arguments = ("-t", TASK, "--edition", "sample", *TINY, "-mf", tmp_path / "m", "-dp", tmp_path / "d")
    succeeded(parlai_command("multiprocessing_train", "--distributed-world-size", "2", *arguments, cwd=tmp_path))
    report = json.loads((tmp_path / "m.trainstats").read_text())
    assert report["total_epochs"] >= 1
    assert report["final_test_report"]["exs"] == 107


# --- how many --------------------------------------------------------------------------------------------------------


def test_pairs_are_counted_once_and_cached_in_the_datapath(
    load_teacher: Load, tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    before = sorted(SAMPLE.iterdir())
    for _ in range(2):
        assert load_teacher(TASK, "train", edition="sample").num_episodes() == 121
    assert log.text.count("counting the pairs once") == 1
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["reddit_counts"]
    assert sorted(SAMPLE.iterdir()) == before


def test_epoch_size_option_replaces_counting(load_teacher: Load, tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    teacher = load_teacher(TASK, "train", edition="sample", reddit_epoch_size=50)
    assert teacher.num_examples() == teacher.num_episodes() == 50
    assert "counting" not in log.text
    assert not (tmp_path / "data").exists()


def test_cached_pair_count_is_not_used_for_other_limits(load_teacher: Load) -> None:
    assert load_teacher(TASK, "train", edition="sample").num_examples() == 121
    fewer = load_teacher(TASK, "train", edition="sample", reddit_max_words=5).num_examples()
    assert fewer < 121
    assert load_teacher(TASK, "train", edition="sample", reddit_history=1).num_examples() == 121


def test_build_dict_on_streamed_data(tmp_path: Path) -> None:
    BuildDict.main(task=TASK, edition="sample", dict_file=str(tmp_path / "dict"), datapath=str(tmp_path))
    assert "sourdough" in (tmp_path / "dict").read_text()


# --- invalid data -----------------------------------------------------------------------------------------------------


def test_bad_lines_and_files_are_logged_and_skipped(
    load_teacher: Load, tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    good = (SAMPLE / "sample_2010.jsonl").read_text()
    (tmp_path / "a.jsonl").write_text("{\n" + good)
    (tmp_path / "b.bz2").write_bytes(b"no archive")
    teacher = load_teacher(TASK, "train", reddit_file=str(tmp_path))
    assert teacher.num_examples() > 100
    warnings = [record.message for record in log.records if record.levelname == "WARNING"]
    assert any(f"1 bad line(s), not JSON; the first is {tmp_path / 'a.jsonl'}, line 1" in text for text in warnings)
    assert any(text.startswith(f"{tmp_path / 'b.bz2'}: reading failed") for text in warnings)


@pytest.mark.parametrize("fold", FOLDS)
def test_fold_without_pairs_raises_data_error(
    load_teacher: Load, tmp_path: Path, fold: str, assert_one_line: OneLine
) -> None:
    (path := tmp_path / "a.jsonl").write_text("{\n[]\n")
    with pytest.raises(DataError) as caught:
        load_teacher(TASK, FOLDS[fold], reddit_file=str(path)).act()
    assert_one_line(caught.value, path, f"no pair is left for {fold}", "1 not JSON, 1 no object")


def test_process_without_threads_raises_data_error(
    load_teacher: Load, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    """Otherwise it would search for a pair for ever."""
    monkeypatch.setattr(agents, "num_workers", lambda: 10_000)
    with pytest.raises(DataError) as caught:
        load_teacher(TASK, "train", edition="sample").act()
    assert_one_line(caught.value, "no pair is left for train")


def test_options_can_follow_the_task_name(load_teacher: Load) -> None:
    assert len(examples_of(load_teacher(f"{TASK}:edition=sample:reddit_history=1", "test"))) == 107
    with pytest.raises(OptionError, match="--reddit-window 0"):
        load_teacher(TASK, "test", edition="sample", reddit_window=0)


# --- real dumps ------------------------------------------------------------------------------------------------------


def test_counts_of_real_dumps_match_the_readme(
    load_teacher: Load, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    found = tuple(load_teacher(TASK, datatype).num_examples() for datatype in FOLDS.values())
    (line,) = (line for line in README.read_text().splitlines() if line.startswith("| nothing, or `:Default` |"))
    assert tuple(int(cell.replace(",", "")) for cell in line.split("|")[-4:-1]) == found
