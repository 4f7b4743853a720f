"""Serving with uvicorn."""

from __future__ import annotations

import http.client
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.web.serving import Address, check_address, serve, without_query

PROGRAM = """
import sys
from parlai_empathy.rating.web.serving import Address, serve

async def app(scope, receive, send):
    if scope["type"] == "http":
        text = f"{scope['client'][0]} {scope['scheme']}".encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(text))]})
        await send({"type": "http.response.body", "body": text})

proxies = sys.argv[1:]
serve(app, Address(port=0, proxies=proxies, log_requests=True), lambda url: print(url, flush=True))
print("stopped")
"""


def asked(url: str, path: str, headers: dict[str, str]) -> tuple[str, str]:
    """Return the body of a response and its ``Server`` header."""
    connection = http.client.HTTPConnection(url.removeprefix("http://").rstrip("/"), timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    return response.read().decode(), response.headers.get("server", "")


@pytest.mark.parametrize(("proxies", "expected"), [((), "127.0.0.1 http"), (("127.0.0.1",), "198.51.100.9 https")])
def test_proxy_headers_are_trusted_only_from_named_proxies(
    tmp_path: Path, proxies: tuple[str, ...], expected: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, str(program), *proxies],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FORWARDED_ALLOW_IPS": "*"},  # uvicorn's own variable must not override ours
    )
    assert process.stdout
    url = process.stdout.readline().strip()
    headers = {"X-Forwarded-For": "198.51.100.9", "X-Forwarded-Proto": "https"}
    said, name = asked(url, "/item/1?PROLIFIC_PID=5f00aa", headers)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert (said, name) == (expected, "")
    assert "5f00aa" not in out + err
    assert "198.51.100.9" not in out + err
    assert '- - "GET /item/1 HTTP/1.1" 200' in out + err


def _half_sent(url: str, connections: int) -> list[socket.socket]:
    host, port = url.removeprefix("http://").rstrip("/").split(":")
    found = [socket.create_connection((host, int(port)), timeout=10) for _ in range(connections)]
    for one in found:
        one.sendall(b"GET / HTTP/1.1\r\n")
    return found


@pytest.fixture
def serve_with_files(tmp_path: Path) -> Iterator[Callable[[int, int], tuple[str, Path]]]:
    """Serve in a process that may have so many files open, and so many at most; return the URL and the log."""
    started: list[subprocess.Popen[str]] = []

    def run(soft: int, hard: int) -> tuple[str, Path]:
        limits = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))"
        (tmp_path / "program.py").write_text(f"{limits}\n{PROGRAM}")
        with (tmp_path / "log").open("w") as log:
            command = [sys.executable, str(tmp_path / "program.py")]
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True))
        assert started[-1].stdout
        return started[-1].stdout.readline().strip(), tmp_path / "log"

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_half_sent_requests_do_not_use_up_the_files(serve_with_files: Callable[[int, int], tuple[str, Path]]) -> None:
    url, _ = serve_with_files(64, 256)
    with ExitStack() as stack:
        for one in _half_sent(url, 100):
            stack.enter_context(one)
        assert asked(url, "/", {})[0] == "127.0.0.1 http"


def test_log_stays_short_when_there_are_no_files_left(
    serve_with_files: Callable[[int, int], tuple[str, Path]],
) -> None:
    url, log = serve_with_files(64, 64)
    with ExitStack() as stack:
        for one in _half_sent(url, 100):
            stack.enter_context(one)
        for _ in range(200):
            if "out of system resource" in log.read_text():
                break
            time.sleep(0.05)
        time.sleep(0.5)
        assert 0 < log.read_text().count("out of system resource") < 100


def test_port_in_use_raises_option_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OptionError, match=f"--host 127.0.0.1 --port {port} cannot be used .*: choose another one"):
            serve(None, Address(port=port))


@pytest.mark.parametrize("address", [Address(host="192.0.2.300"), Address(port=70000), Address(port=-1)])
def test_invalid_address_raises_one_line_option_error(address: Address) -> None:
    with pytest.raises(OptionError, match=r"cannot be used|from 0 to 65535") as caught:
        serve(None, address)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["caddy", "10.0.0.1,10.0.0.2", "10.0.0.1/8", "http://127.0.0.1", "*"])
def test_proxies_that_could_never_be_trusted_raise_option_error(proxy: str) -> None:
    with pytest.raises(OptionError, match=f"--proxies {re.escape(proxy)}: expected an IP address"):
        serve(None, Address(port=0, proxies=("127.0.0.1", "10.0.0.0/8", "::1", proxy)))


def test_address_is_checked_and_left_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(OptionError, match=f"--port {port} cannot be used"):
            check_address(Address(port=port))
    check_address(Address(port=port))
    with socket.create_server(("127.0.0.1", port)):
        pass
    with pytest.raises(OptionError, match="--proxies caddy: expected an IP address"):
        check_address(Address(port=0, proxies=("caddy",)))


def test_access_log_omits_query_and_client() -> None:
    args = ("192.0.2.1:5000", "GET", "/?PROLIFIC_PID=1", "1.1", 200)
    record = logging.LogRecord("uvicorn.access", logging.INFO, "", 1, '%s - "%s %s HTTP/%s" %d', args, None)
    assert without_query(record)
    assert record.getMessage() == '- - "GET / HTTP/1.1" 200'
    other = logging.LogRecord("uvicorn.access", logging.INFO, "", 1, "hello %s", ("you",), None)
    assert without_query(other)
    assert other.getMessage() == "hello you"
