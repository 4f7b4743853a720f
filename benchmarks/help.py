"""How much longer ``parlai --help``, which imports every script, takes with this package than without it.

    python benchmarks/help.py [--rounds 11]

The processor's time is counted, which depends less than the clock on what else runs. Each start is of a Python of its
own, in turns. No ``.pth`` file is read; the one calls the hook that ours would call. The other only lends ParlAI the
module ``pkg_resources``, without which it does not start beside a current setuptools.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path

_START = """
import sys
sys.path[:0] = {paths!r}
{plug_in}
sys.argv = ["parlai", "--help"]
from parlai.__main__ import main
main()
"""
_WITH = "from parlai_empathy import hook; hook.install()"
_WITHOUT = "from parlai_empathy import repairs; repairs.lend_pkg_resources()"


def main() -> None:
    """Measure, and print seconds and their difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    assert "empathy_demo" in _help(_WITH)
    assert "empathy_demo" not in _help(_WITHOUT)
    times = [(_processor_seconds(_WITHOUT), _processor_seconds(_WITH)) for _ in range(rounds)]
    without, with_ours = (statistics.median(column) for column in zip(*times, strict=True))
    more = sorted(1000 * (ours - theirs) for theirs, ours in times)
    print(
        f"parlai --help {without:.2f} s without, {with_ours:.2f} s with: "
        f"{statistics.median(more):+.0f} ms ({more[0]:+.0f} to {more[-1]:+.0f})"
    )


def _processor_seconds(plug_in: str) -> float:
    """How long the processor works for one start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _help(plug_in)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _help(plug_in: str) -> str:
    paths = [str(Path(__file__).parents[1]), sysconfig.get_path("purelib")]
    code = _START.format(paths=paths, plug_in=plug_in)
    return subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
