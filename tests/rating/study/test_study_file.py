"""Reading study files: all keys, defaults, and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiny_studies import LIKERT, PAIRWISE

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.study.questions import Choice, FreeText, Likert, Preference
from parlai_empathy.rating.study.study import Check, Example, Study, SystemLog
from parlai_empathy.rating.study.study_file import KEYS, STUDIES, read_study

Make = Callable[..., Study]


def test_all_keys_are_read(tmp_path: Path, write_log: Callable[..., str]) -> None:
    write_log("a", 2)
    (tmp_path / "full.yaml").write_text(
        """
        name: my study
        title: Herons
        kind: likert
        instructions: Read.
        examples: [{context: [Hi.], reply: Hello., answers: {liking: 5, why: polite}, why: It greets.}]
        consent: Do you agree?
        content_warning: Birds.
        questions:
          - {id: liking, text: "How much?", kind: likert, points: 7, labels: {7: much, 1: little}}
          - {id: why, text: "Why?", kind: text, required: false, least: 2, most: 20}
          - {id: colour, text: "Which?", kind: choice, choices: [red, "no"]}
        systems: {A: a.jsonl}
        gold: true
        judge: dialogues
        context_turns: 2
        items_per_rater: 3
        ratings_per_item: any
        ratings_per_system: 9
        minutes: 2.5
        order: listed
        sides: fixed
        checks: [{context: [Hi.], reply: Goodbye., expected: {liking: 1, colour: "no"}}]
        checks_per_rater: 1
        turns: {least: 2, most: 3}
        seed: 5
        completion: {text: Thanks., code: C0DE}
        """
    )
    study = read_study(tmp_path / "full.yaml")
    [log] = study.systems
    assert log == SystemLog("A", str(tmp_path / "a.jsonl"), log.digest)
    assert study == Study(
        name="my study",
        title="Herons",
        kind="likert",
        questions=(
            Likert("liking", "How much?", points=7, labels=((1, "little"), (7, "much"))),
            FreeText("why", "Why?", required=False, least=2, most=20),
            Choice("colour", "Which?", choices=("red", "no")),
        ),
        instructions="Read.",
        examples=(Example(("Hi.",), "Hello.", "", (("liking", "5"), ("why", "polite")), "It greets."),),
        consent="Do you agree?",
        content_warning="Birds.",
        systems=(log,),
        gold=True,
        whole_dialogues=True,
        context_turns=2,
        items_per_rater=3,
        ratings_per_item=None,
        ratings_per_system=9,
        minutes=2.5,
        shuffled=False,
        swap_sides=False,
        checks=(Check(("Hi.",), "Goodbye.", (("liking", 1.0), ("colour", 2.0))),),
        checks_per_rater=1,
        seed=5,
        least_turns=2,
        most_turns=3,
        completion_text="Thanks.",
        completion_code="C0DE",
    )


def test_omitted_keys_get_documented_defaults(study_of: Make) -> None:
    study = study_of(LIKERT)
    assert study == Study("herons", "Herons", "likert", (Likert("liking", "Do you like it?"),))
    assert (study.items_per_rater, study.ratings_per_item, study.ratings_per_system) == (10, 1, None)


@pytest.mark.parametrize("name", STUDIES)
def test_builtin_studies_are_readable(name: str) -> None:
    study = read_study(name)
    assert study.name == name
    assert study.instructions
    assert study.consent
    assert study.content_warning


def test_builtin_studies_match_their_papers() -> None:
    ed, humod, endex, likert, pairs = map(read_study, ("ed", "humod", "endex", "empgpt3_likert", "empgpt3_ab"))
    # Rashkin et al. 2019, section 5.2
    assert [(one.id, one.points) for one in ed.questions] == [("empathy", 5), ("relevance", 5), ("fluency", 5)]
    assert (ed.items_per_rater, ed.ratings_per_system, ed.gold) == (10, 100, True)
    # Merdivan et al. 2020, section 3
    assert [(one.id, one.kind) for one in humod.questions] == [("relevance", "likert"), ("own_reply", "text")]
    assert (humod.items_per_rater, humod.ratings_per_item) == (20, 3)
    # Xu et al. 2022; Lee et al. 2022, section 5
    assert [(one.id, one.points) for one in endex.questions] == [("engagingness", 5)]
    assert [(one.id, one.points) for one in likert.questions] == [("empathy", 4), ("relevance", 4), ("fluency", 4)]
    assert [(one.kind, one.tie) for one in pairs.questions] == [("preference", True)] * 3
    assert (likert.ratings_per_item, pairs.ratings_per_item, pairs.gold) == (3, 3, False)


def test_version_depends_on_contents_not_paths(tmp_path: Path, write_log: Callable[..., str]) -> None:
    versions = []
    for folder, title, count in (("x", "T", 3), ("y", "T", 3), ("x", "U", 3), ("x", "T", 4)):
        (tmp_path / folder).mkdir(exist_ok=True)
        log = Path(write_log("a", count)).rename(tmp_path / folder / "a.jsonl")
        path = tmp_path / folder / "herons.yaml"
        path.write_text(yaml.safe_dump({**LIKERT, "title": title, "systems": {"A": log.name}}))
        versions.append(read_study(path).version)
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3


@pytest.mark.parametrize(
    ("values", "changes"),
    [
        ({}, []),
        ({"title": "U", "items_per_rater": 3}, ["items_per_rater", "title"]),
        ({"judge": "dialogues", "order": "listed"}, ["judge", "order"]),
        ({"turns": {"least": 2, "most": 4}, "sides": "fixed"}, ["sides", "turns"]),
        ({"completion": {"text": "Thank you.", "code": "C0"}}, ["completion"]),
        ({"questions": [{**LIKERT["questions"][0], "points": 9}]}, ["questions"]),
        ({"systems": 2}, ["systems"]),
    ],
)
def test_changes_are_named_by_their_keys(
    study_of: Make, write_log: Callable[..., str], tmp_path: Path, values: dict[str, Any], changes: list[str]
) -> None:
    former = study_of(LIKERT, systems={"A": write_log("A", 3)})
    record = json.loads(json.dumps(former.as_record()))
    logs = Path(write_log("A", values.get("systems", 3))).rename(tmp_path / "other.jsonl")
    study = study_of(LIKERT, **{**values, "systems": {"A": str(logs)}})
    assert study.changes(record) == changes
    assert (study.version == former.version) == (not changes)


def test_study_extends_another(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("extends: ed\nitems_per_rater: 3\n")
    (tmp_path / "theirs.yaml").write_text("extends: mine.yaml\ntitle: Theirs\n")
    mine, theirs = read_study(tmp_path / "mine.yaml"), read_study(tmp_path / "theirs.yaml")
    assert (mine.items_per_rater, mine.questions, mine.name) == (3, read_study("ed").questions, "mine")
    assert (theirs.items_per_rater, theirs.title, theirs.name) == (3, "Theirs", "theirs")


def test_systems_argument_replaces_systems_of_file(study_of: Make, write_log: Callable[..., str]) -> None:
    log = write_log("b", 1)
    study = read_study("humod", systems={"B": log})
    assert [(one.name, one.file) for one in study.systems] == [("B", log)]
    study.check_complete()


@pytest.mark.parametrize(("name", "what"), [("ed", "--logs"), ("empgpt3_ab", "--logs"), ("chat", "--models")])
def test_missing_systems_or_models_error_names_the_option(name: str, what: str) -> None:
    with pytest.raises(OptionError, match=what):
        read_study(name).check_complete()


WRONG = {
    "unknown": ({"tittle": "x"}, "there is no key 'tittle'; did you mean title?"),
    "blank name": ({"name": " "}, "name is ' ', expected a text"),
    "unknown, far": ({"zzz": 1}, "there is no key 'zzz'; the keys are extends, name"),
    "missing": ({"title": None}, "title is missing, expected a text"),
    "empty": ({"title": " "}, "title is ' ', expected a text"),
    "number for text": ({"title": 5}, "title is 5, expected a text, in quotes"),
    "kind": ({"kind": "likret"}, "kind is 'likret', expected one of likert, pairwise, chat, collect"),
    "word for number": (
        {"items_per_rater": "ten"},
        "items_per_rater is 'ten', expected a whole number from 1 to 10000",
    ),
    "flag for number": ({"items_per_rater": True}, "items_per_rater is True"),
    "none": ({"items_per_rater": 0}, "items_per_rater is 0"),
    "fraction": ({"ratings_per_item": 1.5}, "ratings_per_item is 1.5, expected a whole number of at least 1, or any"),
    "time": ({"minutes": 0}, "minutes is 0, expected a number above 0"),
    "infinite time": ({"minutes": float("inf")}, "minutes is inf"),
    "endless time": ({"minutes": 10**400}, "expected a number above 0, at most 1,000,000,000"),
    "null character": ({"systems": {"A": "a\0.jsonl"}}, "a text contains a null character"),
    "blanks in a name": ({"systems": {"A ": "a.jsonl"}}, "systems: 'A ' is not a valid name"),
    "flag": ({"gold": "yes"}, "gold is 'yes', expected true or false"),
    "both any": ({"ratings_per_item": "any"}, "ratings_per_item and ratings_per_system are both any"),
    "no questions": ({"questions": []}, "questions is missing, expected at least one"),
    "question twice": ({"questions": LIKERT["questions"] * 2}, "two have the id liking"),
    "no list": ({"questions": "liking"}, "questions is 'liking', expected a list"),
    "no mapping": ({"questions": ["liking"]}, "questions 1 is 'liking', expected lines `key: value`"),
    "systems": ({"systems": ["a.jsonl"]}, "systems is ['a.jsonl'], expected lines `name: value`"),
    "system's file": ({"systems": {"A": 5}}, "systems: A is 5, expected a file"),
    "system gold": ({"systems": {"gold": "x"}}, "'gold' is not a valid name"),
    "missing log": ({"systems": {"A": "nowhere.jsonl"}}, "nowhere.jsonl cannot be read (No such file or directory)"),
    "models": ({"models": {"A": "m"}}, "models is for kind chat, but kind is likert"),
    "pairs": ({"pairs": [["A", "B"]]}, "pairs is for kind pairwise, but kind is likert"),
    "pairs of one": ({"pairs": [["A", "A"]]}, "pairs is [['A', 'A']], expected all, or a list of two different"),
    "pairs twice": ({"pairs": [["A", "B"], ["B", "A"]]}, "pairs names the same two systems twice"),
    "turns": ({"turns": {"least": 5, "most": 3}}, "turns: most 3 is below least 5"),
    "turns' key": ({"turns": {"lest": 5}}, "turns: there is no key 'lest'; did you mean least?"),
    "too many checks": ({"checks_per_rater": 1}, "checks_per_rater is 1, expected a whole number from 0 to 0"),
    "check": ({"checks": [{"reply": "x"}]}, "checks 1: expected is missing"),
    "check of nothing": (
        {"checks": [{"reply": "x", "expected": {"y": 1}}]},
        "there is no question 'y'; the questions are liking",
    ),
    "check of a text": (
        {
            "questions": [*LIKERT["questions"], {"id": "why", "text": "Why?", "kind": "text"}],
            "checks": [{"reply": "x", "expected": {"why": "so"}}],
        },
        "checks 1: expected: why is a free text: use a question with ratings",
    ),
    "check off the scale": ({"checks": [{"reply": "x", "expected": {"liking": 6}}]}, "'6' is not a valid answer"),
    "check of a pair": (
        {"checks": [{"reply": "x", "other_reply": "y", "expected": {"liking": 1}}]},
        "other_reply is required in pairwise studies",
    ),
    "example": ({"examples": [{"reply": "x", "answers": {"liking": 9}}]}, "examples 1: answers: question liking: '9'"),
    "extends": ({"extends": "nothing"}, "there is no such file; name a study file, or one of acute, chat"),
}


@pytest.mark.parametrize(("keys", "message"), WRONG.values(), ids=WRONG.keys())
def test_invalid_key_error_is_one_line_naming_the_file(
    study_of: Make, tmp_path: Path, keys: dict, message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        study_of(LIKERT, **keys)
    assert message in str(caught.value)
    assert str(tmp_path / "herons.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


WRONG_QUESTIONS = {
    "no id": ({"id": None}, "questions 1: id is missing"),
    "id": ({"id": "two words"}, "id is 'two words', expected a letter"),
    "points": ({"points": 1}, "points is 1, expected a whole number from 2 to 100"),
    "labels": ({"labels": {6: "x"}}, "labels: 6 is not on the scale, expected a whole number from 1 to 5"),
    "label": ({"labels": {1: 5}}, "labels: 1 is 5, expected a text"),
    "key of another kind": ({"choices": ["a", "b"]}, "there is no key 'choices'"),
    "kind": ({"kind": "slider"}, "kind is 'slider', expected one of likert, choice, text, preference"),
    "preference": ({"kind": "preference"}, "preference is for pairwise studies, but this one is likert"),
    "turns": ({"per_turn": True}, "per_turn is for chats, but this study is likert"),
    "one choice": ({"kind": "choice", "choices": ["a"]}, "expected at least two different texts"),
    "same choices": ({"kind": "choice", "choices": ["a", "A"]}, "expected at least two different texts"),
    "choices that YAML reads otherwise": ({"kind": "choice", "choices": [True, False]}, "in quotes"),
    "lengths": ({"kind": "text", "least": 5, "most": 4}, "most is 4, expected a whole number of at least 5"),
}


@pytest.mark.parametrize(("keys", "message"), WRONG_QUESTIONS.values(), ids=WRONG_QUESTIONS.keys())
def test_invalid_question_error_is_one_line(study_of: Make, keys: dict, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        study_of(LIKERT, questions=[{"id": "liking", "text": "How?", "kind": "likert", **keys}])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: [", "is not valid YAML"),
        ("- title", "expected lines `key: value`"),
        ("", "is None, expected lines `key: value`"),
        ("title: a\ntitle: b\n", "the key title occurs twice"),
        ("title: !!python/object/apply:os.getcwd []\n", "is not valid YAML"),
        ("title: \xff", "is not valid YAML"),
        ('title: "\\ud800"', "is not valid YAML"),
        ("a: " + "[" * 5000, "is not valid YAML"),
    ],
)
def test_malformed_study_file_raises_option_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(OptionError) as caught:
        read_study(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_error_lists_builtin_studies(tmp_path: Path) -> None:
    with pytest.raises(
        OptionError, match=r"nowhere.yaml: there is no such file; name a study file, or one of acute, chat"
    ):
        read_study(tmp_path / "nowhere.yaml")
    with pytest.raises(OptionError, match=r"that is a folder; name a study file, or one of acute, chat"):
        read_study(tmp_path)


def test_circular_extends_raises_option_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("extends: b.yaml\n")
    (tmp_path / "b.yaml").write_text("extends: a.yaml\n")
    with pytest.raises(OptionError, match="the two extend each other"):
        read_study(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("tie", "expected", "is_right"), [(True, 0, True), (False, 0, False), (True, 2, False), (True, True, False)]
)
def test_pairwise_checks_expect_a_preference(study_of: Make, tie: bool, expected: object, is_right: bool) -> None:
    questions = [{**PAIRWISE["questions"][0], "tie": tie}]
    checks = [{"reply": "x", "other_reply": "y", "expected": {"better": expected}}]
    if is_right:
        study = study_of(PAIRWISE, questions=questions, checks=checks)
        assert study.questions == (Preference("better", "Which is better?", tie=tie),)
        assert study.checks[0].expected == (("better", 0.0),)
    else:
        with pytest.raises(OptionError, match="1 if reply is better than other_reply"):
            study_of(PAIRWISE, questions=questions, checks=checks)


@pytest.mark.parametrize(("expected", "place"), [("1", 2.0), (1, 2.0), (3, 3.0)])
def test_choice_that_is_a_number_is_expected_by_its_text(study_of: Make, expected: object, place: float) -> None:
    """Of 0, 1 and 2 the choice 1 is the second; 3 is none of them, so the third is meant."""
    questions = [{"id": "many", "text": "How many?", "kind": "choice", "choices": ["0", "1", "2"]}]
    study = study_of(LIKERT, questions=questions, checks=[{"reply": "x", "expected": {"many": expected}}])
    assert study.checks[0].expected == (("many", place),)


def test_every_key_is_documented() -> None:
    import parlai_empathy.rating.study.study_file as module

    assert all(f"``{key}``" in (module.__doc__ or "") for key in KEYS)


def test_model_cannot_be_called_as_people_are(study_of: Make) -> None:
    chat = {**LIKERT, "kind": "chat", "models": {"rater": "m"}}
    with pytest.raises(OptionError, match="models: rater is what people are called in stored chats: give the model"):
        study_of(chat)
    with pytest.raises(OptionError, match="--models: rater is what people are called"):
        read_study("chat", models={"rater": "m"})
