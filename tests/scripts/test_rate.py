"""``parlai rate`` with scripted terminal input."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError
from parlai_empathy.rating.collecting.collection import Collection
from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.scripts.rate import Rate
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

Run = Callable[..., str]


def rows_of(file: str) -> list[dict[str, str]]:
    with Path(file).open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in a temporary folder with these lines as input; return what it prints."""
    monkeypatch.chdir(tmp_path)

    def rate(*arguments: str, types: tuple[str, ...] = ()) -> str:
        lines = iter(types)

        def type_line(prompt: str = "") -> str:
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", type_line)
        capsys.readouterr()
        Rate.main(*arguments)
        return capsys.readouterr().out

    return rate


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    for name in "AB":
        records = [
            {"context": [f"Heron {n}."], "reply": f"{name} says {n}.", "reference": f"Lovely {n}."} for n in "123"
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return ["A=A.jsonl", "B=B.jsonl"]


def test_replies_are_rated_and_exported(run: Run, logs: list[str]) -> None:
    study = ("--study", "humod", "--logs", *logs, "--rater", "ann")
    shown = run(*study, types=("yes", "4", "How lovely!", "nine", "2", "back", "3", "Is it so?", "quit"))
    assert "Does the reply fit the conversation?\n====" in shown
    assert "Please answer again: 'nine' is not a valid answer" in shown
    assert shown.endswith("Goodbye. What you have finished is kept; the same command resumes from here.\n")
    assert "[3 of 3]" in run(*study, types=("5", "Fine.", "quit"))
    assert run(*study, "--export", "ratings.csv") == "6 ratings: ratings.csv\n"
    rows = rows_of("ratings.csv")
    assert [(row["question"], row["rating"], row["text"]) for row in rows[:4]] == [
        ("own_reply", "", "How lovely!"),
        ("relevance", "4", ""),
        ("own_reply", "", "Is it so?"),
        ("relevance", "3", ""),
    ]
    assert {row["rater"] for row in rows} == {"ann"}
    assert Path("ratings.db").is_file()


def test_ed_study_rates_gold_and_each_system(run: Run, logs: list[str]) -> None:
    Path("small.yaml").write_text("extends: ed\nratings_per_system: 1\nsystems: {A: A.jsonl, B: B.jsonl}\n")
    run("--study", "small.yaml", "--rater", "ann", "--store", "other.db", types=("yes", *"345" * 3))
    run("--study", "small.yaml", "--store", "other.db", "--export", "ratings.jsonl")
    rows = [json.loads(line) for line in Path("ratings.jsonl").read_text().splitlines()]
    assert sorted((row["system"], row["question"], row["rating"]) for row in rows) == sorted(
        (system, question, rating)
        for system in ("A", "B", "gold")
        for question, rating in (("empathy", 3), ("relevance", 4), ("fluency", 5))
    )
    assert len(ratings_of("ratings.jsonl")) == 9


def test_pairwise_study_exports_comparisons(run: Run, logs: list[str]) -> None:
    shown = run("--study", "empgpt3_ab", "--logs", *logs, "--rater", "ann", types=("yes", *"120" * 3))
    assert "That was all. Thank you very much!" in shown
    assert run("--study", "empgpt3_ab", "--logs", *logs, "--export", "r.csv") == "9 ratings: r.csv\n"


def test_rater_defaults_to_the_user_name(run: Run, logs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "beatrix")
    run("--study", "humod", "--logs", *logs, types=("yes", "4", "Lovely."))
    run("--study", "humod", "--logs", *logs, "--export", "r.csv")
    assert {row["rater"] for row in rows_of("r.csv")} == {"beatrix"}


@pytest.mark.parametrize("error", [KeyError, OSError])
def test_user_without_a_name_must_name_the_rater(
    run: Run, logs: list[str], monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def unknown() -> str:
        raise error("uid not found: 12345")

    monkeypatch.setattr("getpass.getuser", unknown)
    with pytest.raises(OptionError, match="--rater: your user has no name on this machine: name the rater"):
        run("--study", "humod", "--logs", *logs)


def test_dialogue_collection_exports_conversations(run: Run) -> None:
    ann = ["yes", "1", "I saw a heron."]
    bob = ["yes", "1", "I fell into a pond."]
    judged = ["5", "5", "5"] * 2
    typed = [*ann, *bob, "Guess!", "What?", "A heron.", "Oh!", "done", *judged, *"abcdefgh", *judged]
    shown = run("--study", "collect_ed", "--rater", "ann", "bob", types=tuple(typed))
    assert "[to ann] You are the Speaker." in shown
    assert run("--study", "collect_ed", "--export", "collected.csv") == (
        "2 conversations: collected.csv\n12 judgements: collected_judgements.csv\n"
    )
    assert [len(dialogue.turns) for dialogue in read_empathetic_dialogues("collected.csv")] == [4, 8]


def test_export_keeps_to_the_patience_of_the_site(run: Run) -> None:
    """Two people talk on a site that waits ten minutes for a message; the last one came six minutes ago."""
    with closing(open_store("ratings.db")) as store:
        collection = Collection(Desk(store, read_study("collect_ed"), lambda: time.time() - 360))
        lobby = Lobby(collection, patience=600)
        for person in "ab":
            collection.desk.enrol(person, consented=True)
            offered = collection.offer(person)
            collection.choose(offered.id, person, offered.offered[0], "I saw a heron.")
            lobby.wait(person)
        talk = lobby.place("a").talk
        assert talk
        for turn, person in enumerate("abab", start=1):
            collection.say(talk.id, person, turn, "Well, well.")
    export = ("--study", "collect_ed", "--export", "x.csv")
    with pytest.raises(EmpathyError, match="has no finished conversation"):
        run(*export, "--turn-minutes", "10")
    assert run(*export).startswith("1 conversation: x.csv\n")
    with pytest.raises(OptionError, match="--turn-minutes 0: expected a number from"):
        run(*export, "--turn-minutes", "0")


def test_export_works_after_collection_study_changed(run: Run) -> None:
    Path("mine.yaml").write_text("extends: collect_ed\n")
    typed = ["yes", "1", "I saw a heron.", "yes", "1", "I fell.", *"abcdefgh", *["5"] * 6, "quit"]
    run("--study", "mine.yaml", "--rater", "ann", "bob", types=tuple(typed))
    Path("mine.yaml").write_text("extends: collect_ed\ntitle: Mine\n")
    assert run("--study", "mine.yaml", "--export", "x.csv") == (
        "1 conversation: x.csv\n6 judgements: x_judgements.csv\n"
    )
    said = rows_of("x_judgements.csv")
    changed: list[dict[str, object]] = [
        {"questions": []},
        {"questions": [{"id": "empathy", "text": "Empathic?", "kind": "choice", "choices": ["yes", "no"]}]},
    ]
    for keys in changed:  # what was said is neither lost nor taken for answers to the new questions
        Path("mine.yaml").write_text(json.dumps({"extends": "collect_ed", **keys}))
        Path("x_judgements.csv").unlink()
        run("--study", "mine.yaml", "--export", "x.csv")
        assert rows_of("x_judgements.csv") == said
    assert {(row["kind"], len(row["version"])) for row in said} == {("likert", 12)}


def test_export_has_excluded_raters_and_needs_no_logs(run: Run, logs: list[str]) -> None:
    Path("mine.yaml").write_text("extends: humod\nsystems: {A: A.jsonl}\n")
    for rater in ("ann", "bob"):
        run("--study", "mine.yaml", "--rater", rater, types=("yes", "4", "Lovely.", "quit"))
    store = open_store("ratings.db")
    Desk(store, read_study("mine.yaml")).exclude("bob", "too fast")
    store.close()
    Path("A.jsonl").unlink()
    assert run("--study", "mine.yaml", "--export", "r.csv") == "4 ratings: r.csv\n"
    assert {row["rater"]: row["excluded"] for row in rows_of("r.csv")} == {"ann": "", "bob": "too fast"}


def test_changed_study_requires_new_version_option(run: Run, logs: list[str]) -> None:
    run("--study", "humod", "--logs", *logs, "--rater", "ann", types=("yes", "4", "Lovely."))
    with pytest.raises(OptionError, match="or pass --new-version true"):
        run("--study", "humod", "--logs", logs[0], "--rater", "ann")
    # An export writes the stored ratings, even if the study has changed, and does not change the store.
    for _ in range(2):
        assert run("--study", "humod", "--logs", logs[0], "--export", "r.csv") == "2 ratings: r.csv\n"
    assert "[2 of 3]" in run("--study", "humod", "--logs", logs[0], "--rater", "ann", "--new-version", "true")


def test_chat_study_is_registered_once_its_models_are_loaded(run: Run) -> None:
    """So a mistyped model file can be corrected without a new version."""
    for name in ("first", "second"):
        with pytest.raises(ModelFileError, match=f"none/{name} is not a trained model"):
            run("--study", "chat", "--models", f"M=none/{name}", "--rater", "ann")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("--study", "humod", "--export", "x.csv", "--store", "typo.db"), OptionError, "typo.db: there is no"),
        (("--store", "x.db"), OptionError, "--study: name the study to run"),
        (("--study", "hmod"), OptionError, "there is no such file; name a study file, or one of acute"),
        (("--study", "humod"), OptionError, "no systems are named: pass --logs NAME=FILE"),
        (("--study", "humod", "--logs", "A=none.jsonl"), OptionError, "--logs: A: none.jsonl cannot be read"),
        (("--study", "chat"), OptionError, "no models are named: pass --models NAME=FILE"),
        (("--study", "chat", "--models", "M=none/model"), ModelFileError, "none/model is not a trained model"),
        (("--study", "collect_ed", "--rater", "ann"), OptionError, "to collect dialogues, name the two people"),
        (
            ("--study", "collect_ed", "--rater", "ann", "bob", "--store", "no/where.db"),
            OptionError,
            "--store no/where.db",
        ),
        (("--study", "humod", "--export", "x.xls"), OptionError, "ratings are written as .csv or .jsonl"),
        (("--study", "collect_ed", "--export", "x.csv"), EmpathyError, "the study collect_ed has no finished"),
    ],
)
def test_errors_are_one_line(run: Run, arguments: tuple[str, ...], error: type[Exception], message: str) -> None:
    open_store("ratings.db").close()
    with pytest.raises(error) as caught:
        run(*arguments)
    assert not Path("typo.db").exists()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_raters_raise_option_error(run: Run, logs: list[str]) -> None:
    with pytest.raises(OptionError, match="only one person rates at a time"):
        run("--study", "humod", "--logs", *logs, "--rater", "ann", "bob")
