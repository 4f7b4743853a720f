"""Printing into a pipe whose reader may close it early, as ``head`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pipe_may_close() -> Iterator[None]:
    """End the block silently if the reader of standard output has gone, and discard what is printed later."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python's final flush would fail too
