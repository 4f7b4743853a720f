"""Training speed of the paper's generator: ``empathy:generative`` against ParlAI's ``transformer/generator``.

    python benchmarks/generative_training.py [--edition sample] [--layers 2] [--batch 32] [--steps 2] [--gpu]
        [--workers 0]

Both have the same sizes, dictionary and initial weights, and no dropout; the optimiser is AdamW with gradient clipping.
A step includes everything: reading a batch of texts, tokenizing, updating the weights. The loss of the first step must
be equal, and without workers that of the last one nearly equal. Rates count the tokens of contexts and replies, without
padding. ParlAI computes in float32, its default; ours in float32 and in the precision of ``--precision auto``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

from parlai.agents.transformer.transformer import TransformerGeneratorAgent
from parlai.core.params import ParlaiParser
from parlai.core.worlds import World
from small_model import add_gpu, add_workers, parser_of, steps, training_world, untrained
from timing import ROUNDS, Comparison, seconds

from parlai_empathy.agents.generative.generative import GenerativeAgent


def main() -> None:
    """Measure, and print tokens per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--layers", type=int, default=2, help="layers of the encoder, and of the decoder")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=2, help="training steps of each variant per round")
    add_gpu(parser)
    add_workers(parser)
    arguments = parser.parse_args()
    options = {"n_layers": arguments.layers, "dropout": 0.0, "no_cuda": not arguments.gpu}
    with tempfile.TemporaryDirectory() as folder:
        ours = [
            untrained(folder, arguments.edition, "empathy:generative", **options, precision=name)
            for name in ("float32", "auto")
        ]
        _measure(ours, arguments.batch, arguments.steps, arguments.workers)


def same_generator(agent: GenerativeAgent, **options: Any) -> TransformerGeneratorAgent:
    """Return ParlAI's agent with the weights, the dictionary and the options of ``agent``.

    :param options: options to override.
    """
    parser = ParlaiParser(True, True)
    TransformerGeneratorAgent.add_cmdline_args(parser, None)
    opt = parser.parse_args([])
    opt.update({name: agent.opt[name] for name in opt if name in agent.opt and name not in ("model", "model_file")})
    opt.update(options)
    theirs = TransformerGeneratorAgent(opt)
    theirs.model.load_state_dict(agent.model.state_dict())
    return theirs


def _measure(ours: Sequence[GenerativeAgent], batch: int, count: int, workers: int) -> None:
    theirs = same_generator(ours[0], datatype="train")
    their_world, *our_worlds = (training_world(agent, ours[0], batch) for agent in (theirs, *ours))
    _check(their_world, our_worlds, 1e-4, 1e-2)
    if workers:
        our_worlds = [training_world(agent, ours[0], batch, workers) for agent in ours]
        for world in our_worlds:
            steps(world, 2)()  # until the workers have started
    rounds = [[_seconds_per_token(world, count) for world in (their_world, *our_worlds)] for _ in range(ROUNDS)]
    if not workers:  # all have seen the same
        _check(their_world, our_worlds, 1e-3, 1e-1)
    expected, *found = (list(each) for each in zip(*rounds, strict=True))
    for agent, times in zip(ours, found, strict=True):
        print(Comparison(expected, times).line(f"training, {agent.opt['precision']}", 1, "tokens"))
    for world in our_worlds:
        world.shutdown()


def _seconds_per_token(world: World, count: int) -> float:
    world.reset_metrics()
    took = seconds(steps(world, count))
    return took / (count * float(world.report()["tpb"]))


def _check(their_world: World, our_worlds: Sequence[World], *tolerances: float) -> None:
    """Assert that one step of each has the same loss.

    :param tolerances: relative, of each of our worlds.
    """
    expected = _loss(their_world)
    for world, tolerance in zip(our_worlds, tolerances, strict=True):
        assert abs(expected - (found := _loss(world))) <= tolerance * expected, f"losses differ: {expected}, {found}"


def _loss(world: World) -> float:
    world.reset_metrics()
    world.parley()
    return float(world.report()["loss"])


if __name__ == "__main__":
    main()
