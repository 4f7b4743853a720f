"""Models that choose their replies do so from their pool, where the true reply is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tiny_judge import write_bert
from tiny_parts import train, train_base, train_classifier

from parlai_empathy.reports import evaluate
from parlai_empathy.reports.empgpt3_systems import asked
from parlai_empathy.reports.evaluations import Evaluations
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


def _run(arguments: list[str], answer: Path, log: Path) -> int:
    """Evaluate in this process, for that is quicker."""
    evaluate.main(str(answer), *arguments, "--loglevel", "error")
    return 0


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One model of each agent that ranks."""
    folder = tmp_path_factory.mktemp("models")
    base, classifier = train_base(folder / "retrieval"), train_classifier(folder / "classifier")
    torch.manual_seed(0)
    bert = write_bert(folder / "bert")
    found = {
        "retrieval": base,
        "prepend": train_base(folder / "prepend", "empathy:prepend", classifier=str(classifier)),
        "multitask": train_base(folder / "multitask", "empathy:multitask"),
        "ensemble": train(folder / "ensemble", "empathy:ensemble", base_model=str(base), classifier=str(classifier)),
        "rerank": train(
            folder / "rerank", "empathy:rerank", hf_model=str(bert), retriever=str(base), max_train_steps=1, batchsize=8
        ),
    }
    return {name: str(path) for name, path in found.items()}


def test_ranking_models_answer_from_their_pool(models: dict[str, str], tmp_path: Path) -> None:
    evaluations = Evaluations(tmp_path / "kept", _run)
    systems = asked(models, "test", ["--edition", "sample"], evaluations, str(tmp_path / "data"))
    assert [one.name for one in systems] == list(models)
    train_fold = build({"edition": "sample", "datapath": str(tmp_path)}) / "train.csv"
    pool = {turn.text for one in read_empathetic_dialogues(train_fold) for turn in one.turns}
    for one in systems:
        assert len(one.replies) == 64
        assert {reply.reply for reply in one.replies} <= pool, one.name
        assert not all(reply.is_candidate for reply in one.replies), one.name
