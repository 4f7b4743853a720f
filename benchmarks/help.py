"""How much longer ``parlai --help``, which imports every script, takes with this package than without it.

    python benchmarks/help.py [--rounds 40]

The processor's time is counted, and not the clock's. Of a whole start nearly all goes into torch and the other
libraries that ParlAI itself loads, the same both ways, and what varies there from start to start is more than is to be
measured. So these are imported once, into the process from which each start is forked; ParlAI, this package, and
whatever library this package alone might load are imported anew by each. The two ways take turns, each of them first
in every other round. The seconds without this package are those of one whole start.

What else runs can only add to a start's time. So each way counts with the lower quartile of its starts, on which the
disturbed ones have no say, and the difference of the two stands before its 95 % bootstrap interval over the starts.

No ``.pth`` file counts: the one way calls the hook that ours would call. The other is lent no more than the module
``pkg_resources``, without which ParlAI does not start beside a current setuptools.
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
    # Each must do what it is said to do; and then everything is compiled, as it is where it was installed.
    assert "empathy_demo" in _start(_WITH)[1]
    assert "empathy_demo" not in _start(_WITHOUT)[1]
    times: dict[str, list[float]] = {_WITHOUT: [], _WITH: []}
    for number in range(rounds):
        for plug_in in (_WITHOUT, _WITH) if number % 2 else (_WITH, _WITHOUT):
            times[plug_in].append(_start(plug_in)[0])
    low, high = _interval(times[_WITH], times[_WITHOUT])
    print(
        f"parlai --help {_difference(times[_WITH], times[_WITHOUT]):+.0f} ms ({low:+.0f} to {high:+.0f}) with, "
        f"beside {whole:.2f} s without"
    )


def _forget_the_hook() -> None:
    """Undo what a ``.pth`` file has done to this process, and find the package in this checkout."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "parlai_empathy.hook"]
    for name in [name for name in sys.modules if name.split(".")[0] == "parlai_empathy"]:
        del sys.modules[name]
    sys.path.insert(0, str(Path(__file__).parents[1]))


def _import_libraries(names: Sequence[str]) -> None:
    """Import those of a start's modules that are not ParlAI's own, and leave them to no child's garbage collection."""
    for name in names:
        if name.split(".")[0] not in ("parlai", "projects", "pkg_resources", "__main__"):
            with contextlib.suppress(ImportError):  # some libraries make up modules as they go
                importlib.import_module(name)
    gc.collect()
    gc.freeze()  # in whole starts everything is collected six times, with this package as without it


def _start(plug_in: str) -> tuple[float, str, list[str]]:
    """One start in a child process.

    :param plug_in: run before ParlAI is imported.
    :returns: for how many seconds the processor worked; what was printed; the modules that were there in the end.
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
    """What a child does: it never returns."""
    code: object = "it did not come to its end"
    try:
        exec(plug_in, {"sys": sys})
        sys.argv = ["parlai", "--help"]
        importlib.import_module("parlai.__main__").main()
    except SystemExit as end:  # so ends whoever prints a help
        print("\n", *sys.modules, flush=True)
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1 if code else 0)


def _difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Of the lower quartiles, in milliseconds."""
    import statistics  # not above: the package loads it too, which is to be counted

    return 1000 * (statistics.quantiles(ours)[0] - statistics.quantiles(theirs)[0])


def _interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Where 95 % of the differences lie if the starts of each way are drawn anew, with replacement."""
    import statistics

    draw = random.Random(0)
    found = [
        _difference(draw.choices(ours, k=len(ours)), draw.choices(theirs, k=len(theirs))) for _ in range(_RESAMPLES)
    ]
    cuts = statistics.quantiles(found, n=40)
    return cuts[0], cuts[-1]


if __name__ == "__main__":
    main()
