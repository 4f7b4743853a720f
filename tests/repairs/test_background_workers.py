"""``--num-workers``: a training with processes beside it begins without a dictionary, and knows its seed."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any

import pytest
import torch.multiprocessing
from parlai.core.worlds import BackgroundWorkerDynamicBatchWorld
from parlai.scripts.build_dict import build_dict
from parlai.scripts.train_model import TrainModel
from parlai_as_it_comes import unrepaired
from sample_models import weights
from tiny_parts import SIZES, TASK, train

TINY: dict[str, Any] = {**TASK, **SIZES, "model": "empathy:retrieval"}
WORKER = {"num_workers": 1, "max_train_steps": 4, **SIZES}


def test_a_training_with_workers_begins_without_a_dictionary(tmp_path: Path) -> None:
    train(tmp_path / "alone", "empathy:retrieval", **{**WORKER, "num_workers": 0})
    train(tmp_path / "beside", "empathy:retrieval", **{**WORKER, "num_workers": 2})
    assert (tmp_path / "beside.dict").read_text() == (tmp_path / "alone.dict").read_text()


def test_one_worker_and_a_seed_give_one_model(tmp_path: Path) -> None:
    one, same, other = (
        weights(train(tmp_path / name, "empathy:retrieval", **WORKER, seed=seed))
        for name, seed in (("one", 7), ("same", 7), ("other", 8))
    )
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


class Begun(Exception):
    """The worker has come to its world."""


@pytest.fixture
def first_draw(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asks for the first number that a worker draws."""

    def stop(*_: Any, **__: Any) -> None:
        raise Begun

    monkeypatch.setattr(BackgroundWorkerDynamicBatchWorld, "__init__", stop)

    def draw(index: int, **options: Any) -> float:
        with pytest.raises(Begun):
            BackgroundWorkerDynamicBatchWorld.launch_process(index, options, None, None)
        return random.random()

    return draw


def test_each_worker_draws_its_own(first_draw: Any) -> None:
    draws = [first_draw(index, seed=seed) for seed in (1, 2) for index in (0, 1)]
    assert len(set(draws)) == 4
    assert draws == [first_draw(index, seed=seed) for seed in (1, 2) for index in (0, 1)]


def test_without_a_seed_a_worker_is_left_to_chance(first_draw: Any) -> None:
    random.seed(3)
    expected = random.random()
    random.seed(3)
    assert first_draw(0, seed=None) == expected


def test_still_needed_parlai_starts_the_workers_to_build_a_dictionary(tmp_path: Path) -> None:
    opt = TrainModel.setup_args().parse_kwargs(**TINY, num_workers=1, dict_file=str(tmp_path / "words"))
    with pytest.raises(torch.multiprocessing.ProcessRaisedException, match="batch_act"):
        unrepaired("parlai.scripts.build_dict").build_dict(opt)
    build_dict(opt)
    assert (tmp_path / "words").is_file()
    assert opt["num_workers"] == 1  # the options themselves are as they were


def test_still_needed_parlai_seeds_no_worker() -> None:
    workers = unrepaired("parlai.core.worlds").BackgroundWorkerDynamicBatchWorld
    assert "seed" not in inspect.getsource(workers.launch_process)
