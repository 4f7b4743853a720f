"""``multiprocessing_train`` and ``distributed_train`` on machines without a GPU."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed
from parlai.scripts.train_model import TrainModel
from parlai.utils.distributed import find_free_port
from parlai_as_it_comes import source_of, unrepaired
from processes import PATIENCE, SAMPLE, TINY, parlai_command, start, succeeded
from sample_models import weights

from parlai_empathy.repairs import several_cpus

TWO = ("--distributed-world-size", "2")
TRAIN = (*SAMPLE, *TINY, "-bs", "32")


def multiprocessing_train(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(parents=True, exist_ok=True)
    return parlai_command("multiprocessing_train", *TRAIN, "-mf", "model", *options, cwd=folder, **environment)


def are_equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that two processes have trained, starting without a dictionary."""
    folder = tmp_path_factory.mktemp("trained")
    succeeded(multiprocessing_train(folder, *TWO, "--seed", "1"))
    return folder


def test_two_processes_train(trained: Path) -> None:
    assert (trained / "model").is_file()
    assert len((trained / "model.dict").read_text().splitlines()) > 100
    stats = json.loads((trained / "model.trainstats").read_text())
    assert stats["total_epochs"] >= 1
    assert stats["final_valid_report"]["exs"] > 100


@pytest.fixture(scope="module")
def reports(trained: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reports of the training's final test, shared by two processes, and of an evaluation by one process."""
    of_two = json.loads((trained / "model.trainstats").read_text())["final_test_report"]
    evaluation = ("-mf", "model", *SAMPLE, "-dt", "test", "--report-filename", "alone.json")
    succeeded(parlai_command("eval_model", *evaluation, cwd=trained))
    return of_two, json.loads((trained / "alone.json").read_text())["report"]


def test_two_processes_report_same_metrics_as_one(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    of_two, of_one = reports
    for key in ("exs", "hits@1", "mrr", "p_at_1_100_inline", "p_at_3_100_shuffled", "p_at_10_100_ordered"):
        assert of_two[key] == pytest.approx(of_one[key], rel=1e-6), key


def test_two_processes_rank_the_whole_candidate_pool(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    of_two, of_one = reports
    assert of_two["avg_bleu"] == pytest.approx(of_one["avg_bleu"], rel=1e-6)


def test_multiprocessing_eval_signature_counts_examples_of_all_processes(trained: Path) -> None:
    evaluation = ("-mf", "model", *SAMPLE, *TWO, "-dt", "test", "--report-filename", "together.json")
    result = succeeded(parlai_command("multiprocessing_eval", *evaluation, cwd=trained))
    report = json.loads((trained / "together.json").read_text())["report"]
    of_train = json.loads((trained / "model.trainstats").read_text())["final_test_report"]
    assert report["p_at_1_100_shuffled"] == pytest.approx(of_train["p_at_1_100_shuffled"], rel=1e-6)
    signatures = [line for line in (result.stdout + result.stderr).splitlines() if "P@k,100|protocol:ordered" in line]
    # Of the test fold's 142 replies, blocks of 100 cover 100. Neither process alone has a full block.
    assert signatures
    assert all("|n:100|" in line for line in signatures)


def test_same_seed_gives_same_weights(trained: Path, tmp_path: Path) -> None:
    succeeded(multiprocessing_train(tmp_path, *TWO, "--seed", "1"))
    assert are_equal(weights(tmp_path / "model"), weights(trained / "model"))


@pytest.mark.parametrize("number", ["0", "-1"])
def test_nonpositive_world_size_error_is_one_line(tmp_path: Path, number: str) -> None:
    result = multiprocessing_train(tmp_path, "--distributed-world-size", number)
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: --distributed-world-size")
    assert "--distributed-world-size 2" in last


def test_missing_data_ends_all_processes_with_one_error_line(tmp_path: Path) -> None:
    # The first process fails before the two connect: the second must not keep waiting for it, nor `run` for both.
    no_data = ("-t", "empathy:empathetic_dialogues", "--edition", "full", "-dp", "data")
    result = multiprocessing_train(tmp_path, *TWO, *no_data, EMPATHY_MIRROR="no_mirror")
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    [line] = [line for line in result.stderr.splitlines() if "error: " in line]
    assert "no_mirror" in line
    assert "EMPATHY_MIRROR must hold" in line


FAILING = """
import os
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
class FailingAgent(RetrievalAgent):
    def train_step(self, batch):
        if str(self.opt["rank"]) == os.environ["FAILING_RANK"]:
            raise ZeroDivisionError("on purpose")
        return super().train_step(batch)
"""


@pytest.mark.parametrize("rank", ["0", "1"])
def test_one_failing_process_ends_all(tmp_path: Path, rank: str) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    result = multiprocessing_train(tmp_path, *TWO, "-m", "failing:FailingAgent", FAILING_RANK=rank)
    assert result.returncode == 1
    assert "ZeroDivisionError: on purpose" in result.stdout + result.stderr


def test_distributed_train_under_slurm(trained: Path, tmp_path: Path) -> None:
    scontrol = tmp_path / "bin" / "scontrol"  # SLURM's command that lists the hosts of a job
    scontrol.parent.mkdir()
    scontrol.write_text('#!/bin/sh\n[ "$1 $2 $3" = "show hostnames node[1-2]" ] && echo localhost\n')
    scontrol.chmod(0o755)
    options = (*TRAIN, *TWO, "-mf", "model", "--seed", "2", "--port", str(find_free_port()))
    path = f"{scontrol.parent}{os.pathsep}{os.environ['PATH']}"
    processes = [
        start(
            [sys.executable, "-m", "parlai", "distributed_train", *options],
            cwd=tmp_path,
            PATH=path,
            SLURM_JOB_NODELIST="node[1-2]",
            SLURM_PROCID=str(rank),
            SLURM_LOCALID=str(rank),
        )
        for rank in (0, 1)
    ]
    try:
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert "num_epochs completed:1.0" in outputs[0][0] + outputs[0][1]
    assert not are_equal(weights(tmp_path / "model"), weights(trained / "model"))  # another seed


# --- single functions -------------------------------------------------------------------------------------------------


def options(**values: Any) -> Any:
    return TrainModel.setup_args().parse_kwargs(
        task="empathy:empathetic_dialogues", edition="sample", model="empathy:retrieval", **values
    )


def test_only_first_process_builds_the_dictionary(tmp_path: Path) -> None:
    opt = options(model_file=str(tmp_path / "model"))
    several_cpus._build_dictionary(opt, rank=1)
    assert not (tmp_path / "model.dict").exists()
    several_cpus._build_dictionary(opt, rank=0)
    assert (tmp_path / "model.dict").exists()
    assert opt["dict_file"] is None  # the given options are unchanged


def test_existing_dictionary_is_not_rebuilt(tmp_path: Path) -> None:
    opt = options(dict_file=str(tmp_path / "words"))  # without a model file, which ParlAI allows
    several_cpus._build_dictionary(opt, rank=0)
    assert (tmp_path / "words").exists()
    (tmp_path / "words").write_text("untouched\t1\n")
    several_cpus._build_dictionary(opt, rank=0)
    assert (tmp_path / "words").read_text() == "untouched\t1\n"


def test_all_gather_list_without_process_group_returns_own_data() -> None:
    from parlai.utils.distributed import all_gather_list

    assert all_gather_list({"any": ["data"]}) == [{"any": ["data"]}]


def test_cpu_wrappers_and_joins_use_no_gpu(process_group: None) -> None:
    from parlai.utils.fsdp import JoinableEvaluator, JoinableTrainLoop

    plain = torch.nn.parallel.DistributedDataParallel
    with several_cpus._wrap_without_devices(weakref.WeakSet()):
        wrapper = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2), device_ids=[-1])
        assert isinstance(wrapper, plain)  # ParlAI checks this
    assert torch.nn.parallel.DistributedDataParallel is plain
    for loop in (JoinableTrainLoop, JoinableEvaluator):
        assert loop.join_device.fget(None) == torch.device("cpu")


def test_unrepaired_parlai_requires_gpus(process_group: None) -> None:
    distributed: Any = unrepaired("parlai.utils.distributed")
    assert 'backend="nccl"' in inspect.getsource(distributed.distributed_context)
    assert ".cuda()" in inspect.getsource(distributed.all_gather_list)
    assert "[self.opt['gpu']]" in source_of("parlai.core.torch_ranker_agent")  # the device of its wrapper
    with pytest.raises((ValueError, RuntimeError, AssertionError)):
        torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2), device_ids=[-1])
    assert "self.__device = opt['gpu']" in source_of("parlai.utils.fsdp")
    with pytest.raises(RuntimeError):
        torch.zeros(1, device=-1)


def test_unrepaired_parlai_neither_builds_dictionary_nor_seeds_processes() -> None:
    assert "Dictionaries should be pre-built before distributed train." in source_of("parlai.scripts.build_dict")
    assert "seed" not in source_of("parlai.scripts.multiprocessing_train")
    assert "seed" not in source_of("parlai.scripts.distributed_train")
