"""The builder with a real server, real archives and real folders. Only the waits between two tries are skipped."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import random
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from parlai.core import build_data
from parlai.core.build_data import DownloadableFile
from processes import PATIENCE, REPOSITORY, start

from parlai_empathy.errors import DownloadError
from parlai_empathy.task_kit.builder import Source, obtain, sha256_of, sha256_of_all

FILES = {"inner/a.csv": b"first\n" * 100, "inner/b.csv": b"second\n" * 100}
ARCHIVE = "toy.tar.gz"

OneLine = Callable[..., None]
Answer = Callable[[BaseHTTPRequestHandler], None]


# --- tools -----------------------------------------------------------------------------------------------------------


def tar_gz(files: dict[str, bytes]) -> bytes:
    """Pack ``files`` into a .tar.gz archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    """Pack ``files`` into a zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inner/", b"")
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def source_of(archive: bytes, url: str = "http://127.0.0.1:9/toy.tar.gz", version: str = "1.0") -> Source:
    """Return a data set whose official archive is ``archive``. (Nothing listens on port 9.)"""
    file = DownloadableFile(url, ARCHIVE, hashlib.sha256(archive).hexdigest())
    return Source(folder="toy", version=version, archive=file, files=tuple(FILES))


def without_archive() -> Source:
    return Source(folder="toy", version="1.0", archive=None, files=tuple(FILES))


def content_of(home: Path) -> dict[str, bytes]:
    """Return all files below ``home`` except the version mark."""
    found = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert found.pop(".built", None) is not None
    return found


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reach the server of these tests directly."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder of our data set in a mirror folder."""
    folder = tmp_path / "mirror" / "toy"
    folder.mkdir(parents=True)
    monkeypatch.setenv("EMPATHY_MIRROR", str(folder.parent))
    return folder


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the builder would wait between its tries."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


# --- a server --------------------------------------------------------------------------------------------------------


def sends(body: bytes, missing: int = 0, **headers: str) -> Answer:
    """Answer with ``body``, after promising ``missing`` bytes more."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body) + missing))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def says(status: int) -> Answer:
    return lambda handler: handler.send_error(status)


class Server:
    """A web server on 127.0.0.1. ``answers`` holds a path's answers, one per request; the last one is repeated."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                queue = server.answers.get(self.path, [says(404)])
                (queue.pop(0) if len(queue) > 1 else queue[0])(self)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def holds_loose_files(self) -> None:
        for name, content in FILES.items():
            self.answers[f"/toy/{Path(name).name}"] = [sends(content)]

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A running server, which is also the mirror."""
    running = Server()
    monkeypatch.setenv("EMPATHY_MIRROR", running.url)
    yield running
    running.close()


# --- already built ---------------------------------------------------------------------------------------------------


def test_built_data_set_is_reused_unchanged(data: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of(archive := tar_gz(FILES))
    (mirror / ARCHIVE).write_bytes(archive)
    home = obtain(str(data), source)
    (home / "inner/a.csv").write_bytes(b"my own edit")
    monkeypatch.setenv("EMPATHY_MIRROR", "/nowhere")
    assert obtain(str(data), source) == home
    assert (home / "inner/a.csv").read_bytes() == b"my own edit"


def test_files_that_the_user_has_put_there_are_used(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    for name, content in FILES.items():
        path = data / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    home = obtain(str(data), source_of(tar_gz(FILES)))
    assert content_of(home) == FILES
    assert names_in(data) == ["toy"]
    assert build_data.built(str(home), "1.0")


def test_folder_with_the_archive_is_what_an_interrupted_program_has_left(data: Path, mirror: Path) -> None:
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    for name in FILES:
        path = data / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"cut")
    (data / "toy" / ARCHIVE).write_bytes(archive)
    assert content_of(obtain(str(data), source_of(archive))) == FILES
    assert names_in(data) == ["toy", "toy.unfinished-1"]


@pytest.mark.parametrize("place", ["mirror", "data folder"])
def test_files_other_than_the_official_ones_are_warned_of(
    place: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    source = Source("toy", "1.0", None, ("a.csv",), url="http://127.0.0.1:9/a.csv", sha256="0" * 64)
    folder = data / "toy" if place == "data folder" else tmp_path / "copies" / "toy"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_bytes(b"a\n")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "copies"))
    assert (obtain(str(data), source) / "a.csv").read_bytes() == b"a\n"
    found = hashlib.sha256(b"a\n").hexdigest()
    assert warnings == [f"{folder} does not hold the official files: their SHA-256 is {found}, expected {'0' * 64}"]
    obtain(str(data), source)
    assert len(warnings) == 1, "once is enough"


def test_built_folder_with_a_missing_file_is_rebuilt(data: Path, mirror: Path) -> None:
    source = source_of(archive := tar_gz(FILES))
    (mirror / ARCHIVE).write_bytes(archive)
    home = obtain(str(data), source)
    (home / "inner/b.csv").unlink()
    assert content_of(obtain(str(data), source)) == FILES
    assert names_in(data) == ["toy", "toy.unfinished-1"]


def test_older_version_is_set_aside_and_not_deleted(data: Path, mirror: Path) -> None:
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    for version in ("0.8", "0.9", "1.0"):
        home = obtain(str(data), source_of(archive, version=version))
    assert names_in(data) == ["toy", "toy.unfinished-1", "toy.unfinished-2"]
    assert [build_data.built(str(data / name), version) for name, version in kept_versions()] == [True] * 3
    assert content_of(home) == FILES


def kept_versions() -> list[tuple[str, str]]:
    return [("toy.unfinished-1", "0.8"), ("toy.unfinished-2", "0.9"), ("toy", "1.0")]


# --- a mirror folder -------------------------------------------------------------------------------------------------


def test_archive_from_mirror_folder(data: Path, mirror: Path) -> None:
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    home = obtain(str(data), source_of(archive))
    assert home == data / "toy"
    assert content_of(home) == FILES
    assert names_in(data) == ["toy"]
    assert names_in(mirror) == [ARCHIVE]  # the mirror keeps its file


@pytest.mark.parametrize("nested", [False, True])
def test_loose_files_from_mirror_folder(data: Path, mirror: Path, nested: bool) -> None:
    for name, content in FILES.items():
        target = mirror / (name if nested else Path(name).name)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
    assert content_of(obtain(str(data), source_of(b"any"))) == FILES


def test_source_without_official_archive_is_built_from_mirror(data: Path, mirror: Path) -> None:
    for name, content in FILES.items():
        (mirror / Path(name).name).write_bytes(content)
    assert content_of(obtain(str(data), without_archive())) == FILES


def test_data_set_in_nested_folder(data: Path, mirror: Path) -> None:
    source = replace(source_of(archive := tar_gz(FILES)), folder="models/toy")
    (folder := mirror.parent / "models/toy").mkdir(parents=True)
    (folder / ARCHIVE).write_bytes(archive)
    assert content_of(obtain(str(data), source)) == FILES
    assert (names_in(data), names_in(data / "models")) == (["models"], ["toy"])


def test_local_folder_may_differ_from_mirror_folder(data: Path, mirror: Path) -> None:
    source = replace(source_of(archive := tar_gz(FILES)), home="ours")
    (mirror / ARCHIVE).write_bytes(archive)
    (data / "toy").mkdir(parents=True)
    assert obtain(str(data), source) == data / "ours"
    assert content_of(data / "ours") == FILES
    assert (names_in(data), names_in(data / "toy")) == (["ours", "toy"], [])


def test_tilde_in_mirror_path_is_expanded(data: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(mirror.parent.parent))
    monkeypatch.setenv("EMPATHY_MIRROR", "~/mirror")
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    assert content_of(obtain(str(data), source_of(archive))) == FILES


def test_mirror_in_home_of_unknown_user_raises_download_error(
    data: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", "~no_such_user/mirror")
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(b"any"))
    assert_one_line(caught.value, "the mirror lacks ~no_such_user/mirror/toy/a.csv", "EMPATHY_MIRROR")


def test_unreadable_mirror_is_not_blamed_on_the_data_folder(
    data: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    """A name that is too long stands for any reason; permissions do not keep the superuser from reading."""
    monkeypatch.setenv("EMPATHY_MIRROR", "/" + 300 * "m")
    for source in (source_of(b"any"), without_archive()):
        with pytest.raises(DownloadError) as caught:
            obtain(str(data), source)
        file = "toy.tar.gz" if source.archive else "a.csv"
        assert_one_line(caught.value, f"{300 * 'm'}/toy/{file} cannot be read (File name too long): EMPATHY_MIRROR")
        assert "--datapath" not in str(caught.value)


def test_mirror_folder_lacking_a_file_raises_download_error(data: Path, mirror: Path, assert_one_line: OneLine) -> None:
    (mirror / "a.csv").write_bytes(b"a")
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(b"any"))
    assert_one_line(caught.value, mirror / "b.csv", "EMPATHY_MIRROR", "toy/toy.tar.gz or toy/{a.csv,b.csv}")
    assert names_in(data) == []


def test_no_mirror_and_no_official_archive_raises_download_error(data: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), without_archive())
    assert_one_line(caught.value, "toy", "set EMPATHY_MIRROR to a folder that holds toy/{a.csv,b.csv}")
    assert names_in(data) == []


# --- a server as the mirror ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", "/"])
def test_archive_from_mirror_url(data: Path, server: Server, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", f"{server.url}/base{ending}")
    archive = tar_gz(FILES)
    server.answers[f"/base/toy/{ARCHIVE}"] = [sends(archive)]
    home = obtain(str(data), source_of(archive))
    assert content_of(home) == FILES  # the archive is removed
    assert names_in(data) == ["toy"]
    assert server.asked == [f"/base/toy/{ARCHIVE}"]


@pytest.mark.parametrize("status", [403, 404, 410])
def test_loose_files_from_mirror_url_if_archive_is_refused(data: Path, server: Server, status: int) -> None:
    server.answers[f"/toy/{ARCHIVE}"] = [says(status)]
    server.holds_loose_files()
    assert content_of(obtain(str(data), source_of(b"any"))) == FILES
    assert server.asked == [f"/toy/{ARCHIVE}", "/toy/a.csv", "/toy/b.csv"]  # a definite refusal is not retried


def test_files_in_their_own_folders_from_mirror_url(data: Path, server: Server) -> None:
    """As a built folder, such as that of a trained model with its encoder's folder, is copied to a server."""
    for name, content in FILES.items():
        server.answers[f"/toy/{name}"] = [sends(content)]
    assert content_of(obtain(str(data), without_archive())) == FILES


def test_mirror_url_without_archive_or_files_raises_download_error(
    data: Path, server: Server, waits: list[float], assert_one_line: OneLine
) -> None:
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(b"any"))
    assert_one_line(caught.value, f"{server.url}/toy/a.csv", "the server says 404", "EMPATHY_MIRROR", "toy/toy.tar.gz")
    assert names_in(data) == []
    assert waits == []


def test_server_error_is_retried(data: Path, server: Server, waits: list[float]) -> None:
    archive = tar_gz(FILES)
    server.answers[f"/toy/{ARCHIVE}"] = [says(503), sends(archive)]
    assert content_of(obtain(str(data), source_of(archive))) == FILES
    assert len(server.asked) == 2
    assert len(waits) == 1


def test_persistent_server_error_raises_after_three_tries(
    data: Path, server: Server, waits: list[float], assert_one_line: OneLine
) -> None:
    server.answers[f"/toy/{ARCHIVE}"] = [says(500)]
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(b"any"))
    assert_one_line(caught.value, f"{server.url}/toy/{ARCHIVE}", "500", "EMPATHY_MIRROR")
    assert server.asked == [f"/toy/{ARCHIVE}"] * 3
    assert names_in(data) == []


def test_interrupted_download_is_restarted(data: Path, server: Server, waits: list[float]) -> None:
    archive = tar_gz(FILES)
    half = len(archive) // 2
    server.answers[f"/toy/{ARCHIVE}"] = [sends(archive[:half], missing=len(archive) - half), sends(archive)]
    assert content_of(obtain(str(data), source_of(archive))) == FILES


def test_repeatedly_interrupted_download_raises_after_three_tries(
    data: Path, server: Server, waits: list[float], assert_one_line: OneLine
) -> None:
    server.answers["/toy/a.csv"] = [sends(b"half of it", missing=100)]
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), without_archive())
    assert_one_line(caught.value, f"{server.url}/toy/a.csv", "the connection was lost", "EMPATHY_MIRROR")
    assert server.asked == ["/toy/a.csv"] * 3
    assert names_in(data) == []  # in particular no partial a.csv


def test_unreachable_server_raises_after_three_tries(
    data: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("EMPATHY_MIRROR", f"http://127.0.0.1:{port}")
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(b"any"))
    assert_one_line(caught.value, f"http://127.0.0.1:{port}/toy/{ARCHIVE} (no connection)", "EMPATHY_MIRROR")
    assert len(waits) == 2  # between three tries
    assert names_in(data) == []


@pytest.mark.parametrize("status", [None, 404, 500])
def test_mirror_password_is_neither_logged_nor_in_the_error(
    data: Path,
    server: Server,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
    log: pytest.LogCaptureFixture,
    assert_one_line: OneLine,
    status: int | None,
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", server.url.replace("://", "://me:se@cret@"))
    path = f"/toy/{'a.csv' if status == 404 else ARCHIVE}"
    server.answers[path] = [says(status) if status else sends(b"a log-in page")]
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(b"any"))
    assert_one_line(caught.value, f"{server.url}{path}", status or "not the expected file")
    assert "cret" not in f"{caught.value} {log.text}"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (requests.ConnectTimeout("Max retries"), "no response in time"),
        (requests.exceptions.SSLError("Max retries"), "no secure connection"),
    ],
)
def test_failed_connection_names_its_reason(
    data: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setenv("EMPATHY_MIRROR", "HTTPS://mirror")
    monkeypatch.setattr(requests, "get", fail)
    with pytest.raises(DownloadError, match=rf"^cannot download HTTPS://mirror/toy/toy\.tar\.gz \({reason}\)\. "):
        obtain(str(data), source_of(b"any"))


def test_invalid_mirror_url_raises_download_error(
    data: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", "http://[mirror")
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(b"any"))
    assert_one_line(caught.value, "cannot download http://[mirror/toy/toy.tar.gz", "EMPATHY_MIRROR")


def test_gzip_content_encoding_is_decompressed(data: Path, server: Server) -> None:
    """Content-Length then counts the compressed bytes, which are far fewer than those written."""
    for name, content in FILES.items():
        server.answers[f"/toy/{Path(name).name}"] = [sends(gzip.compress(content), Content_Encoding="gzip")]
    assert content_of(obtain(str(data), without_archive())) == FILES


def test_redirects_are_followed(data: Path, server: Server) -> None:
    def moved(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", "/elsewhere")
        handler.end_headers()

    archive = tar_gz(FILES)
    server.answers = {f"/toy/{ARCHIVE}": [moved], "/elsewhere": [sends(archive)]}
    assert content_of(obtain(str(data), source_of(archive))) == FILES


# --- the official address --------------------------------------------------------------------------------------------


def test_official_url_is_used_without_a_mirror(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR")
    archive = tar_gz(FILES)
    server.answers["/official/toy.tar.gz"] = [sends(archive)]
    assert content_of(obtain(str(data), source_of(archive, f"{server.url}/official/toy.tar.gz"))) == FILES
    assert server.asked == ["/official/toy.tar.gz"]


def test_mirror_takes_precedence_over_official_url(data: Path, server: Server, mirror: Path) -> None:
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    obtain(str(data), source_of(archive, f"{server.url}/official/toy.tar.gz"))
    assert server.asked == []


def test_login_page_instead_of_archive_fails_the_checksum(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR")
    server.answers["/toy.tar.gz"] = [sends(page := b"<html>Please log in</html>")]
    source = source_of(tar_gz(FILES), f"{server.url}/toy.tar.gz")
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source)
    found, expected = hashlib.sha256(page).hexdigest(), source.archive and source.archive.hashcode
    assert_one_line(caught.value, f"{server.url}/toy.tar.gz", found, expected, "Fetch it again")
    assert names_in(data) == []


# --- a single file without an archive, at an official address --------------------------------------------------------


def only_file(url: str) -> Source:
    return Source(folder="toy", version="1.0", archive=None, files=("inner/only.txt",), url=url)


def test_single_file_is_downloaded_once_and_its_checksum_logged(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    """There is no published checksum to compare, so its SHA-256 is logged."""
    monkeypatch.delenv("EMPATHY_MIRROR")
    server.answers["/official/The_File.txt"] = [sends(body := b"what came\n" * 1000)]
    source = only_file(f"{server.url}/official/The_File.txt")
    home = obtain(str(data), source)
    assert content_of(home) == {"inner/only.txt": body}
    told = f"{server.url}/official/The_File.txt: SHA-256 {hashlib.sha256(body).hexdigest()} (none is published"
    assert [record.levelname for record in log.records if record.message.startswith(told)] == ["INFO"]
    assert obtain(str(data), source) == home
    assert server.asked == ["/official/The_File.txt"]  # only once


def test_single_file_is_verified_against_its_checksum(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture, assert_one_line: OneLine
) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR")
    server.answers["/only.txt"] = [sends(b"something else"), sends(b"the file")]
    expected = hashlib.sha256(b"the file").hexdigest()
    source = replace(only_file(f"{server.url}/only.txt"), sha256=expected)
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source)
    found = hashlib.sha256(b"something else").hexdigest()
    assert_one_line(caught.value, f"{server.url}/only.txt", found, expected, "Fetch it again")
    assert names_in(data) == []
    assert content_of(obtain(str(data), source)) == {"inner/only.txt": b"the file"}
    assert "none is published" not in log.text


def test_several_files_from_official_url_are_verified_together(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR")
    server.answers["/at/inner/a.csv"] = [sends(b"another\n"), sends(FILES["inner/a.csv"])]
    server.answers["/at/inner/b.csv"] = [sends(FILES["inner/b.csv"])]
    lines = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in FILES.items())
    expected = hashlib.sha256(lines.encode()).hexdigest()
    source = replace(without_archive(), url=f"{server.url}/at/", sha256=expected)
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source)
    assert_one_line(caught.value, f"{server.url}/at/", expected, "Fetch it again")
    assert names_in(data) == []
    assert content_of(obtain(str(data), source)) == FILES


def test_mirror_url_takes_precedence_over_single_file_url(data: Path, server: Server) -> None:
    server.answers["/toy/only.txt"] = [sends(b"the mirror's")]
    assert content_of(obtain(str(data), only_file(f"{server.url}/official"))) == {"inner/only.txt": b"the mirror's"}
    assert server.asked == ["/toy/only.txt"]


def test_mirror_folder_takes_precedence_over_single_file_url(data: Path, server: Server, mirror: Path) -> None:
    (mirror / "only.txt").write_bytes(b"the mirror's")
    assert content_of(obtain(str(data), only_file(f"{server.url}/official"))) == {"inner/only.txt": b"the mirror's"}
    assert server.asked == []


def test_mirror_lacking_the_single_file_is_not_bypassed(
    data: Path, server: Server, mirror: Path, assert_one_line: OneLine
) -> None:
    """The official address is not used: a user who sets a mirror may have no network, or want none."""
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), only_file(f"{server.url}/official"))
    assert_one_line(caught.value, mirror / "only.txt", "EMPATHY_MIRROR must hold toy/only.txt")
    assert (server.asked, names_in(data)) == ([], [])


@pytest.mark.parametrize(
    ("answer", "reason", "times"),
    [(says(404), "404", 1), (says(500), "500", 3), (sends(b"x", missing=9), "was lost", 3)],
)
def test_failed_single_file_download_raises_download_error(
    data: Path,
    server: Server,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    reason: str,
    times: int,
    assert_one_line: OneLine,
) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR")
    server.answers["/only.txt"] = [answer]
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), only_file(f"{server.url}/only.txt"))
    assert_one_line(
        caught.value, f"{server.url}/only.txt", reason, "set EMPATHY_MIRROR to a folder that holds toy/only.txt"
    )
    assert server.asked == ["/only.txt"] * times
    assert names_in(data) == []


# --- zip files -------------------------------------------------------------------------------------------------------


def source_of_zip(archive: bytes) -> Source:
    file = DownloadableFile("http://127.0.0.1:9/toy.zip", "toy.zip", hashlib.sha256(archive).hexdigest())
    return Source(folder="toy", version="1.0", archive=file, files=tuple(FILES))


def test_zip_extraction_is_limited_to_listed_files(data: Path, mirror: Path, tmp_path: Path) -> None:
    """Other members than the named files are not extracted, especially not outside of the folder."""
    (mirror / "toy.zip").write_bytes(archive := zipped({**FILES, "../../evil": b"!", "inner/README": b"!"}))
    assert content_of(obtain(str(data), source_of_zip(archive))) == FILES
    assert list(tmp_path.rglob("evil")) == []


def test_zip_file_from_official_url(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR")
    server.answers["/toy.zip"] = [sends(archive := zipped(FILES))]
    file = DownloadableFile(f"{server.url}/toy.zip", "toy.zip", hashlib.sha256(archive).hexdigest())
    assert content_of(obtain(str(data), replace(source_of_zip(archive), archive=file))) == FILES


def test_zip_file_lacking_a_listed_file_raises_download_error(
    data: Path, mirror: Path, assert_one_line: OneLine
) -> None:
    (mirror / "toy.zip").write_bytes(archive := zipped({"inner/a.csv": b"a"}))
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of_zip(archive))
    assert_one_line(caught.value, mirror / "toy.zip", "lacks inner/b.csv")


@pytest.mark.parametrize("kind", ["empty", "text", "cut", "damaged"])
def test_broken_zip_file_raises_download_error(data: Path, mirror: Path, kind: str, assert_one_line: OneLine) -> None:
    whole = zipped(FILES)
    place = whole.index(b"inner/a.csv") + len(b"inner/a.csv")  # the start of its packed content
    damaged = whole[:place] + b"\x07" * 8 + whole[place + 8 :]  # RFC 1951: no block is of type 3
    broken = {"empty": b"", "text": b"no archive", "cut": whole[:-30], "damaged": damaged}
    (mirror / "toy.zip").write_bytes(broken[kind])
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of_zip(broken[kind]))
    assert_one_line(caught.value, mirror / "toy.zip", "cannot be unpacked", "fetch it again")
    assert names_in(data) == []


# --- invalid archives -------------------------------------------------------------------------------------------------


def test_wrong_checksum_of_mirror_archive_raises_download_error(
    data: Path, mirror: Path, assert_one_line: OneLine
) -> None:
    (mirror / ARCHIVE).write_bytes(other := tar_gz({"inner/a.csv": b"forged", "inner/b.csv": b"forged"}))
    source = source_of(tar_gz(FILES))
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source)
    assert source.archive is not None
    assert_one_line(caught.value, mirror / ARCHIVE, hashlib.sha256(other).hexdigest(), source.archive.hashcode)
    assert names_in(data) == []


def broken_archives() -> dict[str, bytes]:
    whole = tar_gz({name: random.Random(name).randbytes(25_000).hex().encode() for name in FILES})
    tar = gzip.decompress(whole)
    half, rest = gzip.compress(tar[:60_000]), gzip.compress(tar[60_000:])
    open_end = zlib.compressobj(wbits=31)
    flushed = open_end.compress(tar[:60_000]) + open_end.flush(zlib.Z_FULL_FLUSH)
    return {
        "not an archive": b"nothing of the kind",
        "empty": b"",
        "cut near its beginning": whole[:100],
        "cut in the middle": whole[:40_000],
        "damaged near its beginning": whole[:40] + bytes(20) + whole[60:],
        "damaged in the middle": flushed + b"\x07" * 99,  # RFC 1951: no block is of type 3
        "wrong gzip checksum": half[:-8] + bytes(8) + rest,
    }


@pytest.mark.parametrize("kind", broken_archives())
def test_broken_tar_archive_raises_download_error(
    data: Path, mirror: Path, kind: str, assert_one_line: OneLine
) -> None:
    (mirror / ARCHIVE).write_bytes(broken := broken_archives()[kind])
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(broken))
    assert_one_line(caught.value, mirror / ARCHIVE, "cannot be unpacked", "fetch it again")
    assert names_in(data) == []


def test_tar_archive_lacking_a_listed_file_raises_download_error(
    data: Path, mirror: Path, assert_one_line: OneLine
) -> None:
    (mirror / ARCHIVE).write_bytes(archive := tar_gz({"inner/a.csv": b"a", "b.csv": b"at the wrong place"}))
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(archive))
    assert_one_line(caught.value, mirror / ARCHIVE, "lacks inner/b.csv", "toy 1.0")
    assert names_in(data) == []


def test_symlink_in_tar_archive_does_not_count_as_a_file(data: Path, mirror: Path, assert_one_line: OneLine) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name in FILES:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
            tar.addfile(link)
    (mirror / ARCHIVE).write_bytes(out.getvalue())
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(out.getvalue()))
    assert_one_line(caught.value, "lacks inner/a.csv")


def test_tar_extraction_is_limited_to_listed_files(data: Path, mirror: Path, tmp_path: Path) -> None:
    """Members outside of the folder are ignored; names may begin with ``./``, as ``tar .`` writes them."""
    files = {"../../evil": b"!", str(tmp_path / "evil"): b"!", "inner/README": b"!"}
    files |= {f"./{name}": content for name, content in FILES.items()}
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(files))
    assert content_of(obtain(str(data), source_of(archive))) == FILES
    assert list(tmp_path.rglob("evil")) == []


# --- the data folder -------------------------------------------------------------------------------------------------


def test_data_folder_that_cannot_be_created_raises_download_error(
    tmp_path: Path, mirror: Path, assert_one_line: OneLine
) -> None:
    (file := tmp_path / "file").write_text("not a folder")
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    with pytest.raises(DownloadError) as caught:
        obtain(str(file / "data"), source_of(archive))
    assert_one_line(caught.value, file / "data", "--datapath")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for root")
def test_read_only_data_folder_raises_download_error(data: Path, mirror: Path, assert_one_line: OneLine) -> None:
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    data.mkdir(mode=0o555)
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(archive))
    assert_one_line(caught.value, data, "--datapath")


def test_unreadable_data_folder_raises_download_error(data: Path, mirror: Path, assert_one_line: OneLine) -> None:
    """A name that is too long stands for any reason, such as a folder that another user has built for themselves."""
    data.mkdir()
    home = 300 * "h"
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), replace(without_archive(), home=home))
    assert_one_line(caught.value, data / home, "cannot be read (File name too long): make it readable", "--datapath")


def test_full_disk_raises_download_error_and_leaves_no_files(
    data: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(DownloadError) as caught:
        obtain(str(data), source_of(archive))
    assert_one_line(caught.value, f"{data} (No space left on device): make room, or name a writable folder with")
    assert names_in(data) == []


def test_built_folder_has_default_permissions(data: Path, mirror: Path, tmp_path: Path) -> None:
    """Temporary folders are private, but data that are moved out of them must be readable for other users."""
    (mirror / ARCHIVE).write_bytes(archive := tar_gz(FILES))
    home = obtain(str(data), source_of(archive))
    (plain := tmp_path / "plain").mkdir()
    assert home.stat().st_mode == plain.stat().st_mode


# --- interruptions ---------------------------------------------------------------------------------------------------


def test_keyboard_interrupt_leaves_no_files(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pressed while the builder waits for its second try."""

    def press(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", press)
    server.answers["/toy/a.csv"] = [sends(b"a")]
    server.answers["/toy/b.csv"] = [sends(b"b", missing=1)]
    with pytest.raises(KeyboardInterrupt):
        obtain(str(data), without_archive())
    assert names_in(data) == []


def build_elsewhere(data: Path) -> subprocess.Popen[str]:
    """Start the build in a process of its own."""
    code = (
        "import sys; from parlai_empathy.task_kit.builder import Source, obtain; "
        f"obtain(sys.argv[1], Source('toy', '1.0', None, {tuple(FILES)!r}))"
    )
    return start([sys.executable, "-c", code, data], REPOSITORY, EMPATHY_MIRROR=os.environ["EMPATHY_MIRROR"])


def test_killed_build_leaves_no_partial_data_set(data: Path, server: Server) -> None:
    reached, over = threading.Event(), threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        reached.set()
        over.wait(PATIENCE)

    server.holds_loose_files()
    server.answers["/toy/b.csv"][:0] = [hang]
    process = build_elsewhere(data)
    try:
        assert reached.wait(PATIENCE)
    finally:
        process.kill()
        process.communicate()
        over.set()
    assert not (data / "toy").exists()
    assert len(names_in(data)) == 1  # the partial download
    assert content_of(obtain(str(data), without_archive())) == FILES
    assert names_in(data) == ["toy"]


# --- concurrent builds ------------------------------------------------------------------------------------------------


def all_at_once(server: Server, number: int) -> None:
    """Hold back all answers for the last file until ``number`` builders have requested it."""
    barrier = threading.Barrier(number, timeout=PATIENCE)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        barrier.wait()
        sends(FILES["inner/b.csv"])(handler)

    server.holds_loose_files()
    server.answers["/toy/b.csv"] = [answer]


def test_concurrent_builds_by_threads(data: Path, server: Server) -> None:
    all_at_once(server, 6)
    with ThreadPoolExecutor(6) as pool:
        homes = list(pool.map(lambda _: obtain(str(data), without_archive()), range(6)))
    assert set(homes) == {data / "toy"}
    assert content_of(data / "toy") == FILES
    assert names_in(data) == ["toy"]


@pytest.mark.parametrize("_", range(5))
def test_concurrent_threads_set_old_version_aside_once(data: Path, server: Server, _: int) -> None:
    (old := data / "toy").mkdir(parents=True)
    (old / "mine.txt").write_text("precious")
    all_at_once(server, 6)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: obtain(str(data), without_archive()), range(6)))
    assert content_of(data / "toy") == FILES
    assert len(list(data.glob("toy.unfinished-*/mine.txt"))) == 1  # the old files are kept
    assert [name for name in names_in(data) if name.startswith(".")] == []


def test_build_deleted_during_the_check_is_rebuilt(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    all_at_once(server, 1)
    built, looks = build_data.built, list[object]()

    def gone_at_first(*args: object, **kwargs: object) -> object:
        looks.append(args)
        if len(looks) == 1:
            raise FileNotFoundError
        return built(*args, **kwargs)

    monkeypatch.setattr(build_data, "built", gone_at_first)
    obtain(str(data), without_archive())
    assert content_of(data / "toy") == FILES


def test_concurrent_builds_by_processes(data: Path, server: Server) -> None:
    all_at_once(server, 2)
    processes = [build_elsewhere(data) for _ in range(2)]
    complaints = [process.communicate(timeout=PATIENCE)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], complaints
    assert content_of(data / "toy") == FILES
    assert names_in(data) == ["toy"]


# --- small parts -----------------------------------------------------------------------------------------------------


def test_on_mirror_describes_the_required_files() -> None:
    assert source_of(b"").file_names == ["a.csv", "b.csv"]
    assert source_of(b"").on_mirror == "toy/toy.tar.gz or toy/{a.csv,b.csv}"
    assert without_archive().on_mirror == "toy/{a.csv,b.csv}"


@pytest.mark.parametrize("files", [("a/x.txt", "b/x.txt"), ("model", "model.encoder/config.json")])
def test_files_of_several_folders_keep_them_on_mirror(files: tuple[str, ...]) -> None:
    source = replace(without_archive(), files=files)
    assert source.file_names == list(files)
    assert source.on_mirror == f"toy/{{{','.join(files)}}}"


def test_sha256_of_all_is_the_hash_of_sha256sum_output(tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    printed = subprocess.run(["sha256sum", *FILES], cwd=tmp_path, capture_output=True, check=True).stdout
    assert sha256_of_all(tmp_path, tuple(FILES)) == hashlib.sha256(printed).hexdigest()
    assert sha256_of_all(tmp_path, ["inner/a.csv"]) == sha256_of(tmp_path / "inner/a.csv")


def test_sha256_matches_fips_180_2_example(tmp_path: Path) -> None:
    (file := tmp_path / "abc").write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    assert sha256_of(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_sha256_of_file_longer_than_one_block(tmp_path: Path) -> None:
    (file := tmp_path / "long").write_bytes(b"abcdefg" * 200_000)  # 1.4 MB, read 1 MB at a time
    assert sha256_of(file) == hashlib.sha256(b"abcdefg" * 200_000).hexdigest()
