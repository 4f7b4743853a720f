"""The teachers, as ParlAI itself loads them, on the invented files, the sample, and the data set.

The invented files hold 5 / 3 / 3 conversations with these turns (train, valid, test)::

    train  proud 4, terrified 3, angry 4 (political), joyful 2, lonely 5   18 turns,  8 of them the Listener's
    valid  grateful 4, guilty 3 (political), content 4                     11 turns,  5
    test   nostalgic 4, anxious 2, caring 6                                12 turns,  6
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from parlai.agents.repeat_label.repeat_label import RepeatLabelAgent
from parlai.core.params import ParlaiParser
from parlai.core.teachers import Teacher
from parlai.core.worlds import create_task
from parlai.scripts.build_dict import BuildDict
from processes import run, succeeded
from teachers import examples_of

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.empathetic_dialogues import agents
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

OneLine = Callable[..., None]
Load = Callable[..., Teacher]
Example = dict[str, Any]

TASK = "empathy:empathetic_dialogues"
TEACHERS = ["Default", "BothRoles", "LastReply", "Speaker", "SituationEmotion", "SituationEmotionCut", "ContextEmotion"]
README = Path(agents.__file__).parent / "README.md"
FOLDS = {"train": "train:ordered", "valid": "valid", "test": "test"}
CARING = [
    "My dog broke a leg.",
    "Poor dog! How did he do it?",
    "He jumped after a cat.",
    "Did he get the cat?",
    "No, and he is too heavy to carry.",
    "You carry him? You are a good soul.",
]


def pairs(teacher: Teacher) -> list[tuple[str, str]]:
    return [(example["text"], example["labels"][0]) for example in examples_of(teacher)]


def raw_conversations(path: Path) -> list[list[list[str]]]:
    """Return the fields of each row, one list per conversation, by splitting lines, without the reader."""
    rows = [line.replace("_comma_", "\x00").split(",") for line in path.read_text().split("\n")[1:] if line]
    rows = [[field.replace("\x00", ",") for field in row] for row in rows]
    return [list(group) for _, group in groupby(rows, key=lambda row: row[0])]


def listener_examples(path: Path, history: int) -> list[tuple[str, str]]:
    """Return the expected Listener examples: the last ``history`` true turns, and the reply."""
    found = []
    for rows in raw_conversations(path):
        turns = [row[5] for row in rows]
        for place in range(1, len(turns), 2):
            found.append(("\n".join(turns[max(0, place - history) : place]), turns[place]))
    return found


# --- how many --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("teacher", "train", "valid", "test"),
    [
        ("Default", 8, 5, 6),  # the Listener's turns
        ("BothRoles", 18 - 5, 5, 6),  # in training every turn but the first of each conversation
        ("Speaker", 18 - 8, 11 - 5, 12 - 6),
        ("SituationEmotion", 5, 3, 3),  # one per conversation
        (
            "SituationEmotionCut",
            4,
            2,
            3,
        ),  # without "I was angry when ..." and "Guilty is how ..."; "discontented" stays
        ("ContextEmotion", 8, 5, 6),
    ],
)
def test_number_of_examples(load: Load, ed_mirror: Path, teacher: str, train: int, valid: int, test: int) -> None:
    for fold, expected in [("train", train), ("valid", valid), ("test", test)]:
        loaded = load(f"{TASK}:{teacher}", fold)
        assert loaded.num_examples() == loaded.num_episodes() == expected
        assert len(examples_of(loaded)) == expected


def test_bare_task_name_uses_default_teacher(load: Load, ed_mirror: Path) -> None:
    assert pairs(load(TASK, "test")) == pairs(load(f"{TASK}:Default", "test"))


def test_both_roles_keeps_training_examples_in_train_evalmode(load: Load, ed_mirror: Path) -> None:
    assert load(f"{TASK}:BothRoles", datatype="train:evalmode").num_examples() == 13


def test_training_continues_after_an_epoch_and_covers_all_examples(load: Load, ed_mirror: Path) -> None:
    teacher = load(TASK, datatype="train")
    random.seed(1)
    met = {teacher.act()["labels"][0] for _ in range(200)}
    assert met == {label for _, label in pairs(load(TASK, "train"))}


def test_batched_evaluation_counts_each_example_once(load: Load, ed_mirror: Path, tmp_path: Path) -> None:
    parser = ParlaiParser(True, True)
    opt = parser.parse_kwargs(
        task=TASK, datapath=str(tmp_path / "data"), datatype="test", batchsize=4, model="repeat_label"
    )
    world = create_task(opt, RepeatLabelAgent(opt))
    while not world.epoch_done():
        world.parley()
    report = world.report()
    assert int(report["exs"]) == 6
    assert float(report["accuracy"]) == 1


# --- what the text is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "first"),
    [(None, 1), (4, 1), (-1, 0), (1, 4), (2, 3), (5, 0), (9, 0)],  # the paper's 4 is the default
)
def test_history_limits_number_of_context_turns(load: Load, ed_mirror: Path, history: int | None, first: int) -> None:
    options = {} if history is None else {"ed_history": history}
    assert pairs(load(TASK, "test", **options))[-1] == ("\n".join(CARING[first:5]), CARING[5])


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("history", [1, 4])
def test_default_teacher_examples_match_raw_files(load: Load, ed_mirror: Path, fold: str, history: int) -> None:
    expected = listener_examples(ed_mirror / f"empatheticdialogues/{fold}.csv", history)
    assert pairs(load(TASK, fold, ed_history=history)) == expected


@pytest.mark.parametrize("fold", FOLDS)
def test_default_teacher_examples_match_raw_sample(load: Load, fold: str) -> None:
    assert pairs(load(TASK, fold, edition="sample")) == listener_examples(SAMPLE / f"{fold}.csv", 4)


def test_both_roles_training_examples_cover_both_speakers(load: Load, ed_mirror: Path) -> None:
    lonely = pairs(load(f"{TASK}:BothRoles", "train", ed_history=2))[-4:]
    assert lonely == [
        ("I eat lunch by myself each day.", "That must be hard."),
        ("I eat lunch by myself each day.\nThat must be hard.", "It is, and the evenings are long."),
        ("That must be hard.\nIt is, and the evenings are long.", "Have you tried the chess club?"),
        ("It is, and the evenings are long.\nHave you tried the chess club?", "No, but I will. Thank you!"),
    ]


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_both_roles_evaluation_equals_default_teacher(load: Load, ed_mirror: Path, fold: str) -> None:
    assert examples_of(load(f"{TASK}:BothRoles", fold)) == [
        {**example, "id": f"{TASK}:BothRoles"} for example in examples_of(load(f"{TASK}:Default", fold))
    ]


def test_speaker_context_starts_with_situation(load: Load, ed_mirror: Path) -> None:
    situation = "My dog broke a leg, so I carried him up the stairs."
    assert pairs(load(f"{TASK}:Speaker", "test", ed_history=2))[-3:] == [
        (situation, CARING[0]),
        (f"{situation}\n{CARING[0]}\n{CARING[1]}", CARING[2]),
        (f"{situation}\n{CARING[2]}\n{CARING[3]}", CARING[4]),
    ]


def test_situation_emotion_teacher_examples(load: Load, ed_mirror: Path) -> None:
    found = examples_of(load(f"{TASK}:SituationEmotion", "valid"))
    assert [(example["text"], example["labels"]) for example in found] == [
        ("My neighbour lent me his van for the move.", ["grateful"]),
        ("Guilty is how I felt when I forgot to vote.", ["guilty"]),
        ("I was discontented, and then came an evening with tea.", ["content"]),
    ]
    assert [example["label_candidates"] for example in found] == [list(EMOTIONS)] * 3


def test_situation_emotion_cut_drops_situations_containing_label(load: Load, ed_mirror: Path) -> None:
    assert [label for _, label in pairs(load(f"{TASK}:SituationEmotionCut", "valid"))] == ["grateful", "content"]
    labels = [label for _, label in pairs(load(f"{TASK}:SituationEmotionCut", "train"))]
    assert labels == ["proud", "terrified", "joyful", "lonely"]


@pytest.mark.parametrize("fold", FOLDS)
def test_context_emotion_teacher_labels_contexts_with_emotion(load: Load, ed_mirror: Path, fold: str) -> None:
    found = examples_of(load(f"{TASK}:ContextEmotion", fold))
    replies = examples_of(load(TASK, fold))
    assert [example["text"] for example in found] == [example["text"] for example in replies]
    assert [example["labels"] for example in found] == [[example["emotion"]] for example in replies]
    assert all(example["label_candidates"] == list(EMOTIONS) for example in found)


@pytest.mark.parametrize("teacher", ["Default", "BothRoles", "ContextEmotion"])
@pytest.mark.parametrize("fold", FOLDS)
def test_text_contains_neither_situation_nor_emotion(load: Load, ed_mirror: Path, teacher: str, fold: str) -> None:
    """No turn of the invented files contains either, so the teacher must have added any that is found."""
    for example in examples_of(load(f"{TASK}:{teacher}", fold)):
        assert example["emotion"] not in example["text"].lower()
        assert example["situation"] not in example["text"]


# --- the other fields ------------------------------------------------------------------------------------------------


def test_training_message_fields(load: Load, ed_mirror: Path) -> None:
    assert examples_of(load(TASK, "train"))[3] == {
        "id": TASK,
        "text": "The mayor closed our library.",
        "labels": ["Did he say why?"],
        "episode_done": True,
        "conv_id": "hit:2_conv:5",
        "emotion": "angry",
        "situation": "I was angry when the mayor closed our library.",
        "self_evaluations": [(3, 3, 3), (2, 4, 5)],
        "tags": ["<POLITICAL>"],
        "turn": 2,
        "fold": "train",
    }


def test_message_omits_empty_fields(load: Load, ed_mirror: Path) -> None:
    joyful = examples_of(load(TASK, "train"))[5]
    assert joyful["emotion"] == "joyful"
    assert not {"self_evaluations", "tags", "label_candidates", "candidates_source"} & set(joyful)


@pytest.mark.parametrize("teacher", TEACHERS)
def test_messages_have_fold_and_conversation_fields(load: Load, ed_mirror: Path, teacher: str) -> None:
    for fold in FOLDS:
        for example in examples_of(load(f"{TASK}:{teacher}", fold)):
            assert {"conv_id", "emotion", "situation"} <= set(example)
            assert example["fold"] == fold
            assert example["episode_done"] is True


# --- candidates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_eval_candidates_come_from_file(load: Load, ed_mirror: Path, fold: str) -> None:
    rows = [row for rows in raw_conversations(ed_mirror / f"empatheticdialogues/{fold}.csv") for row in rows[1::2]]
    found = examples_of(load(TASK, fold))
    assert [example["label_candidates"] for example in found] == [
        [text.replace("_pipe_", "|") for text in row[8].split("|")] for row in rows
    ]
    assert {example["candidates_source"] for example in found} == {"file"}
    assert all(example["label_candidates"].count(example["labels"][0]) == 1 for example in found)


def test_training_messages_have_no_candidates(load: Load, ed_mirror: Path) -> None:
    assert not any("label_candidates" in example for example in examples_of(load(TASK, "train", edition="sample")))


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_sampled_candidates_are_100_replies_of_the_fold(load: Load, fold: str) -> None:
    replies = {label for _, label in listener_examples(SAMPLE / f"{fold}.csv", 1)}
    places = set()
    for example in examples_of(load(TASK, fold, edition="sample")):
        candidates = example["label_candidates"]
        assert example["candidates_source"] == "sampled"
        assert len(set(candidates)) == len(candidates) == 100
        assert set(candidates) <= replies
        places.add(candidates.index(example["labels"][0]))
    assert len(places) > 50  # of 100: a model cannot learn the position of the true reply


def test_sampled_candidates_differ_between_turns(load: Load) -> None:
    found = [frozenset(example["label_candidates"]) for example in examples_of(load(TASK, "test", edition="sample"))]
    assert len(set(found)) == len(found)


def test_sampled_candidates_are_reproducible_across_processes(load: Load, tmp_path: Path) -> None:
    """Also in another process, whose hashes differ, and for ``BothRoles`` as for the default teacher."""
    code = (
        "import json, sys; from parlai.core.params import ParlaiParser; "
        "from parlai.core.teachers import create_task_agent_from_taskname as create; "
        "parser = ParlaiParser(True, False); "
        "opt = parser.parse_kwargs(task=sys.argv[1], edition='sample', datatype='test', datapath='.'); "
        "teacher = create(opt)[0]; "
        "print(json.dumps([teacher.act()['label_candidates'] for _ in range(teacher.num_examples())]))"
    )
    random.seed(7)
    here = [example["label_candidates"] for example in examples_of(load(TASK, "test", edition="sample"))]
    command = [sys.executable, "-c", "from parlai_empathy import hook; hook.install(); " + code, f"{TASK}:BothRoles"]
    there = succeeded(run(command, tmp_path, PYTHONHASHSEED="123"))
    assert json.loads(there.stdout.splitlines()[-1]) == here


def test_small_fold_uses_all_replies_as_candidates(load: Load, ed_mirror: Path) -> None:
    without_candidates(ed_mirror / "empatheticdialogues/test.csv")
    for example in examples_of(load(TASK, "test")):
        assert example["candidates_source"] == "sampled"
        assert set(example["label_candidates"]) == {label for _, label in pairs(load(TASK, "test"))}
        assert len(example["label_candidates"]) == 6


def without_candidates(path: Path) -> None:
    rows = [line.split(",")[:8] for line in path.read_text().splitlines()]
    path.write_text("".join(",".join(row) + "\n" for row in rows))


def test_file_candidates_without_true_reply_are_replaced(load: Load, ed_mirror: Path) -> None:
    path = ed_mirror / "empatheticdialogues/test.csv"
    path.write_text(path.read_text().replace(",Does it still fly?,", ",Does it fly?,"))
    first, second = examples_of(load(TASK, "test"))[:2]
    assert (first["candidates_source"], second["candidates_source"]) == ("sampled", "file")
    assert first["labels"] == ["Does it fly?"]
    assert first["label_candidates"].count("Does it fly?") == 1


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("teacher", "train", "valid"), [("Default", 6, 4), ("BothRoles", 10, 4), ("Speaker", 8, 4)])
def test_drop_political_removes_tagged_conversations(
    load: Load, ed_mirror: Path, teacher: str, train: int, valid: int
) -> None:
    """One conversation of 4 turns in train, one of 3 turns in valid."""
    for fold, expected in [("train", train), ("valid", valid)]:
        found = examples_of(load(f"{TASK}:{teacher}", fold, ed_drop_political=True))
        assert len(found) == expected
        assert not any("tags" in example for example in found)


@pytest.mark.parametrize("history", [0, -2])
def test_invalid_history_raises_option_error(
    load: Load, ed_mirror: Path, history: int, assert_one_line: OneLine
) -> None:
    with pytest.raises(OptionError) as caught:
        load(TASK, ed_history=history)
    assert_one_line(caught.value, f"--ed-history {history}", "at least 1, or -1")


def test_options_can_follow_task_name_after_colons(load: Load) -> None:
    by_colon = pairs(load(f"{TASK}:BothRoles:edition=sample:ed_history=1", "train"))
    assert by_colon == pairs(load(f"{TASK}:BothRoles", "train", edition="sample", ed_history=1))
    assert not any("\n" in text for text, _ in by_colon)
    # All rows of the sample except the header and the 288 first turns.
    assert len(by_colon) == len((SAMPLE / "train.csv").read_text().splitlines()) - 1 - 288


def test_two_editions_can_be_combined(load: Load, ed_mirror: Path) -> None:
    both = load(f"{TASK}:edition=sample,{TASK}:edition=full", "test")
    assert both.num_examples() == len(listener_examples(SAMPLE / "test.csv", 1)) + 6


def test_teacher_does_not_modify_options(tmp_path: Path, ed_mirror: Path) -> None:
    """ParlAI passes the same options to several teachers."""
    parser = ParlaiParser(True, False)
    opt = parser.parse_kwargs(task=TASK, datapath=str(tmp_path / "data"), datatype="test:stream")
    before = dict(opt)
    agents.DefaultTeacher(opt)
    assert dict(opt) == before


# --- streaming -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("datatype", ["train:stream:ordered", "valid:stream", "test:stream"])
def test_streaming_gives_same_examples_and_leaves_no_files(
    load: Load, ed_mirror: Path, tmp_path: Path, datatype: str
) -> None:
    fold = datatype.split(":")[0]
    for teacher in ["Default", "BothRoles"]:  # the second must not use the counts of the first
        streamed = load(f"{TASK}:{teacher}", datatype=datatype)
        assert streamed.num_examples() == load(f"{TASK}:{teacher}", fold).num_examples()
        assert pairs(streamed) == pairs(load(f"{TASK}:{teacher}", fold))
    assert sorted(path.name for path in (tmp_path / "data").rglob("*.csv*")) == ["test.csv", "train.csv", "valid.csv"]


def test_build_dict_leaves_no_files_in_package(tmp_path: Path) -> None:
    """ParlAI streams the data to build one."""
    BuildDict.main(task=TASK, edition="sample", dict_file=str(tmp_path / "dict"), datapath=str(tmp_path))
    assert "scared" in (tmp_path / "dict").read_text()
    assert sorted(path.name for path in SAMPLE.iterdir()) == ["test.csv", "train.csv", "valid.csv"]


# --- invalid data -----------------------------------------------------------------------------------------------------


def test_empty_reply_is_left_out_with_warning(load: Load, ed_mirror: Path, log: pytest.LogCaptureFixture) -> None:
    path = ed_mirror / "empatheticdialogues/test.csv"
    path.write_text(path.read_text().replace(f",{CARING[3]},", ", ,"))
    found = pairs(load(TASK, "test"))
    assert len(found) == 5
    assert found[-1] == (f"{CARING[1]}\n{CARING[2]}\n\n{CARING[4]}", CARING[5])  # the context keeps the empty turn
    built = "test.csv: left out 1 example(s) whose reply is empty"
    assert [record.levelname for record in log.records if record.message.endswith(built)] == ["WARNING"]


def test_valid_data_logs_no_warning(load: Load, ed_mirror: Path, log: pytest.LogCaptureFixture) -> None:
    load(TASK, "test")
    assert [record.message for record in log.records if record.levelname == "WARNING"] == []


def keep_rows(path: Path, keep: Callable[[list[str]], bool]) -> None:
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *(row for row in rows if keep(row.split(",")))]) + "\n")


@pytest.mark.parametrize("teacher", TEACHERS)
def test_empty_fold_raises_data_error(load: Load, ed_mirror: Path, teacher: str, assert_one_line: OneLine) -> None:
    keep_rows(ed_mirror / "empatheticdialogues/valid.csv", lambda row: False)
    with pytest.raises(DataError) as caught:
        load(f"{TASK}:{teacher}", "valid")
    assert_one_line(caught.value, "valid.csv", "holds no conversation")


def test_fold_emptied_by_options_raises_data_error(load: Load, ed_mirror: Path, assert_one_line: OneLine) -> None:
    keep_rows(ed_mirror / "empatheticdialogues/train.csv", lambda row: row[7] == "<POLITICAL>")
    assert load(TASK, "train").num_examples() == 2
    with pytest.raises(DataError) as caught:
        load(TASK, "train", ed_drop_political=True)
    assert_one_line(caught.value, "train.csv", "--ed-drop-political leaves no conversation")


def test_fold_without_replies_raises_data_error(load: Load, ed_mirror: Path, assert_one_line: OneLine) -> None:
    keep_rows(ed_mirror / "empatheticdialogues/test.csv", lambda row: row[1] == "1")
    assert load(f"{TASK}:Speaker", "test").num_examples() == 3
    with pytest.raises(DataError) as caught:
        load(TASK, "test")
    assert_one_line(caught.value, "test.csv", "its test fold has no example for DefaultTeacher")


def test_bad_line_error_passes_through_parlai_loader(load: Load, ed_mirror: Path, assert_one_line: OneLine) -> None:
    with (ed_mirror / "empatheticdialogues/valid.csv").open("a") as file:
        file.write("c,1,gloomy,s,7,Hello,,\n")
    with pytest.raises(DataError) as caught:
        load(TASK, "valid")
    assert_one_line(caught.value, "valid.csv, line 13", "'gloomy'")  # after the header and 11 turns


# --- beside ParlAI's builtin teacher ---------------------------------------------------------------------------------


def comparable(teacher: Teacher) -> Counter[tuple[Any, ...]]:
    """Count examples by the fields that both teachers have, stripped: the builtin one keeps spaces around texts."""
    fields = ("text", "situation", "emotion")
    return Counter(
        (*(example[field].strip() for field in fields), *example["labels"], *example.get("label_candidates", ()))
        for example in examples_of(teacher)
    )


@pytest.mark.parametrize(("ours", "fold"), [("BothRoles", "train"), ("Default", "valid"), ("Default", "test")])
def test_examples_match_parlai_teacher(load: Load, ed_mirror: Path, ours: str, fold: str) -> None:
    """With a history of one turn, as in its episodes; it parses the files with code of its own."""
    builtin = load("empathetic_dialogues", fold)
    assert comparable(load(f"{TASK}:{ours}", fold, ed_history=1)) == comparable(builtin)


def test_training_examples_match_parlai_train_experiencer_only(load: Load, ed_mirror: Path) -> None:
    builtin = load("empathetic_dialogues", "train", train_experiencer_only=True)
    assert comparable(load(TASK, "train", ed_history=1)) == comparable(builtin)


# --- the data set ----------------------------------------------------------------------------------------------------


@pytest.fixture
def real(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real files, on a mirror."""
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    return real_data / "empatheticdialogues"


@pytest.mark.parametrize(
    ("teacher", "row", "expected"),
    [
        ("Default", "nothing, or `:Default`", (40_252, 5_736, 5_257)),  # the Listener's turns
        ("BothRoles", "`:BothRoles`", (84_165 - 19_532, 5_736, 5_257)),  # every utterance but the first
        ("LastReply", "`:LastReply`", (19_530, 2_768, 2_546)),  # the conversations with a reply
        ("Speaker", "`:Speaker`", (84_165 - 40_252, 12_074 - 5_736, 10_969 - 5_257)),
        ("SituationEmotion", "`:SituationEmotion`", (19_532, 2_769, 2_546)),
        ("ContextEmotion", "`:ContextEmotion`", (40_252, 5_736, 5_257)),
    ],
)
def test_full_dataset_counts_match_readme(
    load: Load, real: Path, teacher: str, row: str, expected: tuple[int, int, int]
) -> None:
    assert tuple(load(f"{TASK}:{teacher}", fold).num_examples() for fold in FOLDS) == expected
    assert counts_in_the_readme(row) == expected


def counts_in_the_readme(row: str) -> tuple[int, ...]:
    """Return the last three cells of the table row that starts with ``row``."""
    (line,) = (line for line in README.read_text().splitlines() if line.startswith(f"| {row} |"))
    return tuple(int(cell.replace(",", "")) for cell in line.split("|")[-4:-1])


@pytest.mark.parametrize(("place", "fold"), list(enumerate(FOLDS)))
def test_situation_emotion_cut_on_full_dataset(load: Load, real: Path, place: int, fold: str) -> None:
    first_rows = [rows[0] for rows in raw_conversations(real / f"{fold}.csv")]
    kept = [row[2] for row in first_rows if row[2] not in re.split(r"\W+", row[3].lower())]
    assert [label for _, label in pairs(load(f"{TASK}:SituationEmotionCut", fold))] == kept
    assert counts_in_the_readme("`:SituationEmotionCut`")[place] == len(kept)


def test_readme_has_situation_emotion_cut_sample_counts(load: Load) -> None:
    counts = [load(f"{TASK}:SituationEmotionCut", fold, edition="sample").num_examples() for fold in FOLDS]
    assert f"`:SituationEmotionCut` leaves {counts[0]} / {counts[1]} / {counts[2]} " in README.read_text()


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_full_dataset_examples_match_parlai_teacher(load: Load, real: Path, fold: str) -> None:
    expected = comparable(without_sampled(load(TASK, fold, ed_history=1)))
    assert comparable(load("empathetic_dialogues", fold)) == expected


def without_sampled(teacher: Teacher) -> Teacher:
    """Remove the candidates that our teacher samples because the files have none; ParlAI's teacher has none."""
    for (example,) in teacher.data.data:
        del example["label_candidates"]
    return teacher
