"""``parlai chat_site``: from the options to a page that replies."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from starlette.testclient import TestClient
from tiny_parts import train_base, train_classifier
from tiny_studies import LIKERT

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.rating.desk.raters import set_excluded
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.scripts.chat_site import ChatSite
from parlai_empathy.scripts.runs import chat_site


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Run the command, visit the page and send a message; return what the visitor saw."""
    seen: dict[str, str] = {}
    words = ["Hello there"]

    def visit(app: Any, address: Any, on_start: Any) -> None:
        on_start("http://127.0.0.1:8000/")
        with TestClient(app) as client:
            seen["welcome"] = client.get("/").text
            _post(client, seen["welcome"], "/consent", agree="yes")
            page = client.get("/").text
            talk = page.partition('name="talk" value="')[2].partition('"')[0]
            headers = {"Accept": "text/event-stream"}
            seen["events"] = _post(client, page, "/say", headers, talk=talk, turn="1", text=words[0]).text
            seen["page"] = client.get("/").text
            seen["talks"] = client.get("/conversation.json").text
            seen["admin"] = client.get("/admin").text

    monkeypatch.setattr(chat_site, "serve", visit)

    def run(*arguments: str, say: str = "Hello there") -> dict[str, str]:
        words[0] = say
        arguments = ("--port", "0", "--store", str(tmp_path / "ratings.db"), "-dp", str(tmp_path), *arguments)
        ChatSite.main(*arguments)
        return seen

    return run


def _post(
    client: TestClient, page: str, path: str, headers: dict[str, str] | None = None, **fields: str
) -> httpx.Response:
    token = page.partition('name="token" value="')[2].partition('"')[0]
    return client.post(path, data={"token": token, **fields}, headers=headers)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "retrieval": str(train_base(folder / "retrieval" / "model")),
        "generative": str(train_base(folder / "generative" / "model", "empathy:generative")),
        "emotion": str(train_classifier(folder / "emotion" / "model", num_epochs=2)),
    }


ECHO = ("-m", "empathy:in_context", "--lm-backend", "echo")


def test_chat_with_language_model_gets_a_reply(
    serve: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EMPATHY_ADMIN_TOKEN", raising=False)
    seen = serve(*ECHO)
    assert "Talk with a listener" in seen["welcome"]
    [talk] = json.loads(seen["talks"])
    assert [turn["speaker"] for turn in talk["turns"]] == ["you", "program"]
    assert talk["turns"][1]["text"]
    told = capsys.readouterr().out
    assert "Chat: http://127.0.0.1:8000/\nAdministration: disabled; set EMPATHY_ADMIN_TOKEN to enable it\n" in told


def test_usage_of_a_language_model_is_logged_at_the_end(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.info", lines.append)
    serve(*ECHO, "--lm-cache", "none")
    assert [line.partition(" (")[0] for line in lines if line.startswith("echo: ")] == ["echo: 1 requests"]


def test_admin_page_requires_a_long_enough_token(
    serve: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHY_ADMIN_TOKEN", "heron")
    with pytest.raises(OptionError, match="EMPATHY_ADMIN_TOKEN has 5 characters"):
        serve(*ECHO)
    monkeypatch.setenv("EMPATHY_ADMIN_TOKEN", "a token for the tests")
    assert "Log in" in serve(*ECHO)["admin"]
    assert "Administration: http://127.0.0.1:8000/admin\n" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["retrieval", "generative"])
def test_trained_model_replies_and_page_shows_emotion(serve: Any, models: dict[str, str], kind: str) -> None:
    seen = serve("-mf", models[kind], "--emotion-model", models["emotion"])
    assert seen["page"].count('id="turn-') == 2
    assert "sounds <strong>" in seen["page"]


def test_retrieval_agent_without_model_file_raises(serve: Any) -> None:
    with pytest.raises((ModelFileError, OptionError)):
        serve("-m", "empathy:retrieval")  # without a model file it has neither weights nor a pool


def test_study_with_two_models_opens_a_chat(serve: Any, models: dict[str, str]) -> None:
    seen = serve("--study", "chat", "--models", f"A={models['retrieval']}", f"B={models['generative']}")
    assert "Think of something that happened to you" in seen["page"] or "End and judge" in seen["page"]


def test_export_writes_marks_and_conversations(serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve(*ECHO)
    serve(*ECHO, "--export", str(tmp_path / "marks.csv"))
    shown = capsys.readouterr().out
    assert "0 marks" in shown
    assert f"1 conversation: {tmp_path / 'marks_talks.jsonl'}" in shown
    assert (tmp_path / "marks_talks.jsonl").read_text().startswith('{"item": "chat-')
    assert (tmp_path / "marks.csv").read_text().startswith("item,system")


def test_export_includes_excluded_people_with_the_reason(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(*ECHO)
    store = open_store(str(tmp_path / "ratings.db"))
    with store.reading() as t:
        study, rater = next((row["study"], row["rater"]) for row in t.rows("SELECT study, rater FROM rating_raters"))
        [talk] = t.rows("SELECT id FROM rating_assignments")
    with store.writing(study) as t:
        set_excluded(t, study, rater, "a test of ours", 0.0)
        t.run(
            "INSERT INTO rating_answers VALUES (:id, 'good', 2, 'choice', 1, 'yes', 0, NULL)",
            id=talk["id"],
        )
    store.close()
    serve(*ECHO, "--export", str(tmp_path / "marks.jsonl"))
    for name in ("marks.jsonl", "marks_talks.jsonl"):
        assert json.loads((tmp_path / name).read_text())["excluded"] == "a test of ours"
    assert "1 mark:" in capsys.readouterr().out


def test_country_selects_help_lines_of_distress_notice(serve: Any) -> None:
    assert "988 Suicide" in serve(*ECHO, "--country", "US", say="I want to die")["events"]
    assert "findahelpline.com" in serve(*ECHO, say="I want to die")["events"]


def test_disabling_distress_notice_logs_warnings(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import parlai.utils.logging as logging

    warned: list[str] = []
    monkeypatch.setattr(logging, "warning", lambda text, *values: warned.append(text % values if values else text))
    seen = serve(*ECHO, "--distress-notice", "off", say="I want to die")
    assert "help-lines" not in seen["page"]
    assert warned[0].startswith("--distress-notice is off")
    assert any("NO NOTICE is shown" in one for one in warned)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ([], "-mf: name the model to chat with"),
        (["--models", "A=a"], "--models: needs a study"),
        (["--study", "chat"], "no models are named"),
        (["--study", "ed"], "kind is likert: this page is for chat"),
        ([*ECHO, "--country", "XX"], "--country XX"),
        ([*ECHO, "--workers", "0"], "--workers 0"),
        ([*ECHO, "--longest-message", "0"], "--longest-message 0"),
        ([*ECHO, "--id-parameter", "workerId"], "--id-parameter workerId"),
        ([*ECHO, "--models", "A=a"], "leave one of the two out"),
    ],
)
def test_invalid_options_raise_option_error(serve: Any, arguments: list[str], wrong: str) -> None:
    with pytest.raises(OptionError, match=wrong):
        serve(*arguments)


def test_what_cannot_be_served_is_reported_before_a_model_is_loaded(
    serve: Any, models: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*arguments: Any) -> Any:
        raise AssertionError("a model is loaded")

    for name in ("_own_agent", "load_chat_models", "Classifier"):
        monkeypatch.setattr(chat_site, name, load)
    own, url = ("-mf", models["retrieval"], "--emotion-model", models["emotion"]), str(tmp_path / "no" / "ratings.db")
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OptionError, match="cannot be used"):
        serve(*own, "--port", str(taken.getsockname()[1]))
    with pytest.raises(OptionError, match="expected a file in an existing folder"):
        serve(*own, "--store", url)
    with monkeypatch.context() as short:
        short.setenv("EMPATHY_SITE_SECRET", "short")
        with pytest.raises(OptionError, match="EMPATHY_SITE_SECRET has 5 characters"):
            serve(*own)
    with pytest.raises(AssertionError, match="a model is loaded"):
        serve(*own)


def test_changed_study_is_refused_before_a_model_is_loaded(serve: Any, models: dict[str, str], tmp_path: Path) -> None:
    study = ("--study", "chat", "--models")
    serve(*study, f"A={models['retrieval']}")
    with pytest.raises(OptionError, match="of the study chat, but this is version"):
        serve(*study, f"A={tmp_path / 'nothing'}")


def test_study_is_registered_once_its_models_are_loaded(serve: Any, models: dict[str, str], tmp_path: Path) -> None:
    """So a mistyped model file can be corrected without a new version."""
    study = ("--study", "chat", "--models")
    with pytest.raises(ModelFileError, match="nothing is not a trained model"):
        serve(*study, f"A={models['retrieval']}", f"B={tmp_path / 'nothing'}")
    assert "End and judge" in serve(*study, f"A={models['retrieval']}")["page"]


def test_missing_model_file_raises(serve: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="nothing: there is no such model file"):
        serve("-mf", str(tmp_path / "nothing"))


def test_custom_study_with_one_model_shows_its_title(serve: Any, tmp_path: Path, models: dict[str, str]) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({**LIKERT, "kind": "chat"}))
    seen = serve("--study", str(path), "-mf", models["retrieval"])
    assert "Herons" in seen["welcome"]
