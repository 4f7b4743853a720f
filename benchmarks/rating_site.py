"""Load test of the rating site: many concurrent raters, with SQLite or with a real PostgreSQL server.

    python benchmarks/rating_site.py [--raters 200] [--seconds 60] [--pause 5] [--kill] [--postgresql]

Two processes share the machine: ``parlai rate_site`` with default settings, and the raters. All raters open the site
within five seconds, give their consent, and answer one item after another; they read each item for ``--pause`` seconds
on average, where people take ten to thirty. A request is timed from sending it to the last byte of the response. With
``--kill`` the server is killed (-9) after half the time and restarted with the same store, and the raters repeat the
requests that got no response.

At the end every answer that the server acknowledged must be in the store exactly once, and the store must have no
answer that the raters did not send. PostgreSQL is started in a temporary folder, with default settings.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.storage.store import open_store

_SYSTEMS = "ABC"
_CONTEXTS = 2000
_ARRIVALS = 5.0  # seconds within which all raters open the site
_PATIENCE = 60.0  # seconds until a rater gives up reaching the server


@dataclass
class Tally:
    """What the raters recorded.

    :param times: response times in seconds, by the kind of request.
    :param sent: the text of each answer that was sent, and whether the server acknowledged it.
    :param refused: number of unexpected responses, by HTTP status.
    :param broken: number of requests without a response, because the server was down.
    """

    times: dict[str, list[float]] = field(default_factory=dict)
    sent: dict[str, bool] = field(default_factory=dict)
    refused: Counter[int] = field(default_factory=Counter)
    broken: int = 0


def main() -> None:
    """Measure, check, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=5, help="mean seconds for which a rater reads an item")
    parser.add_argument("--kill", action="store_true", help="kill the server (-9) after half the time, and restart it")
    parser.add_argument("--postgresql", action="store_true", help="use PostgreSQL instead of SQLite")
    parser.add_argument("--raters-of", default="", help=argparse.SUPPRESS)  # the process of the raters
    arguments = parser.parse_args()
    if arguments.raters_of:
        asyncio.run(_rate(arguments))
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(_postgresql()) if arguments.postgresql else str(folder / "ratings.db")
        study = _study(folder)
        server = Server(study, store, folder)
        stack.callback(server.stop)
        begun = time.monotonic()
        report = _load(arguments, server)
        seconds = time.monotonic() - begun
        server.stop()
        _print(arguments, report, store)
        _print_cpu(report["cpu"], seconds)


class Server:
    """``parlai rate_site`` in a process that can be killed and restarted at the same address."""

    def __init__(self, study: Path, store: str, folder: Path) -> None:
        self._command = ["parlai", "rate_site", "--study", str(study), "--store", store]
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it prints its address."""
        environment = {**os.environ, "EMPATHY_SITE_SECRET": "0123456789abcdef" * 2, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [*self._command, "--port", str(self.port)],
            env=environment,
            cwd=self._folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        if not self._process.stdout.readline():
            sys.exit("the server has not started")

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Terminate the server gracefully."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()


def _load(arguments: argparse.Namespace, server: Server) -> dict[str, Any]:
    """Run the raters in another process; return what they recorded."""
    command = [sys.executable, __file__, "--raters-of", f"http://127.0.0.1:{server.port}"]
    for name in ("raters", "seconds", "pause"):
        command += [f"--{name}", str(getattr(arguments, name))]
    raters = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    if arguments.kill:
        time.sleep(arguments.seconds / 2)
        server.kill()
        server.start()
    out, _ = raters.communicate()
    report: dict[str, Any] = json.loads(out)
    return report


def _print(arguments: argparse.Namespace, report: dict[str, Any], store: str) -> None:
    opened = open_store(store)
    rows = list(rating_rows(opened, "load"))
    opened.close()
    stored = Counter(row["text"] for row in rows if row["question"] == "own_reply")
    acknowledged = {text for text, kept in report["sent"].items() if kept}
    lost, doubled = acknowledged - set(stored), sorted(text for text, count in stored.items() if count > 1)
    stray = set(stored) - set(report["sent"])
    where = "PostgreSQL" if arguments.postgresql else "SQLite"
    print(f"{where}: {arguments.raters} raters for {arguments.seconds:g} s, {arguments.pause:g} s an item")
    for kind, times in report["times"].items():
        ordered = sorted(times)
        p50, p95, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95, 0.99))
        print(
            f"   {kind:8} {len(times):7,}   median {1000 * p50:5.0f} ms   p95 {1000 * p95:5.0f} ms   "
            f"p99 {1000 * p99:5.0f} ms   longest {1000 * ordered[-1]:5.0f} ms"
        )
    print(
        f"   errors {sum(report['refused'].values())} {report['refused'] or ''}, without an answer {report['broken']}"
    )
    print(
        f"   acknowledged {len(acknowledged):,}, stored {sum(stored.values()):,}: "
        f"lost {len(lost)}, doubled {len(doubled)}, never sent {len(stray)}"
    )
    if lost or doubled or stray or report["refused"] or (report["broken"] and not arguments.kill):
        sys.exit("the site failed the test")


def _print_cpu(raters: float, seconds: float) -> None:
    """Print the CPU time of server and raters. PostgreSQL's processes, which are not our children, are not counted."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    server = ended.ru_utime + ended.ru_stime - raters
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()[:2])
    print(
        f"   of {seconds:.0f} s the server has used {server:.0f} s of a processor, its start among them, the raters "
        f"{raters:.0f} s; load averages of 1 and 5 minutes: {load}"
    )


def _study(folder: Path) -> Path:
    """Write a study like HUMOD's: each item has a rating, and a free text that identifies the answer in the store."""
    for name in _SYSTEMS:
        records = ({"context": [f"I saw heron {n}."], "reply": f"{name} is glad of {n}."} for n in range(_CONTEXTS))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    path = folder / "load.yaml"
    logs = "\n".join(f"  {name}: {name}.jsonl" for name in _SYSTEMS)
    path.write_text(f"extends: humod\nitems_per_rater: 1000\nratings_per_item: 30\nsystems:\n{logs}\n")
    return path


# --- the raters, in another process ----------------------------------------------------------------------------------


async def _rate(arguments: argparse.Namespace) -> None:
    tally = Tally()
    raters = [_Rater(number, arguments.raters_of, arguments.pause, tally) for number in range(arguments.raters)]
    begun, until = time.process_time(), time.monotonic() + arguments.seconds
    await asyncio.gather(*(rater.live(until) for rater in raters))
    print(json.dumps({**vars(tally), "refused": dict(tally.refused), "cpu": time.process_time() - begun}))


class _Rater:
    """A simulated rater, who answers item after item."""

    def __init__(self, number: int, url: str, pause: float, tally: Tally) -> None:
        import httpx

        self._number = number
        self._pause = pause
        self._tally = tally
        self._draw = random.Random(number)
        # verify=False: no certificates are needed, and loading them for every rater would take seconds in all.
        self._client = httpx.AsyncClient(base_url=url, timeout=_PATIENCE, verify=False)
        self._count = 0

    async def live(self, until: float) -> None:
        """Open the site within five seconds, give consent, and answer items until the time is up."""
        await asyncio.sleep(self._draw.uniform(0, _ARRIVALS))
        page = await self._ask("page", "GET", "/")
        page = await self._ask("form", "POST", "/consent", {"token": _hidden(page, "token"), "agree": "yes"})
        page = await self._ask("page", "GET", "/rate")
        while time.monotonic() < until and "/item/" in page:
            await asyncio.sleep(self._draw.uniform(0.5, 1.5) * self._pause)
            page = await self._answer(page)
        await self._client.aclose()

    async def _answer(self, page: str) -> str:
        """Answer the item on a page; return the next page."""
        found = re.search(r'action="(/item/[0-9a-f]+)"', page)
        assert found, page
        self._count += 1
        text = f"answer {self._count} of {self._number}"
        fields = {name: _hidden(page, name) for name in ("token", "shown")}
        self._tally.sent[text] = False
        following = await self._ask(
            "form", "POST", found[1], {**fields, "q-relevance": str(self._draw.randint(1, 5)), "q-own_reply": text}
        )
        self._tally.sent[text] = True
        return following

    async def _ask(self, kind: str, method: str, address: str, fields: dict[str, str] | None = None) -> str:
        """Send a request and follow its redirect; retry while the server is down."""
        import httpx

        until = time.monotonic() + _PATIENCE
        while True:
            begun = time.perf_counter()
            try:
                response = await self._client.request(method, address, data=fields)
            except httpx.HTTPError:
                self._tally.broken += 1
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.5)
                continue
            self._tally.times.setdefault(kind, []).append(time.perf_counter() - begun)
            if response.is_redirect:
                return await self._ask("page", "GET", response.headers["location"])
            if response.status_code != 200:
                self._tally.refused[response.status_code] += 1
                await asyncio.sleep(1)
                return await self._ask("page", "GET", "/rate")
            return response.text


def _hidden(page: str, name: str) -> str:
    found = re.search(f'name="{name}" value="([^"]*)"', page)
    return found[1] if found else ""


@contextmanager
def _postgresql() -> Iterator[str]:
    """Run a PostgreSQL server in a temporary folder, with durable commits; yield the URL of a database."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
    from postgres_server import UNPRIVILEGED, PostgresServer

    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, UNPRIVILEGED)
        server = PostgresServer(folder)
        server.run("initdb", "-D", "data", "-U", "tester", "--auth=trust", "-E", "UTF8")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        server.run("pg_ctl", "-D", "data", "-w", "-l", "server.log", "-o", options, "start")
        try:
            yield server.new_database()
        finally:
            server.run("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")


if __name__ == "__main__":
    main()
