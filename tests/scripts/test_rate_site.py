"""``parlai rate_site``: its options, and the site that it serves."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.scripts.rate_site import RateSite

LOGS = ("--logs", "A=A.jsonl")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("EMPATHY_ADMIN_TOKEN", "EMPATHY_SITE_SECRET"):
        monkeypatch.delenv(name, raising=False)
    records = [{"context": [f"Heron {n}."], "reply": f"Lovely {n}."} for n in "123"]
    Path("A.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


@pytest.fixture
def command(folder: Path) -> Callable[..., subprocess.Popen[str]]:
    """Run the command in another process."""

    def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "parlai", "rate_site", "--port", "0", *arguments],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def status_of(url: str, path: str) -> int:
    connection = http.client.HTTPConnection(url.removeprefix("http://").rstrip("/"), timeout=20)
    connection.request("GET", path)
    return connection.getresponse().status


def test_site_is_served_until_interrupted(command: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    process = command("--study", "humod", *LOGS, EMPATHY_ADMIN_TOKEN="a token for the tests")
    assert process.stdout
    raters, admin = process.stdout.readline().split(), process.stdout.readline().split()
    assert raters[:3] == ["Raters", "of", "humod:"]
    assert admin == ["Administration:", f"{raters[3]}admin"]
    assert [status_of(raters[3], path) for path in ("/", "/admin", "/nowhere")] == [200, 200, 404]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    assert "token for the tests" not in out + err
    assert (folder / "ratings.db.secret").stat().st_mode & 0o777 == 0o600


def test_admin_page_is_disabled_without_a_token(command: Callable[..., subprocess.Popen[str]]) -> None:
    process = command("--study", "humod", *LOGS)
    assert process.stdout
    url = process.stdout.readline().split()[-1]
    assert process.stdout.readline() == "Administration: disabled; set EMPATHY_ADMIN_TOKEN to enable it\n"
    assert status_of(url, "/admin") == 404
    process.terminate()
    process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--store", "x.db"), "--study: name the study to run"),
        (("--study", "hmod"), "there is no such file; name a study file, or one of acute"),
        (("--study", "humod"), "no systems are named: pass --logs NAME=FILE"),
        (("--study", "chat"), "the rating site serves likert and pairwise; use parlai chat_site"),
        (("--study", "collect_ed"), "the rating site serves likert and pairwise; use parlai collect_site or"),
        (("--study", "humod", *LOGS, "--store", "no/where.db"), "--store no/where.db"),
        (("--study", "humod", *LOGS, "--port", "99999"), "--host 127.0.0.1 --port 99999: ports are numbers from 0"),
        (("--study", "humod", *LOGS, "--host", "192.0.2.300"), "--host 192.0.2.300 --port 8000 cannot be used"),
        (("--study", "humod", *LOGS, "--id-parameter", "workerId"), "--id-parameter workerId"),
    ],
)
def test_option_errors_are_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        RateSite.main(*arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_command_that_cannot_serve_replaces_no_version(folder: Path) -> None:
    """The site that is still on the port goes on with its version of the study."""
    store, study = open_store("ratings.db"), read_study("humod", {"A": "A.jsonl"})
    desk = Desk(store, study)
    Path("humod.yaml").write_text("extends: humod\ntitle: Herons\n")
    arguments = ("--study", "humod.yaml", *LOGS, "--new-version", "true")
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OptionError, match="cannot be used"):
        RateSite.main(*arguments, "--port", str(taken.getsockname()[1]))
    Path("ratings.db.secret").write_text("short")
    with pytest.raises(OptionError, match=r"ratings\.db\.secret"):
        RateSite.main(*arguments, "--port", "0")
    desk.enrol("ann")
    store.close()


def test_short_token_or_secret_raises_option_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPATHY_ADMIN_TOKEN", "heron")
    with pytest.raises(OptionError, match="EMPATHY_ADMIN_TOKEN has 5 characters"):
        RateSite.main("--study", "humod", *LOGS)
    monkeypatch.delenv("EMPATHY_ADMIN_TOKEN")
    monkeypatch.setenv("EMPATHY_SITE_SECRET", "heron")
    with pytest.raises(OptionError, match="EMPATHY_SITE_SECRET has 5 characters"):
        RateSite.main("--study", "humod", *LOGS)


def test_missing_uvicorn_error_names_install_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingDependencyError, match=r"uvicorn, which is not installed: pip install .*site"):
        RateSite.main("--study", "humod", *LOGS)
