"""The teachers, as ParlAI itself loads them, on invented files, on the sample, and on a copy of the data set.

The invented file holds six exchanges: contexts of 1, 3, 3, 1, 1 and 2 turns, of which two are the same (``What?``).
"""

from __future__ import annotations

import functools
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parlai.agents.fixed_response.fixed_response import FixedResponseAgent
from parlai.agents.random_candidate.random_candidate import RandomCandidateAgent
from parlai.agents.repeat_label.repeat_label import RepeatLabelAgent
from parlai.core.agents import Agent
from parlai.core.params import ParlaiParser
from parlai.core.teachers import Teacher
from parlai.core.worlds import create_task
from parlai.scripts.build_dict import BuildDict
from parlai.scripts.display_data import DisplayData
from processes import run, succeeded
from teachers import examples_of

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.humod import agents
from parlai_empathy.tasks.humod.build import SAMPLE
from parlai_empathy.tasks.humod.records import Pair

OneLine = Callable[..., None]
Load = Callable[..., Teacher]
Example = dict[str, Any]

TASK = "empathy:humod"
TEACHERS = ["Default", "Relevance", "NextUtterance", "DiverseReplies", "Extended"]
README = Path(agents.__file__).parent / "README.md"
FOLDS = {"train": "train:ordered", "valid": "valid", "test": "test"}
GOATS = "Who painted this?\nMy aunt did.\nWhich one?"
ABOUT_GOATS = [
    "The tall one.",
    "Aunt Ida, at 87",
    "Speaker 1 : the one from Oslo",
    "You do not know her.",
    "I have five of them.",
    "my mother's sister",
]


@pytest.fixture
def invented(load: Load, fixtures: Path) -> Load:
    """A function that loads a teacher of the invented file, which is so small that it is all in the training fold."""
    return lambda task, **options: load(task, "train", humod_file=str(fixtures / "humod/HUMOD_Dataset.TXT"), **options)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """A function that writes dictionaries of pairs as JSON lines."""

    def write_pairs(*records: Example, name: str = "own.jsonl") -> str:
        rest = {"human_replies": ["h"], "reply_kind": "original", "human_relevance_mean": None}
        (path := tmp_path / name).write_text("".join(json.dumps({**rest, **record}) + "\n" for record in records))
        return str(path)

    return write_pairs


def raw_sample() -> dict[tuple[str, str], list[list[str]]]:
    """Return the sample's rows by number and label, without texts' marks, by splitting lines, without the reader."""
    found: dict[tuple[str, str], list[list[str]]] = {}
    for line in SAMPLE.read_text().split("\n")[1:]:
        if line:
            fields = [field.removeprefix("Speaker 1: ").removeprefix("Speaker 2: ") for field in line.split("\t")]
            found.setdefault((fields[0], fields[-7]), []).append(fields)
    return found


# --- how many --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("teacher", "a_context"),
    [
        ("Default", 1),  # its original reply
        ("Relevance", 2),  # its original and its random reply
        ("NextUtterance", 1),
        ("DiverseReplies", 1),
        ("Extended", 7),  # the original reply and six human ones: no context of the sample begins another
    ],
)
@pytest.mark.parametrize(
    ("split", "contexts"),
    [
        ("paper", (102, 6, 12)),  # 25.3 and 12.6 of 240 pairs, two per context
        ("rated", (48, 12, 60)),  # half and a tenth of 240
    ],
)
def test_number_of_examples(load: Load, teacher: str, a_context: int, split: str, contexts: tuple[int, ...]) -> None:
    for fold, number in zip(FOLDS, contexts, strict=True):
        loaded = load(f"{TASK}:{teacher}", fold, edition="sample", humod_split=split)
        assert loaded.num_examples() == loaded.num_episodes() == number * a_context
        assert len(examples_of(loaded)) == number * a_context


def test_bare_task_name_uses_default_teacher(load: Load) -> None:
    alone, named = (examples_of(load(task, "test", edition="sample")) for task in (TASK, f"{TASK}:Default"))
    assert [{**example, "id": ""} for example in alone] == [{**example, "id": ""} for example in named]


def test_training_continues_after_an_epoch_and_covers_all_examples(invented: Load) -> None:
    teacher = invented(TASK, datatype="train")
    random.seed(1)
    met = {teacher.act()["labels"][0] for _ in range(200)}
    assert met == {example["labels"][0] for example in examples_of(invented(TASK))}


@pytest.mark.parametrize("teacher", TEACHERS)
def test_messages_have_fold_and_pair_id(load: Load, teacher: str) -> None:
    numbers = {number for number, _ in raw_sample()}
    for fold in FOLDS:
        for example in examples_of(load(f"{TASK}:{teacher}", fold, edition="sample")):
            assert example["pair_id"] in numbers
            assert example["fold"] == fold
            assert example["episode_done"] is True
            assert all(example["labels"])


# --- Default ---------------------------------------------------------------------------------------------------------


def test_default_teacher_message_fields(invented: Load) -> None:
    assert examples_of(invented(TASK))[1] == {
        "id": TASK,
        "text": GOATS,
        "labels": ["The one with the goats."],
        "references": ["The one with the goats.", *ABOUT_GOATS],
        "pair_id": "2",
        "fold": "train",
        "episode_done": True,
    }


def test_references_are_unique_and_nonempty(invented: Load) -> None:
    """One human reply to the first context is empty; one to ``What?`` equals the film's own."""
    found = [example["references"] for example in examples_of(invented(TASK))]
    assert found[0] == [
        "Twice.",
        "Of course I did.",
        "No, you have the key.",
        "twice",
        "I thought you did.",
        "Which boat?",
    ]
    assert found[4] == ["You heard me.", "Listen!", "I'll say it again.", "Forget it.", "Later.", "Sorry?"]


def test_empty_turn_is_an_empty_line(invented: Load) -> None:
    assert examples_of(invented(TASK))[2]["text"] == "Hello?\n\nIs anybody there?"


@pytest.mark.parametrize("fold", FOLDS)
def test_default_teacher_examples_match_raw_sample(load: Load, fold: str) -> None:
    raw = raw_sample()
    for example in examples_of(load(TASK, fold, edition="sample")):
        rows = raw[example["pair_id"], "0"]
        others = raw[str(int(example["pair_id"]) + 1), "1"]
        assert example["text"] == "\n".join(rows[0][1:-8])
        assert example["labels"] == [rows[0][-8]]
        said = [rows[0][-8], *(row[-2] for row in (*rows, *others))]
        assert example["references"] == list(dict.fromkeys(said))


# --- Relevance -------------------------------------------------------------------------------------------------------


def test_relevance_teacher_message_fields(invented: Load) -> None:
    assert examples_of(invented(f"{TASK}:Relevance"))[3] == {
        "id": f"{TASK}:Relevance",
        "text": GOATS + "\nCaf\u00e9's closed, try the harbour.",
        "labels": ["2"],  # the rounded mean of 1, 1 and 3
        "label_candidates": ["1", "2", "3", "4", "5"],
        "rating_mean": pytest.approx(5 / 3),
        "ratings": [1, 1, 3],
        "human_replies": ABOUT_GOATS,
        "is_original": False,
        "pair_id": "3",
        "fold": "train",
        "episode_done": True,
    }


@pytest.mark.parametrize("fold", FOLDS)
def test_relevance_teacher_examples_match_raw_sample(load: Load, fold: str) -> None:
    raw = raw_sample()
    found = examples_of(load(f"{TASK}:Relevance", fold, edition="sample"))
    assert Counter(example["is_original"] for example in found) == dict.fromkeys([True, False], len(found) // 2)
    for example in found:
        rows = raw[example["pair_id"], "0" if example["is_original"] else "1"]
        ratings = [int(row[-3]) for row in rows]
        assert example["text"] == "\n".join(rows[0][1:-7])
        assert example["ratings"] == ratings
        assert example["rating_mean"] == pytest.approx(sum(ratings) / 3)
        assert abs(int(example["labels"][0]) - sum(ratings) / 3) <= 0.5


@pytest.mark.parametrize(
    ("mean", "label"), [(1, "1"), (1.33, "1"), (1.49, "1"), (2.5, "3"), (3.5, "4"), (4.33, "4"), (4.67, "5"), (5, "5")]
)
def test_mean_ratings_are_rounded_half_up(load: Load, write: Callable[..., str], mean: float, label: str) -> None:
    path = write({"context": "a", "reply": "b", "human_relevance_mean": mean})
    (example,) = examples_of(load(f"{TASK}:Relevance", humod_file=path))
    assert (example["labels"], example["rating_mean"], example["ratings"]) == ([label], mean, [])


def test_relevance_teacher_omits_unrated_pairs(load: Load, fixtures: Path) -> None:
    found = examples_of(load(f"{TASK}:Relevance", humod_file=str(fixtures / "humod/humod.jsonl")))
    assert [int(example["pair_id"][-2:]) for example in found] == [0, 1, 4, 5, 6, 7, 10, 11]


# --- NextUtterance ---------------------------------------------------------------------------------------------------


def test_next_utterance_teacher_message_fields(invented: Load) -> None:
    example = examples_of(invented(f"{TASK}:NextUtterance"))[1]
    candidates = example.pop("label_candidates")
    assert sorted(candidates) == ["Caf\u00e9's closed, try the harbour.", "The one with the goats."]
    assert example == {
        "id": f"{TASK}:NextUtterance",
        "text": GOATS,
        "labels": ["The one with the goats."],
        "pair_id": "2",
        "fold": "train",
        "episode_done": True,
    }


def test_repeated_context_gives_two_next_utterance_examples(invented: Load) -> None:
    what = [example for example in examples_of(invented(f"{TASK}:NextUtterance")) if example["text"] == "What?"]
    assert [sorted(example["label_candidates"]) for example in what] == [
        ["Nothing.", "Then we walk."],
        ["It is only rain.", "You heard me."],
    ]


def test_true_reply_position_among_candidates_varies(load: Load) -> None:
    found = examples_of(load(f"{TASK}:NextUtterance", edition="sample"))
    places = Counter(example["label_candidates"].index(example["labels"][0]) for example in found)
    # With equal chances, 51 of 102 are expected at each position, with a standard deviation of 5.
    assert set(places) == {0, 1}
    assert min(places.values()) > 30


def test_next_utterance_teacher_omits_context_without_random_reply(load: Load, write: Callable[..., str]) -> None:
    pairs = [{"context": "a", "reply": "b"}, {"context": "c", "reply": "d"}]
    pairs.append({"context": "c", "reply": "e", "reply_kind": "random_distractor"})
    assert [e["labels"] for e in examples_of(load(f"{TASK}:NextUtterance", humod_file=write(*pairs)))] == [["d"]]


def test_random_draws_are_reproducible_across_processes(load: Load, tmp_path: Path) -> None:
    """Also in another process, whose hashes differ."""
    code = (
        "import json, sys; from parlai.core.params import ParlaiParser; "
        "from parlai.core.teachers import create_task_agent_from_taskname as create; "
        "parser = ParlaiParser(True, False); "
        "make = lambda task, **more: create(parser.parse_kwargs(task=task, datatype='test', datapath='.', **more))[0]; "
        "next_ = make('empathy:humod:NextUtterance', edition='sample'); "
        "new = make('empathy:humod:Extended', edition='sample', humod_recombinations=3); "
        "print(json.dumps([[next_.act()['label_candidates'] for _ in range(next_.num_examples())], "
        "[new.act()['text'] for _ in range(new.num_examples())]]))"
    )
    random.seed(7)
    here = [
        [e["label_candidates"] for e in examples_of(load(f"{TASK}:NextUtterance", "test", edition="sample"))],
        [e["text"] for e in examples_of(load(f"{TASK}:Extended", "test", edition="sample", humod_recombinations=3))],
    ]
    command = [sys.executable, "-c", "from parlai_empathy import hook; hook.install(); " + code]
    there = succeeded(run(command, tmp_path, PYTHONHASHSEED="123"))
    assert json.loads(there.stdout.splitlines()[-1]) == here


# --- DiverseReplies --------------------------------------------------------------------------------------------------


def test_diverse_replies_teacher_message_fields(invented: Load) -> None:
    assert examples_of(invented(f"{TASK}:DiverseReplies"))[1] == {
        "id": f"{TASK}:DiverseReplies",
        "text": GOATS,
        "labels": ABOUT_GOATS,
        "pair_id": "2",
        "fold": "train",
        "episode_done": True,
    }


def test_diverse_replies_teacher_omits_context_without_human_reply(load: Load, write: Callable[..., str]) -> None:
    pairs = [{"context": "a", "reply": "b", "human_replies": ["", " "]}, {"context": "c", "reply": "d"}]
    assert [e["text"] for e in examples_of(load(f"{TASK}:DiverseReplies", humod_file=write(*pairs)))] == ["c"]


def test_any_human_reply_counts_as_correct(load: Load) -> None:
    """Multi-reference evaluation: an agent that always gives one person's reply to one context is right there."""
    answers = examples_of(load(f"{TASK}:DiverseReplies", "test", edition="sample"))
    fourth = answers[0]["labels"][3]
    times = sum(fourth in example["labels"] for example in answers)
    report = evaluate(load, f"{TASK}:DiverseReplies", FixedResponseAgent, fixed_response=fourth)
    assert float(report["accuracy"]) == pytest.approx(times / 12)


# --- Extended --------------------------------------------------------------------------------------------------------


def test_extended_teacher_adds_dialogues_with_human_replies(invented: Load) -> None:
    """The context about goats has its own reply and six others: seven dialogues, in the order of the file."""
    found = [example for example in examples_of(invented(f"{TASK}:Extended")) if example["text"] == GOATS]
    assert [example["labels"] for example in found] == [["The one with the goats."], *([text] for text in ABOUT_GOATS)]
    assert {example["pair_id"] for example in found} == {"2"}


NESTED = [
    {"id": "0", "context": "a", "reply": "b", "human_replies": ["b1", "b2", "b3", "b4"]},
    {"id": "2", "context": "a\nb", "reply": "c", "human_replies": ["c1", "c2", "c3", "c4"]},
    {"id": "4", "context": "a\nb\nc", "reply": "d", "human_replies": ["d1", "d2", "d3", "d4"]},
]


def test_extended_teacher_gives_all_125_dialogues_of_paper_example(load: Load, write: Callable[..., str]) -> None:
    """A dialogue whose last three turns have five choices each; its shorter contexts give 5 and 25 dialogues."""
    path = write(*NESTED)
    found = examples_of(load(f"{TASK}:Extended", humod_file=path, humod_recombinations=125))
    assert Counter(example["pair_id"] for example in found) == {"0": 5, "2": 25, "4": 125}
    whole = {(*example["text"].split("\n"), *example["labels"]) for example in found if example["pair_id"] == "4"}
    ways = ("{}", "{}1", "{}2", "{}3", "{}4")
    assert whole == {
        ("a", b.format("b"), c.format("c"), d.format("d")) for b in ways for c in ways for d in ways
    }  # fmt: skip


def test_recombinations_default_to_ten_per_context(load: Load, write: Callable[..., str]) -> None:
    path = write(*NESTED)
    found = examples_of(load(f"{TASK}:Extended", humod_file=path))
    assert Counter(example["pair_id"] for example in found) == {"0": 5, "2": 10, "4": 10}
    assert len({(example["text"], *example["labels"]) for example in found}) == 25
    assert load(f"{TASK}:Extended", humod_file=path, humod_recombinations=3).num_examples() == 9


def test_recombinations_are_drawn_separately_for_each_context(load: Load, write: Callable[..., str]) -> None:
    """Twenty contexts with seven possible replies each: with one draw for all, the same position would always win."""
    human = [str(number) for number in range(6)]
    path = write(*({"context": f"c{n}", "reply": "own", "human_replies": human} for n in range(20)))
    drawn = {e["labels"][0] for e in examples_of(load(f"{TASK}:Extended", humod_file=path, humod_recombinations=1))}
    assert len(drawn) > 3


@pytest.mark.parametrize("fold", FOLDS)
def test_recombinations_use_only_turns_of_the_same_fold(load: Load, fold: str) -> None:
    """Every turn of a new dialogue occurs in the fold itself."""
    known = set()
    for example in examples_of(load(f"{TASK}:Default", fold, edition="sample")):
        known.update(example["text"].split("\n"), example["references"])
    for example in examples_of(load(f"{TASK}:Extended", fold, edition="sample")):
        assert {*example["text"].split("\n"), *example["labels"]} <= known


@pytest.mark.parametrize("limit", [0, -1])
def test_recombinations_below_one_raise_option_error(load: Load, limit: int, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught:
        load(f"{TASK}:Extended", edition="sample", humod_recombinations=limit)
    assert_one_line(caught.value, f"--humod-recombinations {limit}", "at least 1")


@pytest.mark.parametrize("limit", ["2.5", "many", "True"])
def test_non_integer_recombinations_raise_option_error(load: Load, limit: str, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught:
        load(f"{TASK}:Extended:edition=sample:humod_recombinations={limit}")
    assert_one_line(caught.value, f"--humod-recombinations {limit}", "a whole number")


# --- through ParlAI --------------------------------------------------------------------------------------------------


def evaluate(load: Load, task: str, model: type[Agent], **options: Any) -> dict[str, Any]:
    """Return ParlAI's report on the sample's test fold, in batches of four."""
    parser = ParlaiParser(True, True)
    opt = parser.parse_kwargs(task=task, edition="sample", datatype="test", batchsize=4, model="repeat_label")
    opt.update(options)
    world = create_task(opt, model(opt))
    while not world.epoch_done():
        world.parley()
    return dict(world.report())


@pytest.mark.parametrize("teacher", TEACHERS)
def test_repeat_label_agent_has_full_accuracy(load: Load, teacher: str) -> None:
    report = evaluate(load, f"{TASK}:{teacher}", RepeatLabelAgent)
    assert int(report["exs"]) == load(f"{TASK}:{teacher}", "test", edition="sample").num_examples()
    assert float(report["accuracy"]) == 1


def test_random_candidate_agent_has_partial_hits_at_1(load: Load) -> None:
    random.seed(3)
    report = evaluate(load, f"{TASK}:NextUtterance", RandomCandidateAgent)
    assert 0 < float(report["hits@1"]) < 1
    assert float(report["hits@5"]) == 1  # there are only two


@pytest.mark.parametrize("teacher", TEACHERS)
def test_display_data_shows_examples(teacher: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DisplayData.main(task=f"{TASK}:{teacher}", edition="sample", num_examples=3, datapath=str(tmp_path))
    out = capsys.readouterr().out
    assert out.count("- - - NEW EPISODE") == 3
    first = next(iter(raw_sample().values()))[0]
    assert f"{first[1]}\n{first[2]}\n" in out


def test_build_dict_leaves_no_files_in_package(tmp_path: Path) -> None:
    """ParlAI streams the data to build one."""
    BuildDict.main(task=TASK, edition="sample", dict_file=str(tmp_path / "dict"), datapath=str(tmp_path))
    assert "the" in (tmp_path / "dict").read_text()
    assert [path.name for path in SAMPLE.parent.iterdir()] == ["HUMOD_Dataset.TXT"]


@pytest.mark.parametrize("datatype", ["train:stream", "train:stream:ordered", "valid:stream", "test:stream"])
def test_streaming_gives_same_examples_and_leaves_no_files(
    load: Load, fixtures: Path, tmp_path: Path, datatype: str
) -> None:
    (folder := tmp_path / "own").mkdir()
    (path := folder / "some.TXT").write_bytes(SAMPLE.read_bytes())
    for teacher in ("Default", "Relevance"):  # the second must not use the counts of the first
        streamed = load(f"{TASK}:{teacher}", datatype=datatype, humod_file=str(path))
        whole = load(f"{TASK}:{teacher}", datatype.split(":")[0], humod_file=str(path))
        assert streamed.num_examples() == whole.num_examples()
        if datatype != "train:stream":  # endless and in random order
            assert examples_of(streamed) == examples_of(whole)
        else:
            assert streamed.act()["text"] in {example["text"] for example in examples_of(whole)}
    assert [path.name for path in folder.iterdir()] == ["some.TXT"]


def test_teacher_does_not_modify_options(tmp_path: Path) -> None:
    """ParlAI passes the same options to several teachers."""
    parser = ParlaiParser(True, False)
    opt = parser.parse_kwargs(task=TASK, edition="sample", datapath=str(tmp_path), datatype="test:stream")
    before = dict(opt)
    agents.DefaultTeacher(opt)
    assert dict(opt) == before


# --- options ---------------------------------------------------------------------------------------------------------


def test_options_can_follow_task_name_after_colons(load: Load) -> None:
    by_colon = examples_of(load(f"{TASK}:Relevance:edition=sample:humod_split=rated", "test"))
    plain = examples_of(load(f"{TASK}:Relevance", "test", edition="sample", humod_split="rated"))
    assert by_colon == plain
    assert len(by_colon) == 120


def test_several_teachers_can_be_combined(load: Load, fixtures: Path) -> None:
    both = load(f"{TASK}:edition=sample,{TASK}:Relevance:humod_file={fixtures}/humod/humod.jsonl")
    assert both.num_examples() == 102 + 8


def test_unknown_edition_raises_option_error(load: Load, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught:
        load(f"{TASK}:edition=smaple")
    assert_one_line(caught.value, "--edition smaple", "full or sample")


@pytest.mark.parametrize("split", ["mine", "1", "true"])
def test_unknown_split_raises_option_error(load: Load, split: str, assert_one_line: OneLine) -> None:
    with pytest.raises(OptionError) as caught:
        load(f"{TASK}:edition=sample:humod_split={split}")
    assert_one_line(caught.value, "--humod-split", "must be one of paper, rated")


def test_full_edition_comes_from_mirror(
    load: Load, fixtures: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", str(fixtures))
    assert load(TASK).num_examples() == 6
    assert (tmp_path / "data/humod/HUMOD_Dataset.TXT").is_file()


# --- invalid data -----------------------------------------------------------------------------------------------------


@pytest.fixture
def flawed(tmp_path: Path) -> Path:
    """The sample with three bad rows: a rating, an empty reply, and bytes that are not UTF-8."""
    lines = SAMPLE.read_bytes().split(b"\n")
    fields = lines[4].split(b"\t")
    lines[4] = b"\t".join([*fields[:-3], b"7", *fields[-2:]])
    fields = lines[9].split(b"\t")
    lines[9] = b"\t".join([*fields[:-8], b"Speaker 1: ", *fields[-7:]])
    lines[700] = lines[700].replace(b"\tSpeaker 2:", b"\tSpeaker 2: \xff", 1)
    (path := tmp_path / "flawed.TXT").write_bytes(b"\n".join(lines))
    return path


def test_bad_row_raises_data_error(load: Load, flawed: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        load(TASK, humod_file=str(flawed))
    assert_one_line(caught.value, f"{flawed}, line 5, column User Relevance Score: '7'", "--skip-bad-rows true")


@pytest.mark.parametrize("by_colon", [False, True])
def test_skipped_bad_rows_are_counted_and_reported(
    load: Load, flawed: Path, log: pytest.LogCaptureFixture, by_colon: bool
) -> None:
    """The pairs keep the ratings of their other rows."""
    if by_colon:
        found = [load(f"{TASK}:Relevance:skip_bad_rows=true:humod_file={flawed}", fold) for fold in FOLDS]
    else:
        found = [load(f"{TASK}:Relevance", fold, humod_file=str(flawed), skip_bad_rows=True) for fold in FOLDS]
    counts = Counter(len(example["ratings"]) for teacher in found for example in examples_of(teacher))
    assert counts == {2: 3, 3: 237}
    warnings = [record.message for record in log.records if record.levelname == "WARNING"]
    said = [line.strip().removeprefix(f"{flawed}") for line in warnings[:4]]
    assert said[0] == ": left out 3 bad row(s):"
    assert said[1].startswith(", line 5, column User Relevance Score: '7'")
    assert said[2].startswith(", line 10, column Reply: 'Speaker 1: ' is empty")
    assert said[3].startswith(", line 701, column ")
    assert len(warnings) == 3 * 4  # once for each fold


def test_valid_data_logs_no_warning(load: Load, log: pytest.LogCaptureFixture) -> None:
    load(TASK, edition="sample", skip_bad_rows=True)
    assert [record.message for record in log.records if record.levelname == "WARNING"] == []


def test_empty_human_replies_are_counted_in_log(invented: Load, log: pytest.LogCaptureFixture) -> None:
    invented(TASK)
    said = "HUMOD_Dataset.TXT: 1 human reply(ies) are empty and give no example"
    assert [record.levelname for record in log.records if record.message.endswith(said)] == ["INFO"]


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("fold", ["valid", "test"])
def test_fold_without_examples_raises_data_error(
    load: Load, fixtures: Path, teacher: str, fold: str, assert_one_line: OneLine
) -> None:
    """The shares of test and valid, 1.3 and 0.6 of 12 pairs, are smaller than any context."""
    path = fixtures / "humod/HUMOD_Dataset.TXT"
    with pytest.raises(DataError) as caught:
        load(f"{TASK}:{teacher}", fold, humod_file=str(path))
    assert_one_line(caught.value, path, f"its {fold} fold has no example for {teacher}Teacher")


def test_fold_without_rated_pairs_raises_data_error(
    load: Load, write: Callable[..., str], assert_one_line: OneLine
) -> None:
    path = write({"context": "a", "reply": "b"})
    assert load(TASK, humod_file=path).num_examples() == 1
    with pytest.raises(DataError) as caught:
        load(f"{TASK}:Relevance", humod_file=path)
    assert_one_line(caught.value, path, "its train fold has no example for RelevanceTeacher")


@pytest.mark.parametrize("skip", [False, True])
def test_file_without_pairs_raises_data_error(load: Load, tmp_path: Path, skip: bool, assert_one_line: OneLine) -> None:
    (path := tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DataError) as caught:
        load(TASK, humod_file=str(path), skip_bad_rows=skip)
    assert_one_line(caught.value, path, "holds no pair")


def test_missing_file_raises_data_error(load: Load, tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        load(TASK, humod_file=str(tmp_path / "none.TXT"))
    assert_one_line(caught.value, tmp_path / "none.TXT", "cannot be read")


# --- the data set ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def read_once() -> Callable[..., list[Pair]]:
    """A cached reading function: thirty teachers read the same file."""
    return functools.cache(agents.read_pairs)


COUNTS = {
    # "paper": 9,499 pairs, 4,749 of them with an original reply; "rated": 349 contexts have ratings of both replies.
    ("paper", "Default"): (3_999, 250, 500),
    ("paper", "Relevance"): (590, 42, 68),
    ("paper", "NextUtterance"): (3_999, 250, 500),
    ("paper", "DiverseReplies"): (4_000, 250, 500),
    ("paper", "Extended"): (29_774, 1_760, 3_581),
    ("rated", "Default"): (4_540, 35, 174),
    ("rated", "Relevance"): (282, 70, 348),
    ("rated", "NextUtterance"): (4_540, 35, 174),
    ("rated", "DiverseReplies"): (4_541, 35, 174),
    ("rated", "Extended"): (34_032, 245, 1_256),
}


@pytest.mark.parametrize(("split", "teacher"), COUNTS)
def test_full_dataset_has_expected_counts(
    load: Load,
    real_data: Path,
    read_once: Callable[..., list[Pair]],
    split: str,
    teacher: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agents, "read_pairs", read_once)
    options = {"humod_file": str(real_data / "humod/humod_9500.jsonl"), "skip_bad_rows": True, "humod_split": split}
    counts = tuple(load(f"{TASK}:{teacher}", fold, **options).num_examples() for fold in FOLDS)
    assert counts == COUNTS[split, teacher]


def test_readme_lists_expected_counts() -> None:
    """Each teacher's row has train, valid and test of the split ``paper``, and of the split ``rated``."""
    table = {}
    for line in README.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| (?:nothing, or )?`:(\w+)` \|", line):
            table[match[1]] = [cell.strip() for cell in line.split("|")[-3:-1]]
    expected = {
        teacher: [" / ".join(f"{number:,}" for number in COUNTS[split, teacher]) for split in ("paper", "rated")]
        for teacher in TEACHERS
    }
    assert table == expected


def test_readme_documents_every_option() -> None:
    parser = ParlaiParser(True, False)
    agents.ExtendedTeacher.add_cmdline_args(parser)
    ours = [group for group in parser._action_groups if group.title and group.title.startswith("HUMOD")]
    options = {action.option_strings[0] for group in ours for action in group._group_actions}
    assert options == set(re.findall(r"^\| `(--[a-z-]+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(options) == 5


def test_full_dataset_requires_skip_bad_rows_for_its_empty_reply(
    load: Load, real_data: Path, assert_one_line: OneLine
) -> None:
    with pytest.raises(DataError) as caught:
        load(TASK, humod_file=str(real_data / "humod/humod_9500.jsonl"))
    assert_one_line(caught.value, "humod_9500.jsonl, line 8285, column reply: ''", "--skip-bad-rows true")
