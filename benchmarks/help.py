"""How much longer ``parlai --help``, which imports every script, takes with this package than without it.

    python benchmarks/help.py [--rounds 40]

CPU time is measured, not wall-clock time. Nearly all of a full start goes into importing torch and ParlAI's other
libraries. That time is the same with and without this package, and varies more from start to start than the difference
to be measured. So these libraries are imported once, in the process from which each start is forked; each start imports
ParlAI, this package, and any library that only this package imports. The two variants alternate, each going first in
every other round. The seconds without this package are those of one full start.

Other load on the machine can only make a start slower. So each variant is represented by the lower quartile of its
starts, which disturbed starts do not affect; the difference is printed with its 95 % bootstrap interval over starts.

No ``.pth`` file is used: the variant with this package calls the hook that ours would call. The other one only gets a
module ``pkg_resources``, without which ParlAI does not start with a current setuptools.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import random
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

_WITH = "from parlai_empathy import hook; hook.install()"
_WITHOUT = """
import importlib.resources, types
lent = sys.modules["pkg_resources"] = types.ModuleType("pkg_resources")
lent.resource_filename = lambda package, name: str(importlib.resources.files(package) / name)
lent.resource_exists = lambda package, name: (importlib.resources.files(package) / name).is_file()
"""
_RESAMPLES = 2000


def main() -> None:
    """Measure, and print the difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    _forget_the_hook()
    sys.dont_write_bytecode = False
    whole, _, modules = _start(_WITHOUT)
    _import_libraries(modules)
    # Check both variants; this also compiles all modules to bytecode, as installing does.
    assert "empathy_demo" in _start(_WITH)[1]
    assert "empathy_demo" not in _start(_WITHOUT)[1]
    times: dict[str, list[float]] = {_WITHOUT: [], _WITH: []}
    for number in range(rounds):
        for plug_in in (_WITHOUT, _WITH) if number % 2 else (_WITH, _WITHOUT):
            times[plug_in].append(_start(plug_in)[0])
    low, high = _interval(times[_WITH], times[_WITHOUT])
    print(
        f"parlai --help: {_difference(times[_WITH], times[_WITHOUT]):+.0f} ms ({low:+.0f} to {high:+.0f}) "
        f"with this package, {whole:.2f} s without"
    )


def _forget_the_hook() -> None:
    """Undo the effects of a ``.pth`` file on this process, and import the package from this checkout."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "parlai_empathy.hook"]
    for name in [name for name in sys.modules if name.split(".")[0] == "parlai_empathy"]:
        del sys.modules[name]
    sys.path.insert(0, str(Path(__file__).parents[1]))


def _import_libraries(names: Sequence[str]) -> None:
    """Import those of a start's modules that are not ParlAI's, and exempt them from garbage collection in children."""
    for name in names:
        if name.split(".")[0] not in ("parlai", "projects", "pkg_resources", "__main__"):
            with contextlib.suppress(ImportError):  # some libraries create modules dynamically
                importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a full start collects everything six times, with and without this package


def _start(plug_in: str) -> tuple[float, str, list[str]]:
    """Run one start in a child process.

    :param plug_in: code to run before ParlAI is imported.
    :returns: CPU seconds; the output; the names of the modules that were imported in the end.
    """
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            _help(plug_in)
        _, status, used = os.wait4(child, 0)
        output.seek(0)
        text, _, modules = output.read().decode().strip().rpartition("\n")
        assert status == 0, "a start failed"
    return used.ru_utime + used.ru_stime, text, modules.split()


def _help(plug_in: str) -> None:
    """Run ``parlai --help`` in a child process; never returns."""
    code: object = "not finished"
    try:
        exec(plug_in, {"sys": sys})
        sys.argv = ["parlai", "--help"]
        importlib.import_module("parlai.__main__").main()
    except SystemExit as end:  # raised after the help is printed
        print("\n", *sys.modules, flush=True)
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1 if code else 0)


def _difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the difference of the lower quartiles, in milliseconds."""
    import statistics  # not at the top: the package imports it too, and that must be measured

    return 1000 * (statistics.quantiles(ours)[0] - statistics.quantiles(theirs)[0])


def _interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the difference, from resampling the starts of each variant."""
    import statistics

    draw = random.Random(0)
    found = [
        _difference(draw.choices(ours, k=len(ours)), draw.choices(theirs, k=len(theirs))) for _ in range(_RESAMPLES)
    ]
    cuts = statistics.quantiles(found, n=40)
    return cuts[0], cuts[-1]


if __name__ == "__main__":
    main()
