"""Speed of retrieving from a pool of a million: ``empathy:retrieval`` against ParlAI's ``transformer/biencoder``.

    python benchmarks/retrieval_pool.py [--edition sample] [--candidates 1000000] [--patient]

The paper's Transformer, with vectors of 384 dimensions, is trained for a few steps. The pool's vectors are its
encodings of the training replies, each repeated many times with noise: real sentences form clusters, and purely random
vectors would be an unrealistic worst case. Both agents have the same weights and the same vectors, and reply to the
same contexts of the test fold: tokenizing, encoding and ranking are all timed, loading is not.

By default ParlAI sorts all candidates and creates a tensor for each, so that a batch of 64 takes minutes: this is
measured with single contexts, and with ``--patient``, in ten more minutes, also with a batch of 64. "top-k" is ParlAI
with ``--rank-top-k 100``, its fastest setting.
"""

from __future__ import annotations

import itertools
import multiprocessing
import random
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.message import Message
from parlais_biencoder import same_biencoder
from small_model import TASK, load, parser_of, trained
from timing import compare, seconds

from parlai_empathy.agents.retrieval.pool import Pool
from parlai_empathy.agents.retrieval.pool_search import best_replies
from parlai_empathy.agents.retrieval.replies import training_replies
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.agents.retrieval.vector_index import exact_search
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

_STEPS = 5  # of training
_NOISE = 0.5  # norm of the noise, relative to the norm of the vector
_DIFFERENT = 5_000  # distinct replies; all others are noisy copies of them
_TRIED = 500  # contexts for measuring recall and memory


def main() -> None:
    """Measure, and print replies per second, their ratio, the recall of the index, and memory."""
    parser = parser_of(__doc__)
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--patient", action="store_true", help="also measure ParlAI's default with a batch of 64")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        with torch.enable_grad():
            model_file = trained(folder, arguments.edition, _STEPS, embedding_size=384, n_layers=4, batchsize=64)
            agent = load(model_file, edition=arguments.edition)
        fold = build({**agent.opt, "datapath": folder}) / "test.csv"
        pool = _store_pool(agent, arguments.candidates)
        took = seconds(agent._pool_index)
        index = agent._pool_index()
        assert index is not None, "there is no index: its recall is too low"
        size = Path(f"{pool.path}.index").stat().st_size / 2**20
        about = f"index built in {took:.0f} s, {size:.0f} MB; {index.shortlist:,} per query are rescored"
        print(f"{len(pool.texts):,} candidates of {agent.dim} numbers; {about}")
        contexts = _contexts(fold)
        _recall(agent, contexts[:_TRIED])
        _memory(agent, contexts[:_TRIED])
        _compare(agent, contexts, arguments.patient)


def _store_pool(agent: RetrievalAgent, number: int) -> Pool:
    """Store a pool of ``number`` training replies: each with its vector, then repeated with noisy copies of it."""
    texts = list(dict.fromkeys(training_replies(agent.opt, TASK)))[:_DIFFERENT]
    vectors, draw = agent.encode_texts([texts])[0], torch.Generator().manual_seed(0)
    agent._encoded.clear()
    all_vectors = torch.empty(number, agent.dim)
    for start in range(0, number, len(texts)):
        part = vectors[: number - start]
        noise = torch.randn(part.shape, generator=draw) * (_NOISE * (start > 0) * agent.dim**-0.5)
        noisy = part + noise * part.norm(dim=1, keepdim=True)
        all_vectors[start : start + len(part)] = noisy * (part.norm(dim=1) / noisy.norm(dim=1)).unsqueeze(1)
    copies = list(itertools.islice(itertools.cycle(texts), number))
    Pool(copies, all_vectors, agent.pool_fingerprint()).save(agent._pool_path() or "")
    return agent.pool()


def _contexts(fold: Path) -> list[list[str]]:
    """Return the (at most four) turns before each reply of the Listener, in random order."""
    contexts = [
        [before.text for before in dialogue.turns[max(0, turn.index - 5) : turn.index - 1]]
        for dialogue in read_empathetic_dialogues(fold)
        for turn in dialogue.turns
        if turn.is_listener
    ]
    random.Random(0).shuffle(contexts)
    return contexts


def _recall(agent: RetrievalAgent, contexts: list[list[str]]) -> None:
    queries, pool, index = agent.encode_turns(contexts), agent.pool(), agent._pool_index()
    assert index is not None
    true, found = exact_search(queries, pool.encodings, 1)[1], index.search(queries, 1)[1]
    print(f"recall@1 against exact search, {len(contexts)} contexts: {(true == found).double().mean():.4f}", flush=True)
    for batch in (1, 64):
        some = queries[:batch]
        alone = compare(lambda: (some @ pool.encodings.T).topk(100), lambda: index.search(some, 100))  # noqa: B023
        print(alone.line(f"search alone, batch {batch}", batch, "searches"), flush=True)


def _memory(agent: RetrievalAgent, contexts: list[list[str]]) -> None:
    """Print how much memory a new process needs for the pool and for replying, without that for the model."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        start, memory = process.submit(_answer_alone, agent.opt["model_file"], contexts).result()
    floats = agent.pool().encodings.nbytes / 2**20
    print(
        f"resident memory of the pool and its texts: {memory:.0f} MB, {memory / floats:.0%} of its vectors in float32"
    )
    print(f"ready after {start:.1f} s", flush=True)


def _answer_alone(model_file: str, contexts: list[list[str]]) -> tuple[float, float]:
    logging.logger.setLevel("ERROR")  # a spawned process does not inherit the level
    agent = load(model_file)
    queries = agent.encode_turns(contexts)
    before = _resident()
    took = seconds(agent._pool_index)
    for query in queries:
        best_replies(agent.pool(), agent._pool_index(), query.unsqueeze(0), 100)
    return took, _resident() - before


def _resident() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 2**10


def _compare(agent: RetrievalAgent, contexts: list[list[str]], is_patient: bool) -> None:
    pool, ours = agent.pool(), load(agent.opt["model_file"], eval_candidates="fixed")
    theirs = same_biencoder(agent)
    theirs.eval_candidates, theirs.fixed_candidates = "fixed", pool.texts
    theirs.fixed_candidate_vecs = theirs.fixed_candidate_encs = torch.empty(pool.encodings.shape).copy_(pool.encodings)
    texts = ["\n".join(turns) for turns in contexts]
    lines = [("batch 1", 1, 2, -1), ("batch 1, top-k", 1, 10, 100), ("batch 64, top-k", 64, 64, 100)]
    for what, batch, number, top in lines + ([("batch 64", 64, 64, -1)] if is_patient else []):
        theirs.rank_top_k = top
        _line(theirs, ours, what, texts[:number], batch)


def _line(theirs: Any, ours: Any, what: str, texts: list[str], batch: int) -> None:
    said: dict[str, list[str]] = {}

    def reply(name: str, agent: Any) -> None:
        said[name] = _replies(agent, texts, batch)

    found = compare(lambda: reply("theirs", theirs), lambda: reply("ours", ours))
    same = sum(one == other for one, other in zip(said["theirs"], said["ours"], strict=True)) / len(texts)
    assert same >= 0.9, "the replies differ"
    print(f"{found.line(what, len(texts), 'replies')}; {same:.0%} of the replies the same", flush=True)


def _replies(agent: Any, texts: list[str], batch: int) -> list[str]:
    replies = []
    for start in range(0, len(texts), batch):
        observed = []
        for text in texts[start : start + batch]:
            agent.reset()
            observed.append(agent.observe(Message({"text": text, "episode_done": True})))
        replies += [message["text"] for message in agent.batch_act(observed)]
    return replies


if __name__ == "__main__":
    main()
