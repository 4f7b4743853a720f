"""A training's metrics, added up by batch, are ParlAI's averages over the examples."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.torch_agent import TorchAgent
from parlai.core.worlds import create_task
from parlai.scripts.build_dict import build_dict
from parlai.scripts.train_model import TrainModel
from tiny_parts import SIZES, TASK
from torch import Tensor

from parlai_empathy.agent_kit.training.batch_totals import BatchTotals
from parlai_empathy.agents.generative.generative import GenerativeAgent
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent

AGENTS = {"empathy:retrieval": RetrievalAgent, "empathy:generative": GenerativeAgent}
LENGTHS = ["clen", "ctrunc", "ctrunclen", "llen", "ltrunc", "ltrunclen"]
OWN = {
    "empathy:retrieval": ["mean_loss", "train_accuracy", "mrr"],
    "empathy:generative": ["loss", "ppl", "ppl_peers", "token_acc", "token_em"],
}


def learning(folder: Path, model: str, batch: int = 8, each: bool = False, **options: Any) -> Any:
    """Return the world of a training, in which short texts are truncated.

    :param each: whether the task gets each example's metrics, as from ParlAI.
    """
    extra = {"ppl_protocol": "peers"} if model == "empathy:generative" else {}
    places = {"model_file": str(folder / "model"), "datapath": str(folder), "text_truncate": 20, "label_truncate": 9}
    options = {**TASK, **SIZES, "seed": 3, "precision": "float32", "batchsize": batch, **extra, **places, **options}
    opt = TrainModel.setup_args().parse_kwargs(**options, model=model)
    opt["dict_file"] = f"{opt['model_file']}.dict"
    build_dict(opt)

    class Each(AGENTS[model]):  # type: ignore[misc]
        adds_up = False

        def _adds_up(self, is_training: bool) -> bool:
            return False

    agent = (Each if each else AGENTS[model])(opt)
    random.seed(3)
    return create_task(opt, agent)


def report_of(world: Any, steps: int) -> dict[str, float]:
    torch.manual_seed(1)  # dropout
    for _ in range(steps):
        world.parley()
    return {name: float(value) for name, value in world.report().items()}


@pytest.mark.parametrize("model", list(AGENTS))
def test_report_is_that_of_the_examples_metrics(tmp_path: Path, model: str) -> None:
    ours, expected = (report_of(learning(tmp_path / str(each), model, each=each), 3) for each in (False, True))
    timed = {name for name in expected if name.endswith("ps") or name == "gpu_mem"}
    assert set(ours) == set(expected)
    assert {*LENGTHS, *OWN[model], "exs"} <= set(ours) - timed
    assert ours["exs"] == 24
    assert ours["ctrunc"] > 0
    for name in set(ours) - timed:
        assert ours[name] == pytest.approx(expected[name], rel=1e-5), name


def replies_to(world: Any, padding: int = 0) -> list[Any]:
    """Return the agent's replies to the training batch that the world would give it, after rows of padding."""
    acts = world.batch_act(0, world.batch_observations[0])
    observed = world.batch_observe(1, acts, 0)
    empty = [Message({"batch_padding": True, "episode_done": True}) for _ in range(padding)]
    replies: list[Any] = world.get_model_agent().batch_act([*empty, *observed])
    return replies


@pytest.mark.parametrize("model", list(AGENTS))
@pytest.mark.parametrize("padding", [0, 2])
def test_only_the_first_valid_reply_of_a_training_batch_has_metrics(tmp_path: Path, model: str, padding: int) -> None:
    replies = replies_to(learning(tmp_path, model, batch=3), padding)
    assert [bool(reply.get("metrics")) for reply in replies] == [False] * padding + [True, False, False]
    metrics = replies[padding]["metrics"]
    assert {*LENGTHS, *OWN[model]} == set(metrics)
    assert metrics["clen"]._denom == 3


def test_each_of_several_tasks_has_its_own_metrics(tmp_path: Path) -> None:
    tasks = "empathy:empathetic_dialogues,empathy:empathetic_dialogues:BothRoles"
    world = learning(tmp_path, "empathy:retrieval", task=tasks)
    report = report_of(world, 6)
    for task in tasks.split(","):
        assert report[f"{task}/clen"] > 1
        assert report[f"{task}/mean_loss"] > 0
    assert all(reply.get("metrics") for reply in replies_to(world))


class Plain(TorchAgent):
    """An agent whose training step gives it numbers to record."""

    def __init__(self, opt: Opt, shared: Any = None) -> None:
        self.opt, self.is_training = opt, True
        self.stepped: list[dict[str, float]] = []
        self.each: dict[str, Any] = {}

    def build_model(self) -> None: ...

    def train_step(self, batch: Any) -> None: ...

    def eval_step(self, batch: Any) -> None: ...

    def record_local_metric(self, keyname: str, values: Any) -> None:
        self.each[keyname] = values

    def update_params(self) -> None:
        self.stepped.append({name: float(value) for name, value in self._metrics.items()})


class Adding(BatchTotals, Plain):
    """The same with totals."""


def test_totals_are_read_before_the_step_and_given_to_the_first_valid_reply() -> None:
    agent = Adding(Opt(task="empathy:empathetic_dialogues"))
    agent.record_each("loss", torch.tensor([1.0, 2.0, 6.0], requires_grad=True))
    agent.record_total("accuracy", torch.tensor(3), torch.tensor(12))
    agent.update_params()
    assert agent.stepped == [{"loss": 3.0, "accuracy": 0.25}]
    replies: list[dict[str, Any]] = agent.match_batch([{}, {}, {}], torch.tensor([1, 2]), {})
    assert replies == [{}, {"metrics": {"loss": AverageMetric(9, 3), "accuracy": AverageMetric(3, 12)}}, {}]


def test_evaluation_records_each_example() -> None:
    agent = Adding(Opt(task="empathy:empathetic_dialogues"))
    agent.is_training = False
    values: Tensor = torch.tensor([1.0, 2.5])
    agent.record_each("loss", values)
    assert agent.each == {"loss": [AverageMetric(1.0), AverageMetric(2.5)]}
    assert agent.match_batch([{}, {}], torch.tensor([0, 1]), {}) == [{}, {}]
