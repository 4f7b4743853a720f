"""The end of a command that somebody stops with Ctrl-C."""

from __future__ import annotations

import signal
import sys


def stopped(advice: str = "") -> SystemExit:
    """Say that a command has stopped, and give what ends it: with the status that shells give to an end by Ctrl-C.

    :param advice: how it goes on, if it does.
    """
    print(f"\nStopped. {advice}".rstrip(), file=sys.stderr)
    return SystemExit(128 + signal.SIGINT)
