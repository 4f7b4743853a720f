"""Training speed of the paper's Transformer: ``empathy:retrieval`` against ParlAI's ``transformer/biencoder``.

    python benchmarks/retrieval_training.py [--edition sample] [--layers 4] [--batch 512] [--steps 1] [--gpu]

Both have the same sizes and initial weights, and no dropout; the negatives of an example are the other replies of its
batch; the optimiser is Adamax. A step includes everything: reading a batch of texts, tokenizing, updating the weights.
The loss of the first step must be equal. ParlAI computes in float32, its default; ours in float32 and in the precision
of ``--precision auto``.
"""

from __future__ import annotations

import tempfile
from typing import Any

from parlai.core.opt import Opt
from parlai.core.worlds import World, create_task
from parlais_biencoder import same_biencoder
from small_model import TASK, add_gpu, parser_of, untrained
from timing import compare

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent


def main() -> None:
    """Measure, and print examples per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--layers", type=int, default=4, help="layers of each tower")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--steps", type=int, default=1, help="training steps of each variant per round")
    add_gpu(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for precision in ("float32", "auto"):
            options = {"n_layers": arguments.layers, "dropout": 0.0, "score": "dot", "precision": precision}
            options["no_cuda"] = not arguments.gpu
            _measure(untrained(folder, arguments.edition, **options), arguments.batch, arguments.steps)


def _measure(ours: RetrievalAgent, batch: int, count: int) -> None:
    learning = ("--optimizer", "adamax", "--learningrate", str(ours.opt["learningrate"]), "--candidates", "batch")
    theirs = same_biencoder(ours, "--datatype", "train", *learning)
    their_world, our_world = (_world(ours.opt, agent, batch) for agent in (theirs, ours))
    expected, found = (_loss(world) for world in (their_world, our_world))
    tolerance = 1e-3 if ours.opt["precision"] == "float32" else 1e-2
    assert abs(expected - found) <= tolerance * expected, f"the losses differ: {expected} and {found}"
    steps = range(count)
    result = compare(lambda: [their_world.parley() for _ in steps], lambda: [our_world.parley() for _ in steps])
    print(result.line(f"training, {ours.opt['precision']}", batch * count, "examples"))


def _world(opt: Opt, agent: Any, batch: int) -> World:
    return create_task(Opt({**opt, "task": TASK, "datatype": "train:ordered", "batchsize": batch}), agent)


def _loss(world: World) -> float:
    """Run one training step and return its loss."""
    world.parley()
    return float(world.report()["mean_loss"])


if __name__ == "__main__":
    main()
