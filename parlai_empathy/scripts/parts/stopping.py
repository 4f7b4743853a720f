"""Exit of a command that is stopped with Ctrl-C."""

from __future__ import annotations

import signal
import sys


def stopped(advice: str = "") -> SystemExit:
    """Print that the command has stopped; return the ``SystemExit`` to raise, with the shells' status for Ctrl-C.

    :param advice: how to resume, if that is possible.
    """
    print(f"\nStopped. {advice}".rstrip(), file=sys.stderr)
    return SystemExit(128 + signal.SIGINT)
