"""Freed memory is kept and reused."""

from __future__ import annotations

import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
from parlai_empathy.memory import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for size in range(1, 31):
    bytearray(b"x") * (size * 2**20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(what: str) -> int:
    """Return the number of page faults of a process that allocates and frees 1 MB, then 2, and so on up to 30."""
    run = subprocess.run([sys.executable, "-c", _FAULTS, what], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="what it does is known of Linux's C library")
def test_keep_freed_memory_limits_page_faults() -> None:
    assert faults("keep") <= 40 * 2**20 // 4096  # pages of the largest block; all blocks together would be 465 MB
