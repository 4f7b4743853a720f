"""A rating site in a separate process, which tests can kill and restart.

Run as a program, it prints its address and serves: ``python rating_site_server.py STUDY STORE PORT``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

TOKEN = "a token for the tests"


class SiteServer:
    """A server, which keeps its port when it is restarted.

    :param study: a study's file.
    :param store: a file, or a URL.
    """

    def __init__(self, study: Path | str, store: Path | str) -> None:
        self._arguments = [str(study), str(store)]
        self._port = 0
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, *self._arguments, str(self._port)],
            env={**os.environ, "EMPATHY_ADMIN_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the server has not started"
        self._port = int(self.url.rstrip("/").rsplit(":", 1)[1])

    def kill(self) -> None:
        """Kill the process, as in a power cut."""
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=20)


def _serve() -> None:
    from parlai_empathy.rating.desk.desk import Desk
    from parlai_empathy.rating.site.admin_access import admin_token
    from parlai_empathy.rating.site.pages import rating_site
    from parlai_empathy.rating.storage.store import open_store
    from parlai_empathy.rating.study.study_file import read_study
    from parlai_empathy.rating.web.limits import Limits, Rate
    from parlai_empathy.rating.web.secret import site_secret
    from parlai_empathy.rating.web.serving import Address, serve

    study, store, port = sys.argv[1:]
    site = rating_site(
        Desk(open_store(store), read_study(study)),
        site_secret(store),
        admin_token(),
        Limits(visits=Rate(60_000, 1000)),  # tests are faster than people
    )
    serve(site.app(), Address(port=int(port)), lambda url: print(url, flush=True))


if __name__ == "__main__":
    _serve()
