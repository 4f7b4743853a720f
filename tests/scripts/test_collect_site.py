"""``parlai collect_site``: its options, the site that it serves, and recovery after the server is killed."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import unescape
from pathlib import Path

import httpx
import pytest

from parlai_empathy.errors import MissingDependencyError, NotComputableError, OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.scripts.collect_site import CollectSite
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

COLLECT = ("--study", "collect_ed")
TOKEN = "a token for the tests"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("EMPATHY_ADMIN_TOKEN", "EMPATHY_SITE_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def command(folder: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """Run the command in another process; return the process and the site's address."""
    started: list[subprocess.Popen[str]] = []

    def start(port: int = 0) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "parlai", "collect_site", *COLLECT, "--port", str(port)],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", "EMPATHY_ADMIN_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout
        first, second = process.stdout.readline().split(), process.stdout.readline().split()
        assert first[:2] == ["Collecting", "collect_ed:"]
        assert second == ["Administration:", f"{first[2]}admin"]
        return process, first[2]

    yield start
    for process in started:
        process.kill()
        process.communicate()


class Visitor:
    """A browser without JavaScript."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True, timeout=30)
        self.page = ""

    def get(self, path: str = "/talk") -> str:
        self.page = self.http.get(path).text
        return self.page

    def field(self, name: str) -> str:
        found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', self.page)
        return unescape(found[1]) if found else ""

    def post(self, path: str, **fields: str) -> str:
        self.page = self.http.post(path, data={"token": self.field("token"), **fields}).text
        return self.page

    def come(self, situation: str) -> None:
        self.get("/")
        self.post("/consent", agree="yes")
        self.get()
        chosen = {"prompt": self.field("prompt"), "q-emotion": self.field("q-emotion")}
        self.post("/prompt", **chosen, **{"q-situation": situation})

    def say(self, text: str) -> str:
        self.get()
        return self.post("/say", talk=self.field("talk"), turn=self.field("turn"), text=text)


def test_killed_server_resumes_without_losing_messages(
    command: Callable[..., tuple[subprocess.Popen[str], str]], folder: Path
) -> None:
    """The server is killed with ``kill -9`` while two people talk and a third one waits, and restarted."""
    process, url = command()
    ann, bob, cid = (Visitor(url) for _ in range(3))
    ann.come("A heron stood in my garden.")
    bob.come("I fell into the pond.")
    cid.come("I won a cake.")
    assert "You are in the waiting room." in cid.page
    said = []
    for turn in range(1, 4):
        text = f"Message {turn}, well."
        assert text in (ann if turn % 2 else bob).say(text)  # once it is on the page, it is acknowledged
        said.append(text)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with suppress(httpx.TransportError):
        ann.get()

    process, again = command(int(url.rstrip("/").rsplit(":", 1)[1]))
    assert again == url
    for one in (ann, bob):
        one.get()
        assert re.findall(r"Message \d, well\.", one.page) == said
    cid.get()
    assert "You are in the waiting room." in cid.page
    assert "Message 4, well." in bob.say("Message 4, well.")
    ann.get()
    with pytest.raises(NotComputableError):  # the conversation has not ended
        CollectSite.main(*COLLECT, "--export", "y.csv")
    ann.post("/end", talk=ann.field("talk"))
    assert "How was conversation 1?" in ann.page
    boss = Visitor(url)
    boss.get("/admin")
    boss.post("/admin/login", admin_token=TOKEN)
    (folder / "x.csv").write_text(boss.get("/admin/conversations.csv"))
    judgements = boss.get("/admin/judgements.csv")
    assert judgements.startswith("item,system,other,question,rater,rating,")
    [dialogue] = read_empathetic_dialogues(folder / "x.csv")
    assert [turn.text for turn in dialogue.turns] == [*said, "Message 4, well."]

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    assert TOKEN not in out + err
    CollectSite.main(*COLLECT, "--export", "y.csv")
    assert (folder / "y.csv").read_text() == (folder / "x.csv").read_text()
    assert (folder / "y_judgements.csv").read_text() == judgements


def test_command_without_a_port_replaces_no_version(folder: Path) -> None:
    """The site that is still on the port goes on with its version of the study."""
    store = open_store("ratings.db")
    desk = Desk(store, read_study("collect_ed"))
    Path("collect_ed.yaml").write_text("extends: collect_ed\ntitle: Herons\n")
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OptionError, match="cannot be used"):
        CollectSite.main("--study", "collect_ed.yaml", "--new-version", "true", "--port", str(taken.getsockname()[1]))
    desk.enrol("ann")
    store.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--store", "x.db"), "--study: name the study to run"),
        (("--study", "collect"), "there is no such file; name a study file, or one of acute"),
        (("--study", "ed"), "kind is likert: this site is for kind collect; see parlai rate_site"),
        ((*COLLECT, "--turn-minutes", "0"), "--turn-minutes 0: expected a number from 0.5 to 120"),
        ((*COLLECT, "--turn-minutes", "nan"), "--turn-minutes nan: expected a number from 0.5 to 120"),
        ((*COLLECT, "--country", "XX"), "--country XX: help_lines.yaml has no services for it"),
        ((*COLLECT, "--help-lines", "x.yaml"), "--help-lines x.yaml cannot be read"),
        ((*COLLECT, "--store", "no/where.db"), "no/where.db"),
        ((*COLLECT, "--port", "99999"), "--host 127.0.0.1 --port 99999: ports are numbers from 0"),
        ((*COLLECT, "--id-parameter", "workerId"), "--id-parameter workerId"),
    ],
)
def test_option_errors_are_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        CollectSite.main(*arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_export_without_finished_conversations_raises(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"--store ratings.db: there is no such file"):
        CollectSite.main(*COLLECT, "--export", "x.csv")
    open_store("ratings.db").close()
    with pytest.raises(NotComputableError, match="the study collect_ed has no finished conversation"):
        CollectSite.main(*COLLECT, "--export", "x.csv")
    assert not (folder / "x.csv").exists()


def test_short_admin_token_raises_option_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPATHY_ADMIN_TOKEN", "heron")
    with pytest.raises(OptionError, match="EMPATHY_ADMIN_TOKEN has 5 characters"):
        CollectSite.main(*COLLECT)


def test_missing_uvicorn_error_names_install_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingDependencyError, match=r"uvicorn, which is not installed: pip install .*site"):
        CollectSite.main(*COLLECT)


def test_disabling_distress_notice_logs_a_warning(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import parlai.utils.logging as logging

    from parlai_empathy.scripts.runs import collect_site

    warned: list[str] = []
    monkeypatch.setattr(logging, "warning", lambda text, *values: warned.append(text))
    monkeypatch.setattr(collect_site, "serve", lambda app, address, on_start: on_start("http://127.0.0.1:8000/"))
    CollectSite.main(*COLLECT)
    assert warned == []
    CollectSite.main(*COLLECT, "--distress-notice", "off")
    assert warned[0].startswith("--distress-notice is off")
    assert "Administration: disabled; set EMPATHY_ADMIN_TOKEN to enable it" in capsys.readouterr().out
