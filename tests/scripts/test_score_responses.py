"""``parlai score_responses``: small logs of each format, models that the tests train, and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from PIL import Image
from processes import parlai_command
from scipy.stats import spearmanr
from tiny_generators import write_language_model
from tiny_judge import train_judge, write_bert

from parlai_empathy.errors import DataError, ModelFileError, NotComputableError, OptionError
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.names import ENDEX, MODELS, TITLES
from parlai_empathy.scripts.runs import reply_scores
from parlai_empathy.scripts.score_responses import ScoreResponses

BLOCKS = """\
Emotion: proud
Context: ['i won the race']
MOE: that is great !
trs: good .
ref: how great !

Emotion: sad
Context: ['my cat ran away', 'oh no', 'she is old']
MOE: i am sorry .
trs: good good .
ref: poor thing !

"""
ROWS = """\
reply,context,reference,emotion,no_answer
"Great, how was it?",i won the race,how great !,proud,
,"my cat ran away
oh no
she is old",poor thing !,sad,time-out
"""
QUICK: dict[str, Any] = {"edition": "sample", "resamples": 20, "loglevel": "error"}


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    (tmp_path / "blocks.txt").write_text(BLOCKS)
    return tmp_path / "blocks.txt"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path / "rows.csv"


def score(*logs: object, **options: Any) -> Report:
    return ScoreResponses.main(logs=list(map(str, logs)), **{**QUICK, **options})  # type: ignore[no-any-return]


def cells(report: Report, place: int = 0, columns: int = 1) -> dict[Any, dict[str, Any]]:
    """Return a table's rows by their first column."""
    table = report.tables[place]
    return {
        row[0] if columns == 1 else tuple(row[:columns]): dict(zip(table.header[columns:], row[columns:], strict=True))
        for row in table.rows
    }


# --- reports ---------------------------------------------------------------------------------------------------------


def test_report_compares_systems_of_several_logs(blocks: Path, table: Path) -> None:
    report = score(f"peers={blocks}", table, tokens="space", lower_case=True)
    rows = cells(report)
    name = f"{table.parent.name}/rows.csv"
    assert list(rows) == ["peers: MOE", "peers: trs", name]
    assert [rows[name][column] for column in ("replies", "empty", "no answer")] == [1, 0, 1]
    assert rows["peers: trs"]["words a reply"] == 2.5
    # good . good good . : 2 distinct words of 5; 2 distinct bigrams (good . and good good) of 3.
    assert rows["peers: trs"]["Dist-1"] == pytest.approx(40)
    assert rows["peers: trs"]["Dist-2"] == pytest.approx(200 / 3)
    assert rows["peers: MOE"]["NIDF"] is not None
    assert {"AVG BLEU", "BLEU-4 (sacrebleu)"} <= set(rows[name])
    assert [table.title.split(" (")[0] for table in report.tables] == [
        "Replies",
        "Numbers with 95 % intervals",
        "Differences from peers: MOE, on the items that both have",
    ]
    for metric in MODELS:
        assert f"- left out: --metrics {metric} needs --{metric}-model" in report.tables[0].notes
    differences = cells(report, 2, 2)
    assert differences["peers: trs", "words a reply"]["difference"] == -1.5
    assert differences["peers: trs", "words a reply"]["items"] == 2
    notes = report.tables[2].notes
    assert f"- {name}, words a reply: no comparison: 1 and 1 items; at least two common ones are needed" in notes


def test_metrics_option_selects_the_columns(blocks: Path) -> None:
    report = score(blocks, metrics=["length"])
    assert report.tables[0].header == ["system", "replies", "empty", "no answer", "words a reply"]


def test_eval_model_world_log_can_be_scored(tmp_path: Path) -> None:
    EvalModel.main(
        model="repeat_label",
        task="empathy:empathetic_dialogues",
        edition="sample",
        datatype="test",
        world_logs=str(tmp_path / "log.jsonl"),
        loglevel="error",
    )
    row = cells(score(f"people={tmp_path}/log.jsonl", metrics=["bleu", "bleu_4"]))["people"]
    assert row["replies"] == 142, "the Listener's turns of the sample's test fold"
    assert (row["AVG BLEU"], row["BLEU-4 (sacrebleu)"]) == (pytest.approx(100), pytest.approx(100))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A barely trained model for each metric that needs one."""
    folder = tmp_path_factory.mktemp("models")
    emotions = train_judge(folder / "emotions", task="empathy:empathetic_dialogues:SituationEmotion")
    TrainModel.main(
        task="empathy:epitome",
        edition="sample",
        model="empathy:epitome",
        model_file=str(folder / "epitome"),
        hf_model=str(write_bert(folder / "bert")),
        max_train_steps=2,
        batchsize=8,
        loglevel="error",
    )
    language = write_language_model("gpt2", folder / "gpt2")
    found = {"epitome": folder / "epitome", "emotion": emotions, "intent": emotions, "fluency": language}
    found["endex"] = train_judge(folder / "endex", task="empathy:red")
    return {f"{name}_model": str(found[name]) for name in MODELS}


def test_full_report_is_printed_and_saved(
    blocks: Path, tmp_path: Path, models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    judge = train_judge(tmp_path / "judge")
    ratings = [("peers: MOE#1", 5), ("peers: MOE#2", 4), ("peers: trs#1", 2), ("peers: trs#2", 1)]
    rows = "".join(f"{item},{rater},{rating}\n" for item, rating in ratings for rater in ("ann", "bob"))
    (tmp_path / "ratings.csv").write_text(f"item,rater,rating\n{rows}")
    files = {"ratings": str(tmp_path / "ratings.csv"), "out": str(tmp_path / "out")}
    score(f"peers={blocks}", judges=[f"rel={judge}"], **models, **files)
    markdown = (tmp_path / "out" / "report.md").read_text()
    assert markdown.split("\n![")[0].strip() in capsys.readouterr().out
    assert "## EPITOME by turn: the mean level of replies, 0 to 2" in markdown
    correlations = markdown.partition("## Spearman's correlation of people's ratings and metrics")[2]
    assert "PPL of the language model" in correlations
    assert "median PPL" not in correlations  # its values of single replies are those of the mean
    assert "left out" not in markdown
    header = json.loads((tmp_path / "out" / "report.json").read_text())["tables"][0]["header"]
    assert set(header) == {"system", "replies", "empty", "no answer", *TITLES, ENDEX, "rel"}
    for plot in ("epitome_er_by_turn", "epitome_ip_by_turn", "epitome_ex_by_turn", "ratings_and_metrics"):
        with Image.open(tmp_path / "out" / f"{plot}.png") as image:
            assert image.format == "PNG"
    items = [json.loads(line) for line in (tmp_path / "out" / "items.jsonl").read_text().splitlines()]
    assert [item["item"] for item in items] == [item for item, _ in ratings]
    assert {"epitome_er", "diff_er", "emo_acc", "intent_acc", "endex", "fluency", "nidf", "judge_rel"} <= set(items[0])
    assert [(item["turn"], item["emotion"]) for item in items[:2]] == [(2, "proud"), (4, "sad")]


def test_exported_ratings_of_a_study_are_matched(tmp_path: Path) -> None:
    """In the export of a study, items are numbered, and replies have the names that this command gives them."""
    for name, replies in (("A", ("a", "a a", "a a a")), ("B", ("b b", "b b b b", "b"))):
        log = "".join(json.dumps({"context": [f"c{n}"], "reply": text}) + "\n" for n, text in enumerate(replies))
        (tmp_path / f"{name}.jsonl").write_text(log)
    rows = [f"{n},{system},Ann,{n + (system == 'B')},{system}#{n}\n" for system in "AB" for n in (1, 2, 3)]
    (tmp_path / "ratings.csv").write_text("item,system,rater,rating,reply\n" + "".join(rows))
    logs = [f"{name}={tmp_path / name}.jsonl" for name in "AB"]
    report = score(*logs, metrics=["length"], ratings=str(tmp_path / "ratings.csv"))
    row = cells(report, -1)["people: rating"]
    assert row["rated replies"] == 6
    assert row["words a reply"] == pytest.approx(spearmanr([1, 2, 3, 2, 4, 1], [1, 2, 3, 2, 3, 4]).statistic)


def test_scores_do_not_depend_on_other_logs(
    blocks: Path, table: Path, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = ["epitome", "emotion", "intent", "endex", "fluency"]
    together = cells(score(f"a={blocks}", f"b={table}", metrics=metrics, **models))
    alone = cells(score(f"b={table}", metrics=metrics, **models))
    assert alone["b"] == {
        column: value if value is None else pytest.approx(value, rel=1e-3) for column, value in together["b"].items()
    }


def test_real_logs_of_two_systems_share_all_items(real_data: Path) -> None:
    report = score(
        *(f"{name}={real_data}/peers/EmpDG_{name}.txt" for name in ("EmpDG", "Transformer")),
        metrics=["length", "distinct", "bleu"],
        tokens="space",
    )
    rows = cells(report)
    assert [(row["replies"], row["empty"]) for row in rows.values()] == [(2713, 0), (2713, 0)]
    differences = cells(report, 2, 2)
    assert differences["Transformer", "AVG BLEU"]["items"] == 2713, "both answer the same items"
    assert differences["Transformer", "AVG BLEU"]["difference"] == pytest.approx(
        rows["Transformer"]["AVG BLEU"] - rows["EmpDG"]["AVG BLEU"]
    )


# --- bad input -------------------------------------------------------------------------------------------------------


def test_missing_logs_raise_option_error() -> None:
    with pytest.raises(OptionError, match=r"^--logs: name at least one log of replies$"):
        ScoreResponses.main(**QUICK)


def test_duplicate_log_names_raise_option_error(blocks: Path) -> None:
    with pytest.raises(OptionError, match=r"^--logs: x is used twice: write NAME=FILE to tell them apart$"):
        score(f"x={blocks}", f"x={blocks}")


def test_judge_named_like_a_metric_raises_option_error(blocks: Path) -> None:
    for judge in ("length=x", "EnDex=x"):
        with pytest.raises(OptionError, match=rf"^--judges: {judge[:-2]} is used twice: write NAME=FILE"):
            score(blocks, judges=[judge], endex_model="y")
    with pytest.raises(ModelFileError, match=r"^x "):  # the name is free if no metric has it
        score(blocks, judges=["EnDex=x"])


def test_unknown_metric_is_rejected(blocks: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^argument --metrics: invalid choice: 'blue' \(choose from 'all', 'length', "
    ):
        score(blocks, metrics=["blue"])


def test_missing_model_error_names_the_file(blocks: Path, tmp_path: Path) -> None:
    for name in (*MODELS, "judge"):
        file = f"{tmp_path}/none"
        options: dict[str, Any] = {"judges": [file]} if name == "judge" else {f"{name}_model": file}
        with pytest.raises(ModelFileError, match=re.escape(file)) as error:
            score(blocks, **options)
        assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("l.jsonl", '{"reply": "a"}\n{"reply":\n', "l.jsonl, line 2: not a complete JSON object ("),
        ("l.jsonl", '{"reply": "a"}\nhello\n', "l.jsonl, line 2: not a complete JSON object ("),
        ("l.jsonl", '{"answer": "a"}\n', "l.jsonl, line 1: no reply: expected reply, and optionally context"),
        ("l.csv", "reply,context\na\n", "l.csv, line 2: more or fewer fields than the header's 2"),
        ("l.txt", BLOCKS + "Emotion: sad\n", "l.txt, line 13: the block that starts here has no line Context"),
        ("l.txt", "<html>\n", "l.txt, line 1: '<html>' does not start a log of replies"),
        ("l.txt", "", "l.txt is empty: name a log of replies"),
    ],
)
def test_unreadable_log_error_names_the_file(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as error:
        score(tmp_path / name)
    assert f"{tmp_path}/{message}" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_command_line_errors_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "l.jsonl").write_text('{"reply": "a"}\nhello\n')
    result = parlai_command("score_responses", "--logs", "l.jsonl", cwd=tmp_path)
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    assert result.stderr.strip().splitlines()[-1].endswith("is the file truncated?")


def test_unwritable_out_folder_ends_the_command_before_anything_is_scored(
    blocks: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_scores, "score_systems", lambda *_: pytest.fail("the scores would be lost"))
    with pytest.raises(
        OptionError, match=rf"^--out {blocks} cannot be written to \(File exists\): name another folder$"
    ):
        score(blocks, out=str(blocks))
    assert not capsys.readouterr().out


def test_log_without_usable_replies_is_not_computable(tmp_path: Path) -> None:
    (tmp_path / "l.jsonl").write_text('{"reply": "", "no_answer": "time-out"}\n' * 2)
    with pytest.raises(NotComputableError, match=r"^x: there is no reply to score: no answer could be used$"):
        score(f"x={tmp_path}/l.jsonl")
