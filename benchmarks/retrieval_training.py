"""Training speed of the paper's Transformer: ``empathy:retrieval`` against ParlAI's ``transformer/biencoder``.

    python benchmarks/retrieval_training.py [--edition sample] [--layers 4] [--batch 512] [--steps 1] [--gpu]
        [--workers 0]

Both have the same sizes and initial weights, and no dropout; the negatives of an example are the other replies of its
batch; the optimiser is Adamax. A step includes everything: reading a batch of texts, tokenizing, updating the weights.
The loss of the first step must be equal. ParlAI computes in float32, its default; ours in float32 and in the precision
of ``--precision auto``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

from parlai.core.worlds import World
from parlais_biencoder import same_biencoder
from small_model import add_gpu, add_workers, parser_of, steps, training_world, untrained
from timing import compare_each

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent


def main() -> None:
    """Measure, and print examples per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--layers", type=int, default=4, help="layers of each tower")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--steps", type=int, default=1, help="training steps of each variant per round")
    add_gpu(parser)
    add_workers(parser)
    arguments = parser.parse_args()
    options = {"n_layers": arguments.layers, "dropout": 0.0, "score": "dot", "no_cuda": not arguments.gpu}
    with tempfile.TemporaryDirectory() as folder:
        ours = [untrained(folder, arguments.edition, **options, precision=name) for name in ("float32", "auto")]
        _measure(ours, arguments.batch, arguments.steps, arguments.workers)


def _measure(ours: Sequence[RetrievalAgent], batch: int, count: int, workers: int) -> None:
    learning = ("--optimizer", "adamax", "--learningrate", str(ours[0].opt["learningrate"]), "--candidates", "batch")
    theirs = same_biencoder(ours[0], "--datatype", "train", *learning)
    their_world, *our_worlds = (training_world(agent, ours[0], batch) for agent in (theirs, *ours))
    expected = _loss(their_world)
    for agent, world in zip(ours, our_worlds, strict=True):
        tolerance = 1e-3 if agent.opt["precision"] == "float32" else 1e-2
        assert abs(expected - (found := _loss(world))) <= tolerance * expected, f"losses differ: {expected}, {found}"
    if workers:
        our_worlds = [training_world(agent, ours[0], batch, workers) for agent in ours]
        for world in our_worlds:
            steps(world, 2)()  # until the workers have started
    results = compare_each(steps(their_world, count), [steps(world, count) for world in our_worlds])
    for agent, result in zip(ours, results, strict=True):
        print(result.line(f"training, {agent.opt['precision']}", batch * count, "examples"))
    for world in our_worlds:
        world.shutdown()


def _loss(world: World) -> float:
    """Run one training step and return its loss."""
    world.parley()
    return float(world.report()["mean_loss"])


if __name__ == "__main__":
    main()
