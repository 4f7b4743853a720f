"""Training speed of the paper's generator: ``empathy:generative`` against ParlAI's ``transformer/generator``.

    python benchmarks/generative_training.py [--edition sample] [--layers 2] [--batch 32] [--steps 2] [--gpu]

Both have the same sizes, dictionary and initial weights, and no dropout; the optimiser is AdamW with gradient clipping.
A step includes everything: reading a batch of texts, tokenizing, updating the weights. The loss of the first step must
be equal, and that of the last one nearly equal. Rates count the tokens of contexts and replies, without padding. ParlAI
computes in float32, its default; ours in float32 and in the precision of ``--precision auto``.
"""

from __future__ import annotations

import tempfile
from typing import Any

from parlai.agents.transformer.transformer import TransformerGeneratorAgent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.worlds import World, create_task
from small_model import TASK, add_gpu, parser_of, untrained
from timing import compare

from parlai_empathy.agents.generative.generative import GenerativeAgent


def main() -> None:
    """Measure, and print tokens per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--layers", type=int, default=2, help="layers of the encoder, and of the decoder")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=2, help="training steps of each variant per round")
    add_gpu(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for precision in ("float32", "auto"):
            options = {"n_layers": arguments.layers, "dropout": 0.0, "precision": precision}
            options["no_cuda"] = not arguments.gpu
            ours = untrained(folder, arguments.edition, "empathy:generative", **options)
            _measure(ours, arguments.batch, arguments.steps)


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


def _measure(ours: GenerativeAgent, batch: int, count: int) -> None:
    theirs = same_generator(ours, datatype="train")
    their_world, our_world = (_world(ours.opt, agent, batch) for agent in (theirs, ours))
    tolerance = 1e-4 if ours.opt["precision"] == "float32" else 1e-2
    _check(their_world, our_world, tolerance)
    steps = range(count)
    result = compare(lambda: [their_world.parley() for _ in steps], lambda: [our_world.parley() for _ in steps])
    tokens = float(our_world.report()["tpb"])
    assert tokens == float(their_world.report()["tpb"])
    _check(their_world, our_world, 10 * tolerance)
    print(result.line(f"training, {ours.opt['precision']}", tokens * count, "tokens"))


def _world(opt: Opt, agent: Any, batch: int) -> World:
    return create_task(Opt({**opt, "task": TASK, "datatype": "train:ordered", "batchsize": batch}), agent)


def _check(their_world: World, our_world: World, tolerance: float) -> None:
    """Assert that one step of both has the same loss."""
    expected, found = (_loss(world) for world in (their_world, our_world))
    assert abs(expected - found) <= tolerance * expected, f"the losses differ: {expected} and {found}"


def _loss(world: World) -> float:
    world.reset_metrics()
    world.parley()
    return float(world.report()["loss"])


if __name__ == "__main__":
    main()
