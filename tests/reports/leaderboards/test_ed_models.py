"""The evaluations of a model, caching, and failures; nothing is really evaluated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.reports.evaluations.evaluations import Evaluations
from parlai_empathy.reports.evaluations.model_fingerprint import model_fingerprint
from parlai_empathy.reports.leaderboards.ed_models import Measured, measure, training_cost
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

ED = "empathy:empathetic_dialogues"
REPLIES = {"p_at_1_100_shuffled": {"value": 0.5, "signature": "P"}, "exs": {"value": 3.0}}
ACCURACY = {"accuracy": {"value": 0.25}, "exs": {"value": 3.0}}


def write(folder: Path, model: str = "empathy:retrieval", content: str = "weights", **opt: Any) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model").write_text(content)
    (folder / "model.opt").write_text(json.dumps({"model": model, **opt}))
    return str(folder / "model")


def classifier(folder: Path, **opt: Any) -> str:
    return write(folder, "empathy:text_classifier", **{"classes": list(EMOTIONS), **opt})


class Runner:
    """Replaces the process: reports numbers for replies or emotions, and records its calls."""

    def __init__(self, **failing: Any) -> None:
        self.failing = failing
        self.asked: list[tuple[str, str]] = []

    def __call__(self, arguments: list[str], answer: Path, log: Path) -> int:
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        name, task = Path(given["--model-file"]).parent.name, given["--task"]
        self.asked.append((name, task))
        wrong = self.failing.get(name)
        if isinstance(wrong, BaseException):
            raise wrong
        found = {"report": ACCURACY if "Emotion" in task else REPLIES, "parameters": 2_500_000}
        answer.write_text(json.dumps(wrong or found))
        return 0


def run(
    models: dict[str, str], runner: Runner, folder: Path | None = None, datasets: tuple[str, ...] = ("ed",)
) -> list[Measured]:
    return measure(models, datasets, "test", ["--edition", "sample"], Evaluations(folder, runner), "data")


def test_reply_model_is_evaluated_on_each_data_set(tmp_path: Path) -> None:
    runner = Runner()
    (model,) = run({"mine": write(tmp_path / "m")}, runner, datasets=("ed", "dd", "r"))
    assert runner.asked == [("m", ED), ("m", "empathy:daily_dialog"), ("m", "empathy:reddit")]
    assert model.values == {dataset: {"p_at_1_shuffled": 50.0} for dataset in ("ed", "dd", "r")}
    assert model.values["ed"]["p_at_1_shuffled"].signature == f"P|task:{ED}"  # type: ignore[attr-defined]
    assert model.cost == {"parameters": 2.5}
    assert model.failures == []


def test_classifier_is_evaluated_on_emotion_tasks(tmp_path: Path) -> None:
    runner = Runner()
    (model,) = run({"mine": classifier(tmp_path / "c")}, runner, datasets=("ed", "dd"))
    assert runner.asked == [
        ("c", f"{ED}:{name}") for name in ("SituationEmotion", "SituationEmotionCut", "ContextEmotion")
    ]
    assert model.values == {"ed": {"emotion_situation": 25.0, "emotion_cut": 25.0, "emotion_context": 25.0}}


def test_reply_model_with_emotion_classes_is_evaluated_on_replies(tmp_path: Path) -> None:
    runner = Runner()
    run({"mine": write(tmp_path / "m", classes=list(EMOTIONS))}, runner)
    assert runner.asked == [("m", ED)]


@pytest.mark.parametrize(
    ("model", "opt"),
    [
        ("transformer/generator", {}),
        ("repeat_query", {}),
        ("empathy:in_context", {}),
        ("empathy:rerank", {"retriever": "r/model"}),  # it can judge, too
    ],
)
def test_any_agent_that_replies_can_be_measured(tmp_path: Path, model: str, opt: dict[str, str]) -> None:
    runner = Runner()
    run({"mine": write(tmp_path / "m", model, **opt)}, runner)
    assert runner.asked == [("m", ED)]


def test_zoo_model_path_is_resolved(tmp_path: Path) -> None:
    write(tmp_path / "models" / "empathy" / "retrieval_paper")
    zoo, options = {"zoo": "zoo:empathy/retrieval_paper/model"}, ["--edition", "sample"]
    (model,) = measure(zoo, ["ed"], "test", options, Evaluations(None, Runner()), str(tmp_path))
    assert model.values


def test_second_run_reevaluates_only_changed_models(tmp_path: Path) -> None:
    models = {"a": write(tmp_path / "a"), "b": write(tmp_path / "b", content="others")}
    runner = Runner()
    first = run(models, runner, tmp_path / "out")
    assert len(runner.asked) == 2
    assert [one.values for one in run(models, runner, tmp_path / "out")] == [one.values for one in first]
    assert len(runner.asked) == 2
    write(tmp_path / "b", content="changed")
    run(models, runner, tmp_path / "out")
    assert runner.asked[2:] == [("b", ED)]


def test_interrupted_run_resumes_where_it_stopped(tmp_path: Path) -> None:
    models = {name: write(tmp_path / name, content=name) for name in ("a", "b", "c")}
    runner = Runner(b=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(models, runner, tmp_path / "out")
    assert [name for name, _ in runner.asked] == ["a", "b"]
    runner = Runner()
    assert all(model.values for model in run(models, runner, tmp_path / "out"))
    assert [name for name, _ in runner.asked] == ["b", "c"]


def test_progress_is_complete_although_two_names_share_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = dict.fromkeys(("a", "b"), write(tmp_path / "m"))
    for asked in (1, 0):
        run(models, runner := Runner(), tmp_path / "out")
        assert len(runner.asked) == asked
        assert "evaluating: 100%" in capsys.readouterr().err


def test_changed_data_are_reevaluated(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text("{}\n")
    models, runner = {"a": write(tmp_path / "a")}, Runner()
    options = ["--reddit-file", str(dump)]
    for content, times in (("{}\n", 1), ("{}\n", 1), ("{}\n{}\n", 2)):
        dump.write_text(content)
        measure(models, ["r"], "test", options, Evaluations(tmp_path / "out", runner), "data")
        assert len(runner.asked) == times


def test_model_that_changes_meanwhile_fails_and_is_not_kept(tmp_path: Path) -> None:
    """A training may be saving better weights of the second model while the first is evaluated, or of itself."""
    models = {name: write(tmp_path / name, content=name) for name in ("a", "b", "c")}
    runner = Runner()

    def train_b_and_c(arguments: list[str], answer: Path, log: Path) -> int:
        name = Path(arguments[1]).parent.name
        for other in {"a": "b", "c": "c"}.get(name, ""):
            write(tmp_path / other, content="better")
        return runner(arguments, answer, log)

    def go(run: Callable[[list[str], Path, Path], int]) -> list[Measured]:
        evaluations = Evaluations(tmp_path / "out", run, model_fingerprint)
        return measure(models, ["ed"], "test", ["--edition", "sample"], evaluations, "data")

    first = go(train_b_and_c)
    assert [name for name, _ in runner.asked] == ["a", "c"], "b has changed by the time that its turn comes"
    assert [bool(model.values) for model in first] == [True, False, False]
    assert [model.failures for model in first] == [
        [],
        *([f"{ED}: {models[name]} has changed since this command began: run it again"] for name in "bc"),
    ]
    for content in ("b", "c"):  # the old weights again: their results must not be those of the new ones
        write(tmp_path / content, content=content)
    assert all(model.values for model in go(runner))
    assert [name for name, _ in runner.asked[2:]] == ["b", "c"]


# --- failures --------------------------------------------------------------------------------------------------------


def test_failing_models_do_not_affect_others(tmp_path: Path) -> None:
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "model").touch()
    models = {
        "none": str(tmp_path / "none" / "model"),
        "torn": str(tmp_path / "torn" / "model"),
        "broken": write(tmp_path / "broken"),
        "ratings": classifier(tmp_path / "ratings", classes=["1", "2"]),
        "judge": classifier(tmp_path / "judge", classes=[]),
        "stranger": write(tmp_path / "stranger", "empathy:no_such_agent"),
        "typo": write(tmp_path / "typo", "no/such/agent"),
        "unlisted": "zoo:nosuch/bar/model",
        "nameless": "zoo:blender",
        "other": write(tmp_path / "other"),
        "good": write(tmp_path / "good"),
    }
    runner = Runner(
        broken={"error": "broken/model is broken"}, other={"report": {"f1": {"value": 0.1}}, "parameters": 1}
    )
    found = {model.name: model for model in run(models, runner)}
    assert {name for name, model in found.items() if model.values} == {"good"}
    failures = {name: model.failures for name, model in found.items() if model.failures}
    assert failures.keys() == models.keys() - {"good"}
    lines = {name: line for name, (line,) in failures.items()}
    assert lines["none"] == f"{models['none']} is not a trained model: model and model.opt must exist"
    assert lines["torn"] == f"{models['torn']} is not a trained model: model and model.opt must exist"
    assert lines["broken"] == f"{ED}: broken/model is broken"
    assert lines["ratings"] == f"{models['ratings']} predicts classes other than the 32 emotions: 1, 2"
    assert lines["judge"] == f"{models['judge']} is a judge, which gives no replies: see --suite humod"
    unknown = "names no agent (empathy:no_such_agent: there is no such agent; those of this package are "
    assert lines["stranger"].startswith(f"{models['stranger']}.opt {unknown}")
    assert lines["typo"].startswith(f"{models['typo']}.opt names no agent (")
    for name in ("unlisted", "nameless"):
        assert lines[name].startswith(f"{models[name]} is not available (ImportError: Could not find pretrained model ")
    assert lines["other"] == f"{ED}: eval_model on {ED} reports none of this table's columns, only f1"
    assert not any("\n" in line for line in lines.values())


def test_classifier_fails_without_emotion_data_set(tmp_path: Path) -> None:
    models = {"good": write(tmp_path / "m"), "c": classifier(tmp_path / "c")}
    (_, model) = run(models, Runner(), datasets=("dd",))
    assert model.failures == [f"{models['c']} is a classifier, and --tasks dd has no emotions"]


def test_all_models_may_fail(tmp_path: Path) -> None:
    models = {"b": str(tmp_path / "b"), "a": write(tmp_path / "a")}
    first, second = run(models, Runner(a={"error": "a is broken"}))
    assert first.values == second.values == {}
    assert first.failures[0].startswith(f"{tmp_path}/b is not a trained model: ")
    assert second.failures == [f"{ED}: a is broken"]


# --- cost ------------------------------------------------------------------------------------------------------------


def test_training_cost_is_read_from_trainstats(tmp_path: Path) -> None:
    path = write(tmp_path / "m")
    Path(f"{path}.trainstats").write_text(json.dumps({"train_time": 90, "total_epochs": 2.5, "parleys": 7}))
    assert training_cost(path) == {"epochs": 2.5, "minutes": 1.5}
    (model,) = run({"m": path}, Runner())
    assert model.cost == {"epochs": 2.5, "minutes": 1.5, "parameters": 2.5}


@pytest.mark.parametrize("stats", [None, "", "{}", "[]", '{"train_time": "x", "total_epochs": 1}'])
def test_missing_or_invalid_trainstats_give_no_cost(tmp_path: Path, stats: str | None) -> None:
    if stats is not None:
        (tmp_path / "model.trainstats").write_text(stats)
    assert training_cost(str(tmp_path / "model")) == {}
