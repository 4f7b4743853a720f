"""Speed of measuring P@1,100: ``empathy:retrieval`` against ParlAI's ``transformer/biencoder`` with the same weights.

    python benchmarks/precision_at_k.py [--edition sample] [--examples 16] [--layers 1]

Both evaluate the test fold as ``eval_model`` does, with the 100 candidates of each example, and must rank the true
replies alike. Ours evaluates the whole fold, and measures all three protocols at once. ParlAI would need an hour for
it, so it evaluates only a part: its work is the same for each example, and examples per second are compared. ParlAI's
batch size is 16, as many as fit into memory with their candidates. AVG BLEU, which ParlAI does not have, is left out.
The model has one layer instead of the paper's four, to save time.
"""

from __future__ import annotations

import math
import tempfile
from typing import Any

from parlai.core.opt import Opt
from parlai.core.worlds import World, create_task
from parlais_biencoder import same_biencoder
from small_model import TASK, load, parser_of, trained
from timing import ROUNDS, Comparison, seconds

_STEPS = 4  # of training
_THEIR_BATCH, _OUR_BATCH = 16, 128


def main() -> None:
    """Measure, and print examples per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--examples", type=int, default=16, help="examples that ParlAI's agent ranks")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = trained(folder, arguments.edition, _STEPS, score="dot", n_layers=arguments.layers)
        agent = load(path, edition=arguments.edition)
        theirs = same_biencoder(agent, "--eval-candidates", "inline")
        _check(agent.opt, theirs, arguments.examples)
        times = [_round(agent.opt, theirs, arguments.examples) for _ in range(arguments.rounds)]
    comparison = Comparison([their for their, _ in times], [our for _, our in times])
    print(comparison.line("P@1,100, 3 protocols", 1, "examples"))


def _ours(opt: Opt) -> Any:
    """Return a new agent: one that has seen the candidates before has their encodings cached."""
    agent = load(opt["model_file"])
    agent._no_pool = True  # disables AVG BLEU
    return agent


def _world(opt: Opt, agent: Any, batch: int) -> World:
    return create_task(Opt({**opt, "task": TASK, "datatype": "test", "batchsize": batch}), agent)


def _run(world: World, examples: float) -> dict[str, Any]:
    done = 0
    while not world.epoch_done() and done < examples:
        world.parley()
        done += world.opt["batchsize"]
    report: dict[str, Any] = world.report()
    return report


def _check(opt: Opt, theirs: Any, examples: int) -> None:
    """Assert that the true replies of the same examples have the same ranks; so few steps put hardly any first."""
    expected, found = (_run(_world(opt, agent, _THEIR_BATCH), examples) for agent in (theirs, _ours(opt)))
    assert expected["exs"] == found["exs"]
    # Nearly tied scores may change places.
    assert abs(float(expected["mrr"]) - float(found["mrr"])) <= 1e-3, "the ranks of the true replies differ"


def _round(opt: Opt, theirs: Any, examples: int) -> tuple[float, float]:
    """Return the seconds per example of ParlAI's agent and of ours."""
    taken = []
    for agent, batch, most in ((theirs, _THEIR_BATCH, examples), (_ours(opt), _OUR_BATCH, math.inf)):
        agent.reset()
        world = _world(opt, agent, batch)
        took = seconds(lambda: _run(world, most))  # noqa: B023
        report = world.report()
        taken.append(took / int(report["exs"]))
    assert 0 <= float(report["p_at_1_100_shuffled"]) <= 1
    return taken[0], taken[1]


if __name__ == "__main__":
    main()
