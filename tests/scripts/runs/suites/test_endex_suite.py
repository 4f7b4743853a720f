"""``parlai leaderboard --suite endex`` on the samples, with judges that the tests train."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from processes import parlai_command
from tiny_judge import train_judge, write_bert
from tiny_parts import train_base

from parlai_empathy.errors import DownloadError, ModelFileError, NotComputableError, OptionError
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.engagement import Question
from parlai_empathy.scripts.leaderboard import Leaderboard
from parlai_empathy.scripts.runs.suites import endex as suite
from parlai_empathy.scripts.runs.suites.endex import training_target
from parlai_empathy.tasks.engagement.records import RatedReply
from parlai_empathy.tasks.engagement.sets import SETS, engagement_set

QUICK: dict[str, Any] = {"suite": "endex", "edition": "sample", "resamples": 4, "loglevel": "error"}
RULES = ["random", "question", "specificity", "specificity (log)"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny judges: two training runs on RED, one on a dimension of it, one on relevance."""
    folder = tmp_path_factory.mktemp("judges")
    bert = {"hf_model": str(write_bert(folder / "shared"))}
    tasks = {"one": "empathy:red", "two": "empathy:red", "votes": "empathy:red:BE", "rated": "empathy:humod:Relevance"}
    return {
        name: train_judge(folder / name, task=task, seed=place, **bert)
        for place, (name, task) in enumerate(tasks.items())
    }


def board(**options: Any) -> Report:
    return Leaderboard.main(**{**QUICK, **options})  # type: ignore[no-any-return]


def names(report: Report, table: int = 0) -> list[Any]:
    return [row[0] for row in report.tables[table].rows]


# --- the whole -------------------------------------------------------------------------------------------------------


def test_baselines_are_scored_without_models() -> None:
    report = board()
    assert names(report)[:4] == RULES
    assert {item["set"] for item in report.items} == set(SETS)
    assert report.title.endswith("(sample)")
    fed = engagement_set("fed", {"edition": "sample"})
    expected = Question().score([one.context for one in fed], [one.reply for one in fed])
    assert [item["scores"]["question"] for item in report.items if item["set"] == "fed"] == expected.tolist()


def test_trained_judges_are_reported_next_to_baselines(models: dict[str, Path], tmp_path: Path) -> None:
    named = [f"endex={models['one']},{models['two']}", f"votes={models['votes']}", f"relevance={models['rated']}"]
    report = board(models=named, out=str(tmp_path), sets=["fed", "predeng_600"])
    assert names(report)[:7] == [*RULES, "endex", "votes", "relevance"]
    assert [row[1] for row in report.tables[0].rows][4:7] == [2, 1, 1]
    titles = [table.title for table in report.tables]
    assert ["Table 2" in titles[0], "Several" in titles[2], "Figure 2" in titles[3]] == [True] * 3
    assert [row[:2] for row in report.tables[3].rows] == [["RED's aggregate", "endex"], ["BE", "votes"]]
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert list(items[0]["scores"]) == [*RULES, "endex #1", "endex #2", "votes", "relevance"]
    assert {item["set"] for item in items} == {"fed", "predeng_600"}
    assert any("trained:empathy:red:BE|" in note and "reads:context+reply" in note for note in report.tables[0].notes)


def test_endex_score_and_context_options_change_the_scores(models: dict[str, Path]) -> None:
    report = board(models=[f"e={models['one']}"], endex_score="class", endex_context=False, sets=["fed"])
    assert {item["scores"]["e"] for item in report.items} <= {0.0, 1.0}
    assert any("|reads:reply|output:class|" in note for note in report.tables[0].notes)


def test_zoo_model_can_be_a_judge(models: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(models["one"].parent, tmp_path / "models" / "empathy" / "text_classifier_emotion")
    report = board(models=["zoo=zoo:empathy/text_classifier_emotion/model"], sets=["fed"], datapath=str(tmp_path))
    assert "zoo" in names(report)


def test_missing_file_in_long_training_list_is_named(tmp_path: Path) -> None:
    files = ",".join(f"{tmp_path}/seed{number}" for number in range(500))
    with pytest.raises(ModelFileError, match=f"^{tmp_path}/seed0 is not a trained model: "):
        board(models=[f"many={files}"])


def test_seed_determines_random_baseline_scores() -> None:
    first, again, other = (
        [item["scores"]["random"] for item in board(seed=seed, sets=["fed"]).items] for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("options", [{"resamples": 0}, {"seed": -1}])
def test_invalid_resamples_or_seed_raise_option_error(options: dict[str, int]) -> None:
    with pytest.raises(OptionError, match=r"^--(resamples 0: must be at least 1|seed -1: must be at least 0)$"):
        board(**options)


# --- sets ------------------------------------------------------------------------------------------------------------


def only(*there: str) -> Any:
    def of(name: str, opt: Any) -> list[RatedReply]:
        if name not in there:
            raise DownloadError(f"{name} is nowhere: put it somewhere")
        return engagement_set(name, {"edition": "sample"})

    return of


def test_unavailable_sets_are_skipped_with_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    monkeypatch.setattr(suite, "engagement_set", only("fed"))
    report = board()
    assert {item["set"] for item in report.items} == {"fed"}
    assert len(warnings) == len(SETS) - 1
    assert warnings[0] == "left out: better: better is nowhere: put it somewhere"
    assert f"- {warnings[0]}" in report.tables[0].notes


def test_explicitly_named_set_must_be_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "engagement_set", only("fed"))
    with pytest.raises(DownloadError, match=r"^grade is nowhere: put it somewhere$"):
        board(sets=["fed", "grade"])
    assert {item["set"] for item in board(sets=["fed", "fed"]).items} == {"fed"}


def test_no_available_set_raises_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "engagement_set", only())
    message = r"^--suite endex: none of its sets is available; better: better is nowhere: put it somewhere$"
    with pytest.raises(DownloadError, match=message):
        board()


def test_single_reply_sets_are_not_computable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "engagement_set", lambda name, opt: engagement_set(name, {"edition": "sample"})[:1])
    with pytest.raises(
        NotComputableError, match=r"^nothing can be correlated: random, BETTER: no correlation for 1 items"
    ):
        board()


# --- models ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are checked before any set is read."""
    monkeypatch.setattr(suite, "engagement_set", lambda name, opt: pytest.fail("it is too late"))


@pytest.mark.usefixtures("unread")
def test_models_are_checked_before_sets_are_read(models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^\S+/none is not a trained model: none and none\.opt must exist$"):
        board(models=[f"endex={models['one']},{tmp_path}/none"])
    retriever = train_base(tmp_path / "retriever")
    with pytest.raises(OptionError, match=r"retriever: empathy:retrieval does not score replies: "):
        board(models=[f"one={models['one']}", f"other={retriever}"])


@pytest.mark.usefixtures("unread")
def test_invalid_model_names_raise_option_error(models: dict[str, Path]) -> None:
    one = models["one"]
    for name in ("question", "question (Xu et al. 2022)"):
        message = f"--models: {name} is used twice: write NAME=FILE to tell them apart"
        with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
            board(models=[f"{name}={one}"])
    for text in (f"{one},{one}", f"{one},", ","):
        with pytest.raises(
            OptionError, match=r"^--models e=\S*: name the file of each training run once, with commas between"
        ):
            board(models=[f"e={text}"])
    with pytest.raises(
        OptionError, match=r"^--models \S+: several training runs of one judge need a name: NAME=FILE,FILE$"
    ):
        board(models=[f"{one},{models['two']}"])


@pytest.mark.usefixtures("unread")
def test_training_runs_of_a_judge_must_share_training_data(models: dict[str, Path]) -> None:
    for other, text in (("votes", "BE in the sample with kappa 1"), ("rated", "humod:Relevance in the sample")):
        sources = rf"\(\S+ from RED's aggregate in the sample, \S+ from {text}\)"
        message = rf"^--models e: its training runs used different data {sources}: give"
        with pytest.raises(OptionError, match=message):
            board(models=[f"e={models['one']},{models[other]}"])


def source(task: str, **options: Any) -> str:
    return suite._source({"task": f"empathy:{task}", **options})


def test_training_runs_of_a_judge_must_share_the_red_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert source("red", red_file="red") == f"RED's aggregate in {tmp_path}/red"
    assert source("red", red_file=str(tmp_path / "red" / "red.parquet")) == source("red:red_file=red")
    assert source("red", red_file="red", edition="sample") == source("red", red_file="red")  # as the teacher does


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"task": "humod:Relevance"}, {"task": "engagement:ConvAI"}),
        ({"task": "red:Test"}, {"task": "humod:Relevance"}),
        ({"task": "red"}, {"task": "red", "edition": "sample"}),
        ({"task": "humod:Relevance"}, {"task": "humod:Relevance:edition=sample"}),
        ({"task": "red"}, {"task": "red", "red_context": False}),
        ({"task": "red"}, {"task": "red:red_context=false"}),
        ({"task": "red:EE"}, {"task": "red:EE", "red_kappa": 0.5}),
        ({"task": "red:EE"}, {"task": "red:EE:red_kappa=0.5"}),
    ],
)
def test_models_of_different_training_data_have_different_sources(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert source(**one) != source(**other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"task": "red"}, {"task": "red:Default", "edition": "full", "red_context": True, "red_kappa": 0.5}),
        ({"task": "red:EE"}, {"task": "red:Dimension:red_dimension=ee", "red_kappa": 1.0}),
        ({"task": "red:BE:edition=sample"}, {"task": "red:be", "edition": "sample"}),
        ({"task": "humod:Relevance"}, {"task": "humod:Relevance", "red_context": False}),
    ],
)
def test_models_of_the_same_training_data_have_the_same_source(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert source(**one) == source(**other)


@pytest.mark.usefixtures("unread")
def test_one_model_is_not_two_training_runs(models: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(models["one"].parent, tmp_path / "copy")
    for same in (tmp_path / "copy" / "model", f"{models['one'].parent}/../{models['one'].parent.name}/model"):
        message = f"and {same} are the same model: name each training run once"
        with pytest.raises(OptionError, match=rf"^--models e: \S+one/model {re.escape(message)}$"):
            board(models=[f"e={models['one']},{models['two']},{same}"])


def test_existing_file_with_comma_is_one_training_run(models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "a,b"
    folder.symlink_to(models["one"].parent)
    report = board(models=[f"e={folder}/model"], sets=["fed"])
    assert names(report)[4] == "e"
    assert report.tables[0].rows[4][1] == 1


@pytest.mark.parametrize(
    ("opt", "expected"),
    [
        ({"task": "empathy:red"}, "RED's aggregate"),
        ({"task": "red:edition=sample"}, "RED's aggregate"),
        ({"task": "empathy:red:NegativeSamples"}, "RED's aggregate, negative samples too"),
        ({"task": "empathy:red:ee"}, "EE"),
        ({"task": "empathy:red:RE:red_kappa=0.5"}, "RE"),
        ({"task": "empathy:red:Dimension", "red_dimension": "ae"}, "AE"),
        ({"task": "empathy:red:Dimension:red_dimension=be", "red_dimension": "ee"}, "BE"),
        ({"task": "empathy:red:Dimension"}, "EE"),
        ({"task": "empathy:red:Test"}, None),
        ({"task": "empathy:red,empathy:engagement"}, None),
        ({"task": "empathy:reddit"}, None),
        ({"task": "empathy:engagement:ConvAI"}, None),
        ({"task": None}, None),
        ({}, None),
    ],
)
def test_training_data_is_derived_from_model_options(opt: dict[str, Any], expected: str | None) -> None:
    assert training_target(opt) == expected


def test_command_line_errors_are_one_line(tmp_path: Path) -> None:
    result = parlai_command("leaderboard", "--suite", "endex", "--models", "x=none", cwd=tmp_path)
    assert result.returncode != 0
    assert result.stderr.strip().splitlines()[-1] == "error: none is not a trained model: none and none.opt must exist"
