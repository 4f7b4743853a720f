"""How fast the paper's Transformer is trained: ``empathy:retrieval`` against ParlAI's ``transformer/biencoder``.

    python benchmarks/retrieval_training.py [--edition sample] [--layers 1] [--batch 512] [--steps 1]

Both have the same sizes and begin with the same weights, without dropout; each example is compared with the others of
its batch; the optimiser is Adamax. A step is all of it: reading a batch of texts, making token ids, learning. The loss
of the first step must be the same. The towers have one layer in place of the paper's four, to be done sooner.
"""

from __future__ import annotations

import tempfile
from typing import Any

from parlai.core.opt import Opt
from parlai.core.worlds import World, create_task
from parlais_biencoder import same_biencoder
from small_model import TASK, parser_of, untrained
from timing import compare


def main() -> None:
    """Measure, and print examples per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--layers", type=int, default=1, help="of each tower")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--steps", type=int, default=1, help="of each way in each round")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours = untrained(folder, arguments.edition, n_layers=arguments.layers, dropout=0.0, score="dot")
        learning = ("--optimizer", "adamax", "--learningrate", str(ours.opt["learningrate"]), "--candidates", "batch")
        theirs = same_biencoder(ours, "--datatype", "train", *learning)
        their_world, our_world = (_world(ours.opt, agent, arguments.batch) for agent in (theirs, ours))
        expected, found = (_loss(world) for world in (their_world, our_world))
        assert abs(expected - found) <= 1e-3 * expected, f"they learn otherwise: {expected} and {found}"
        steps = range(arguments.steps)
        result = compare(lambda: [their_world.parley() for _ in steps], lambda: [our_world.parley() for _ in steps])
    print(result.line(f"training, batch {arguments.batch}", arguments.batch * arguments.steps, "examples"))


def _world(opt: Opt, agent: Any, batch: int) -> World:
    return create_task(Opt({**opt, "task": TASK, "datatype": "train:ordered", "batchsize": batch}), agent)


def _loss(world: World) -> float:
    """The loss of one step."""
    world.parley()
    return float(world.report()["mean_loss"])


if __name__ == "__main__":
    main()
