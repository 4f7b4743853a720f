"""``parlai leaderboard --suite humod`` on the sample, with word overlap and a judge that the test trains."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import nltk
import pytest
from PIL import Image
from processes import parlai_command
from scipy import stats
from tiny_judge import train_judge
from tiny_wordnet import write_wordnet

from parlai_empathy.errors import DataError, ModelFileError, NotComputableError, OptionError
from parlai_empathy.reports.leaderboards.humod import ORACLE
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.agent_judge import AgentJudge
from parlai_empathy.scoring.overlap import RougeL, SentenceBleu4
from parlai_empathy.scripts.leaderboard import Leaderboard
from parlai_empathy.scripts.runs import leaderboard as runs
from parlai_empathy.scripts.runs.suites import humod as suite
from parlai_empathy.tasks.humod.build import SAMPLE
from parlai_empathy.tasks.humod.exchanges import exchanges
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import Pair
from parlai_empathy.tasks.humod.splits import split_pairs

QUICK: dict[str, Any] = {"suite": "humod", "edition": "sample", "resamples": 4, "loglevel": "error"}


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture(autouse=True)
def wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a tiny WordNet the only one that is found."""
    folder = write_wordnet(tmp_path / "wordnet" / "dict")
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    return folder


def board(**options: Any) -> Report:
    return Leaderboard.main(**{**QUICK, **options})  # type: ignore[no-any-return]


def references_of(pairs: list[Pair]) -> dict[str, list[str]]:
    return {p.pair_id: e.human_replies for e in exchanges(pairs) for p in (e.original, e.random) if p}


def test_report_on_test_fold_matches_judge_scores_and_scipy(
    model_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = board(models=[f"tiny={model_file}"], out=str(tmp_path / "out"))
    assert report.text() in capsys.readouterr().out
    fold = split_pairs(read_humod(SAMPLE), "paper")["test"]
    assert [item["pair_id"] for item in report.items] == [pair.pair_id for pair in fold]
    assert report.title.endswith(" (HUMOD_Dataset.TXT, sample, test fold of split paper)")
    assert (tmp_path / "out" / "report.md").read_text().startswith(report.text())
    items = [json.loads(line) for line in (tmp_path / "out" / "items.jsonl").read_text().splitlines()]
    assert items == report.items
    for name in ("correlations", "correlations_by_turns"):
        with Image.open(tmp_path / "out" / f"{name}.png") as image:
            assert image.format == "PNG"

    # The scores are the judges' own, and the table's numbers are SciPy's for these scores.
    human = references_of(fold)
    contexts, replies = [pair.context for pair in fold], [pair.reply for pair in fold]
    references = [human[pair.pair_id] for pair in fold]
    table = {row[0]: row for row in report.tables[0].rows}
    assert list(table) == ["BLEU-4", "ROUGE-L", "METEOR", "tiny", ORACLE, "paper's best learned scorer"]
    for judge in (SentenceBleu4(), RougeL(), AgentJudge(str(model_file), "tiny")):
        scores = judge.score(contexts, replies, references)
        assert [item["scores"][judge.name] for item in items] == pytest.approx(scores.tolist(), abs=1e-6)
        theirs = stats.pearsonr(scores, [pair.mean_rating for pair in fold])
        assert table[judge.name][1] == pytest.approx(theirs.statistic, abs=1e-4)
        assert f"- {judge.signature}" in report.tables[0].notes


def test_original_references_give_original_replies_full_overlap() -> None:
    report = board(fold="all", references="original")
    assert len(report.items) == 240
    assert report.title.endswith(" (HUMOD_Dataset.TXT, sample, all pairs)")
    for item in report.items:
        if item["is_original"]:
            assert item["scores"]["BLEU-4"] == pytest.approx(100)
            assert item["scores"]["ROUGE-L"] == pytest.approx(100)
    # In the sample an original reply is nearly always rated above a random one, so word overlap correlates as well.
    table = {row[0]: row[1] for row in report.tables[0].rows}
    known = stats.pearsonr(
        [item["is_original"] for item in report.items], [item["rating_mean"] for item in report.items]
    ).statistic
    assert table[ORACLE] == pytest.approx(known)
    assert table["BLEU-4"] == pytest.approx(known, abs=0.1)


def test_meteor_is_skipped_with_warning_without_wordnet(
    wordnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    report = board(out=str(tmp_path / "out"))
    (warning,) = warnings
    pattern = r"left out: METEOR needs WordNet, which .*: run `python -m nltk\.downloader wordnet`, or install"
    assert re.match(pattern, warning)
    assert [row[0] for row in report.tables[0].rows][:3] == ["BLEU-4", "ROUGE-L", ORACLE]
    assert f"- {warning}" in (tmp_path / "out" / "report.md").read_text(), "whoever reads the report learns of it"


# --- models ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Record which models would be loaded: file and name."""
    asked: list[tuple[str, str]] = []

    class Asked:
        def __init__(self, model_file: str, name: str, datapath: str) -> None:
            asked.append((model_file, name))

    monkeypatch.setattr(suite, "AgentJudge", Asked)
    return asked


@pytest.mark.parametrize(
    ("models", "name"),
    [
        (["a/x/model", "b/x/model"], "x/model"),
        (["same=a/model", "same=b/model"], "same"),
        (["a/model", "b/model", "a/model=c/model"], "a/model"),
        (["BLEU-4=a/model"], "BLEU-4"),
        ([f"{ORACLE}=a/model"], ORACLE),
        (["paper's best learned scorer=a/model"], "paper's best learned scorer"),
    ],
)
def test_duplicate_judge_names_raise_before_any_model_loads(
    unloaded: list[tuple[str, str]], models: list[str], name: str
) -> None:
    message = f"--models: {name} is used twice: write NAME=FILE to tell them apart"
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        board(models=models)
    assert unloaded == []


def test_zoo_model_can_be_a_judge(model_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "empathy" / "text_classifier_emotion"
    shutil.copytree(model_file.parent, folder)
    report = board(models=["zoo=zoo:empathy/text_classifier_emotion/model"], datapath=str(tmp_path))
    assert "zoo" in [row[0] for row in report.tables[0].rows]


def test_missing_model_error_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=f"^{tmp_path}/none is not a trained model: none and none.opt must exist$"):
        board(models=[f"mine={tmp_path}/none"])


# --- other options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [("suite", "red"), ("references", "film"), ("fold", "dev"), ("humod_split", "x"), ("edition", "y")],
)
def test_invalid_choices_are_rejected(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Leaderboard.main(*[f"--{name.replace('_', '-')}={text}" for name, text in {**QUICK, option: value}.items()])
    assert f"--{option.replace('_', '-')}: invalid choice: '{value}'" in "".join(capsys.readouterr())


@pytest.mark.parametrize("suite_name", ["humod", "ed", "empgpt3", "endex"])
def test_resamples_and_seed_are_checked_before_scoring(suite_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(runs.SUITES, suite_name, lambda _: pytest.fail("nothing should be scored"))
    with pytest.raises(OptionError, match=r"^--resamples 0: must be at least 1$"):
        board(suite=suite_name, resamples=0)
    with pytest.raises(OptionError, match=r"^--seed -3: must be at least 0$"):
        board(suite=suite_name, seed=-3)


def test_seed_determines_the_intervals() -> None:
    first, second, third = (board(seed=seed).tables[0].rows[0] for seed in (1, 1, 2))
    assert first == second
    assert first[1] == third[1], "the correlation itself"
    assert first[2] != third[2]


def test_unrated_file_is_not_computable(tmp_path: Path) -> None:
    pair = {"id": "1", "context": ["a"], "reply": "b", "reply_kind": "original", "human_replies": ["c"]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps({**pair, "human_relevance_mean": None}) + "\n")
    with pytest.raises(NotComputableError, match=r"^no pair of this fold is rated: "):
        board(humod_file=str(tmp_path / "pairs.jsonl"), fold="all")


def test_bad_rows_raise_or_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "copy.TXT"
    lines = SAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)
    fields = lines[4].split("\t")
    assert fields[-3] in "12345"
    path.write_text("".join([*lines[:4], "\t".join([*fields[:-3], "six", *fields[-2:]]), *lines[5:]]), encoding="utf-8")
    with pytest.raises(
        DataError, match=rf"^{path}, line 5, column User Relevance Score: 'six' .*--skip-bad-rows true\)$"
    ):
        board(humod_file=str(path), fold="all")
    report = board(humod_file=str(path), fold="all", skip_bad_rows=True)
    assert len(report.items) == 240
    assert report.items[1] != board(fold="all").items[1], "its pair has the mean of two ratings"


@pytest.mark.parametrize("suite", ["humod", "endex"])
def test_unwritable_out_folder_is_an_error_of_one_line_before_anything_is_scored(tmp_path: Path, suite: str) -> None:
    (tmp_path / "file").touch()
    command = ("leaderboard", "--suite", suite, "--edition", "sample", "--resamples", "1", "--out", "file")
    result = parlai_command(*command, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "error: --out file cannot be written to (File exists): name another folder\n"
    assert not result.stdout


def test_rated_pairs_of_real_humod_copy(real_data: Path) -> None:
    file = str(real_data / "humod" / "humod_9500.jsonl")
    report = board(humod_file=file, humod_split="rated", skip_bad_rows=True)
    assert 300 < len(report.items) < 400, "half of 700"
    table = {row[0]: row[1:4] for row in report.tables[0].rows}
    for name in ("BLEU-4", "ROUGE-L", "METEOR"):
        value, _, p = table[name]
        assert 0 < value < table[ORACLE][0]
        assert p < 0.01


def test_missing_suite_error_lists_choices() -> None:
    with pytest.raises(OptionError, match=r"^--suite: choose one of humod, ed, empgpt3, endex$"):
        Leaderboard.main(edition="sample", loglevel="error")
