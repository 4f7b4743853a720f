"""Speed of loading and serving EmpatheticDialogues' training set: our teacher against ParlAI's own.

    python benchmarks/ed_loading.py

Each teacher is created, and serves one epoch to ``repeat_label``, an agent that only returns the label, so that little
but the teacher's work is timed. Both serve the replies of both roles, some 64,630 examples; ours with the four turns
before each reply.
"""

from __future__ import annotations

import statistics
import tempfile
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
        reports: dict[str, dict[str, float]] = {}

        def serve(task: str) -> None:
            reports[task] = _serve(make[task]())

        found = compare(lambda: serve(THEIRS), lambda: serve(OURS))
        assert reports[THEIRS]["accuracy"] == reports[OURS]["accuracy"] == 1
        count = reports[THEIRS]["exs"]
        assert abs(count - reports[OURS]["exs"]) <= 10, "the examples differ"  # ours leaves out empty replies
        print(found.line("ED loaded and served", count, "examples"))
        print(f"loaded: {started[0]:.2f} s, ours {started[1]:.2f} s")


def _maker(task: str, folder: str) -> Callable[[], World]:
    opt = ParlaiParser(True, True).parse_args(["-t", task, "-dt", "train:ordered", "-dp", folder])
    return lambda: create_task(opt, RepeatLabelAgent(opt))


def _serve(world: World) -> dict[str, float]:
    while not world.epoch_done():
        world.parley()
    return {name: float(value) for name, value in world.report().items()}


if __name__ == "__main__":
    main()
