"""The agent knows how its evaluation makes batches, also if its training made them otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from parlai_as_it_comes import unrepaired
from tiny_parts import SIZES, TASK

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.metrics.evaluation_batches import evaluation_batchsize, evaluation_dynamic_batching


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str | None, int]]:
    """The batches that the agent was told, and their true size, of each batch."""
    seen = []
    act = RetrievalAgent.batch_act

    def batch_act(self: Any, observations: Any) -> Any:
        seen.append((evaluation_batchsize(self.opt), evaluation_dynamic_batching(self.opt), len(observations)))
        return act(self, observations)

    monkeypatch.setattr(RetrievalAgent, "batch_act", batch_act)
    return seen


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = str(tmp_path_factory.mktemp("trained") / "model")
    batches = {"batchsize": 16, "dynamic_batching": "batchsort", "text_truncate": 50}
    short = {"max_train_steps": 1, "validation_max_exs": 1, "short_final_eval": True}
    TrainModel.main(**TASK, **SIZES, **batches, **short, model="empathy:retrieval", model_file=file)
    return file


def evaluate(file: str, module: Any = None, **options: Any) -> None:
    (module.EvalModel if module else EvalModel).main(
        **TASK, **options, model_file=file, datatype="test", num_examples=100
    )


def test_agent_knows_default_batches_of_evaluation(trained: str, told: list[Any]) -> None:
    evaluate(trained)
    assert told[0] == (128, None, 128)


def test_agent_knows_typed_batches_of_evaluation(trained: str, told: list[Any]) -> None:
    evaluate(trained, batchsize=5)
    assert told[0] == (5, None, 5)
    evaluate(trained, dynamic_batching="full")
    assert told[-1][1] == "full"


def test_unrepaired_evaluation_tells_agent_how_its_training_made_batches(trained: str, told: list[Any]) -> None:
    evaluate(trained, unrepaired("parlai.scripts.eval_model"))
    assert told[0] == (16, "batchsort", 128)
