"""Speed of loading and serving EmpatheticDialogues' training set: our teacher against ParlAI's own.

    python benchmarks/ed_loading.py

Each teacher is created, and serves one epoch to ``repeat_label``, an agent that only returns the label, so that little
but the teacher's work is timed. Both serve the replies of both roles, some 64,630 examples, and must serve the same
replies to the same utterances; ours adds the turns before them.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from collections.abc import Callable

import parlai.utils.logging as logging
from parlai.agents.repeat_label.repeat_label import RepeatLabelAgent
from parlai.core.params import ParlaiParser
from parlai.core.worlds import World, create_task
from timing import compare, seconds

THEIRS, OURS = "empathetic_dialogues", "empathy:empathetic_dialogues:BothRoles"


def main() -> None:
    """Measure, and print examples per second, their ratio, and the seconds to load each teacher."""
    logging.logger.setLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        make = {task: _maker(task, folder) for task in (THEIRS, OURS)}
        started = [statistics.median(seconds(make[task]) for _ in range(3)) for task in (THEIRS, OURS)]
        expected, served = (_served(make[task]()) for task in (THEIRS, OURS))
        assert expected == served, "the examples differ"
        found = compare(lambda: _serve(make[THEIRS]()), lambda: _serve(make[OURS]()))
        print(found.line("ED loaded and served", expected.total(), "examples"))
        print(f"loaded: {started[0]:.2f} s, ours {started[1]:.2f} s")


def _maker(task: str, folder: str) -> Callable[[], World]:
    opt = ParlaiParser(True, True).parse_args(["-t", task, "-dt", "train:ordered", "-dp", folder])
    return lambda: create_task(opt, RepeatLabelAgent(opt))


def _serve(world: World) -> None:
    while not world.epoch_done():
        world.parley()


def _served(world: World) -> Counter[tuple[str, str]]:
    """Return the utterances and the replies to them; without empty replies, which ours leaves out."""
    found: Counter[tuple[str, str]] = Counter()
    while not world.epoch_done():
        world.parley()
        message = world.get_acts()[0]
        found[message["text"].split("\n")[-1], message["labels"][0]] += 1
    return Counter({pair: count for pair, count in found.items() if pair[1].strip()})


if __name__ == "__main__":
    main()
