"""Speed of beam search: ``empathy:generative`` against ParlAI's generator, with the same model and beam width.

    python benchmarks/diverse_beam.py [--edition sample] [--width 4] [--contexts 32] [--tokens 16] [--gpu]

The model is the default one, trained for a few steps. Both agents have its weights, and decode the same contexts of the
test fold in one batch. The first comparison is plain beam search, to the end of each reply: both must generate the same
replies. In the second, ours is diverse beam search with one hypothesis per group. It would end at other lengths, so all
replies are given the same number of tokens, to make the work equal; and ours must generate the same as the same search
in ParlAI's own loop, one example and one group at a time. ParlAI computes in float32, its default; ours in float32 and
in the precision of ``--precision auto``, where most replies must have nearly the same scores: rounding lets some become
others. Rates count the tokens of the best replies.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from typing import Any

import torch
from generative_training import same_generator
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorAgent
from parlai.core.worlds import create_task
from small_model import TASK, add_gpu, load, parser_of, trained
from timing import compare

Replies = list[tuple[list[int], float]]
"""For each context, the token ids and the score of the best reply."""

_STEPS = 20  # of training
_ROUNDING = 0.05  # of the median score, which is a log-probability
_LONGEST = 30  # tokens; a barely trained model may never generate the end token


def main() -> None:
    """Measure, and print tokens per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--width", type=int, default=4, help="beam width")
    parser.add_argument("--contexts", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=16, help="length of the replies of the second comparison")
    add_gpu(parser)
    arguments = parser.parse_args()
    width, tokens = arguments.width, arguments.tokens
    with tempfile.TemporaryDirectory() as folder:
        path = trained(folder, arguments.edition, _STEPS, model="empathy:generative", no_cuda=not arguments.gpu)
        common = {"edition": arguments.edition, "beam_size": width, "beam_block_ngram": -1}
        plain = load(path, **common, inference="beam", precision="float32")
        batch = _batch(plain, arguments.contexts)
        _measure("beam search, float32", _search(same_generator(plain), batch), _search(plain, batch))
        common |= {"beam_min_length": tokens, "beam_groups": width}
        theirs = _search(same_generator(plain, beam_min_length=tokens), batch, tokens)
        for precision in ("float32", "auto"):
            diverse = load(path, **common, inference="diversebeam", precision=precision)
            found = _search(diverse, batch, tokens)()
            if precision == "float32":
                exact = _search(diverse, batch, tokens, TorchGeneratorAgent._generate)()
                _check(exact, found)
            apart = statistics.median(abs(one[1] - two[1]) for one, two in zip(exact, found, strict=True))
            assert apart <= _ROUNDING, "the scores differ"
            _measure(f"diverse, {precision}", theirs, _search(diverse, batch, tokens), same=False)


def _batch(agent: Any, count: int) -> Batch:
    """Return a batch of the first contexts of the test fold."""
    opt = Opt({**agent.opt, "task": TASK, "datatype": "test", "batchsize": 1})
    teacher = create_task(opt, agent).get_task_agent()
    batch = agent.batchify([agent.clone().observe(teacher.act()) for _ in range(count)])
    return batch.to(next(agent.model.parameters()).device)


def _search(
    agent: Any, batch: Batch, longest: int = _LONGEST, generate: Callable[..., Any] | None = None
) -> Callable[[], Replies]:
    """Return a function that generates all replies of a batch.

    :param generate: the search function; by default the agent's.
    """
    generate = generate or type(agent)._generate
    agent.model.eval()

    def run() -> Replies:
        with torch.no_grad():
            best, _ = generate(agent, batch, agent.beam_size, longest)
        return [(tokens.tolist(), float(score)) for tokens, score, _ in best]

    return run


def _measure(what: str, theirs: Callable[[], Replies], ours: Callable[[], Replies], same: bool = True) -> None:
    expected, found = theirs(), ours()  # warm-up: the first calls take longer
    if same:
        _check(expected, found)
    count = sum(len(tokens) - 1 for tokens, _ in expected)
    assert same or count == sum(len(tokens) - 1 for tokens, _ in found), "the numbers of tokens differ"
    print(compare(theirs, ours).line(what, count, "tokens"), flush=True)


def _check(expected: Replies, found: Replies) -> None:
    """Assert that at most one reply differs (its scores may be nearly tied), and that all scores agree."""
    other = [pair for pair in zip(expected, found, strict=True) if pair[0][0] != pair[1][0]]
    assert len(other) <= 1, f"{len(other)} of {len(found)} replies differ"
    assert all(abs(one[1] - two[1]) <= 1e-3 for one, two in zip(expected, found, strict=True)), "scores differ"


if __name__ == "__main__":
    main()
