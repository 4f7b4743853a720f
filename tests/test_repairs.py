"""Each repair twice: it works, and ParlAI still needs it. If a test of the second kind fails, take the repair out."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import warnings
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.distributed
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.params import ParlaiParser
from parlai.core.worlds import DialogPartnerWorld
from parlai.nn import lr_scheduler
from parlai.scripts import train_model as train_model_module
from parlai.scripts.train_model import TrainModel
from parlai.utils.distributed import find_free_port
from processes import PATIENCE, SAMPLE, TINY, parlai_command, run, start, succeeded

from parlai_empathy import repairs


def unrepaired(name: str) -> ModuleType:
    """ParlAI's module ``name`` anew, as ParlAI made it: the hook knows it only under its own name."""
    source = importlib.util.find_spec(name)
    assert source is not None
    assert source.origin is not None
    spec = importlib.util.spec_from_file_location("unrepaired_" + name.replace(".", "_"), source.origin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source_of(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


# --- pkg_resources ----------------------------------------------------------------------------------------------------

BLOCK_PKG_RESOURCES = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pkg_resources":
            raise ModuleNotFoundError("blocked", name=name)
sys.meta_path.insert(0, Block())
"""


def test_options_load_without_setuptools_pkg_resources(tmp_path: Path) -> None:
    preset = tmp_path / "mine.opt"
    preset.write_text('{"batchsize": 3}')
    code = BLOCK_PKG_RESOURCES + (
        "from parlai.core.opt import Opt\n"
        f"print(Opt.load_init({str(preset)!r}), 'pkg_resources' in sys.modules)\n"
        "try:\n    Opt.load_init('gen/no_such_preset')\n"  # looked for in `parlai.opt_presets`, which the wheel lacks
        "except Exception as error:\n    print(type(error).__name__)"
    )
    printed = succeeded(run([sys.executable, "-c", code], tmp_path)).stdout.splitlines()
    assert printed[0] == "{'batchsize': 3} False"
    assert printed[1] in ("FileNotFoundError", "ModuleNotFoundError")


def test_stand_in_answers_as_pkg_resources_does() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the real one says that it is deprecated
        real = pytest.importorskip("pkg_resources")
    for package, name in [
        ("parlai", "__init__.py"),
        ("parlai", "core/opt.py"),
        ("parlai", "no.py"),
        ("parlai", "core"),
    ]:
        assert repairs.resource_filename(package, name) == real.resource_filename(package, name)
        if name != "core":  # the real one also finds folders; ParlAI only ever asks for files
            assert repairs.resource_exists(package, name) == real.resource_exists(package, name)
    for function in (repairs.resource_exists, real.resource_exists):
        with pytest.raises(ModuleNotFoundError):
            function("no_such_package", "x")


def test_the_real_pkg_resources_is_left_alone_where_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ModuleType("pkg_resources")
    monkeypatch.setitem(sys.modules, "pkg_resources", real)
    repairs.lend_pkg_resources()
    assert sys.modules["pkg_resources"] is real
    repairs.take_back_pkg_resources(real)
    assert sys.modules["pkg_resources"] is real


def test_the_stand_in_is_lent_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pkg_resources", raising=False)
    repairs.lend_pkg_resources()
    assert sys.modules["pkg_resources"].resource_exists("parlai", "__init__.py")
    repairs.take_back_pkg_resources(ModuleType("unused"))
    assert "pkg_resources" not in sys.modules


def test_still_needed_parlai_imports_pkg_resources() -> None:
    imports = [node for node in ast.walk(ast.parse(source_of("parlai.core.opt"))) if isinstance(node, ast.Import)]
    assert "pkg_resources" in [alias.name for node in imports for alias in node.names]


# --- ReduceLROnPlateau ------------------------------------------------------------------------------------------------


def plateau(module: Any) -> Any:
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    return module.ReduceOnPlateauLRScheduler(optimiser, 1, 0.5, -1, 1e-4)  # patience, decay, no warm-up


def test_default_scheduler_reduces_the_rate_on_a_plateau() -> None:
    scheduler = plateau(lr_scheduler)
    rates = []
    # Patience 1: the second bad epoch in a row (losses 2, 2 after 1) halves the rate; the count then starts again.
    for loss in (1.0, 2.0, 2.0, 2.0, 2.0, 0.5):
        scheduler.valid_step({"loss": AverageMetric(loss)})
        rates.append(scheduler.scheduler.optimizer.param_groups[0]["lr"])
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]


def test_default_scheduler_is_saved_and_loaded() -> None:
    scheduler = plateau(lr_scheduler)
    for loss in (1.0, 2.0):
        scheduler.valid_step({"loss": AverageMetric(loss)})
    again = plateau(lr_scheduler)
    again.load_state({"number_training_updates": 7, "lr_scheduler": scheduler.get_state_dict()})
    again.valid_step({"loss": AverageMetric(2.0)})  # the second bad epoch, the first being remembered
    assert again.scheduler.optimizer.param_groups[0]["lr"] == 0.5


def test_still_needed_parlai_passes_verbose_and_torch_has_it_not() -> None:
    with pytest.raises(TypeError, match="verbose"):
        plateau(unrepaired("parlai.nn.lr_scheduler"))


# --- GPT-2 ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """ParlAI's GPT-2 agent with four letters, a space and two tiny random layers, of files made here."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("gpt2")
    vocabulary = {token: i for i, token in enumerate(["a", "b", "c", "d", "Ġ", "<|endoftext|>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    torch.manual_seed(0)
    sizes = {"vocab_size": len(vocabulary), "n_positions": 64, "n_embd": 16, "n_layer": 2, "n_head": 2}
    # Large weights: the next token must depend much on those before, or a wrong cache would not show.
    config = transformers.GPT2Config(**sizes, initializer_range=0.5, bos_token_id=5, eos_token_id=5)
    transformers.GPT2Model(config).save_pretrained(folder)
    return create_agent(
        ParlaiParser(True, True).parse_kwargs(
            model="hugging_face/gpt2",
            model_name=str(folder),
            inference="beam",
            beam_size=4,
            beam_min_length=3,
            beam_length_penalty=0.0,  # so that a score is the plain sum of the tokens' log-probabilities
            text_truncate=30,
            label_truncate=12,
            batchsize=2,
            no_cuda=True,
        )
    )


def sum_of_log_probabilities(agent: Any, context: torch.Tensor, tokens: torch.Tensor) -> float:
    """Of ``tokens`` after ``context``, by one pass over all of them, without a cache. Padding is not attended to."""
    everything = torch.cat([context, tokens])
    mask = everything != agent.NULL_IDX
    hidden = agent.model.decoder.transformer(
        everything[None],
        attention_mask=mask[None].long(),
        position_ids=(mask.cumsum(0) - 1).clamp(min=0)[None],
        use_cache=False,
    )[0]
    of_next = agent.model.lm_head(hidden)[0].log_softmax(-1)
    return float(sum(of_next[len(context) + i - 1, token] for i, token in enumerate(tokens)))


def test_gpt2_beam_search_keeps_each_hypothesis_with_its_own_cache(gpt2: Any) -> None:
    observations = [
        gpt2.clone().observe(Message({"text": text, "episode_done": True})) for text in ("bad cab", "a dab c dad bad")
    ]
    with torch.no_grad():
        _, beams = gpt2._generate(gpt2.batchify(observations), beam_size=4, max_ts=12)
        checked = 0
        for observation, beam in zip(observations, beams, strict=True):
            for tokens, score, _ in beam.get_rescored_finished():
                expected = sum_of_log_probabilities(gpt2, torch.as_tensor(observation["text_vec"]), tokens[1:])
                assert score.item() == pytest.approx(expected, abs=1e-3)
                checked += 1
    assert checked > 4


def test_gpt2_answers(gpt2: Any) -> None:
    assert set(gpt2.respond("bad cab")) & set("abcd")


def test_tuples_of_older_transformers_are_reordered_as_before() -> None:
    module = pytest.importorskip("parlai.agents.hugging_face.gpt2")
    layer = torch.arange(6.0).view(2, 3, 1)  # keys and values, of 3 hypotheses
    [reordered] = module.HFGPT2Model.reorder_decoder_incremental_state(None, (layer,), torch.tensor([2, 0, 0]))
    assert reordered.squeeze(-1).tolist() == [[2, 0, 0], [5, 3, 3]]


def test_still_needed_parlai_knows_only_tuples_and_transformers_gives_a_cache(gpt2: Any) -> None:
    with torch.no_grad():
        _, state = gpt2.model.decoder(torch.tensor([[gpt2.START_IDX]]), torch.tensor([[0, 1, 2]]))
    assert hasattr(state, "reorder_cache")
    original = unrepaired("parlai.agents.hugging_face.gpt2").HFGPT2Model.reorder_decoder_incremental_state
    with pytest.raises((AssertionError, TypeError, IndexError)):
        original(gpt2.model, state, torch.tensor([0]))


# --- worlds and sub-commands: repaired in plugin.py -------------------------------------------------------------------


def test_still_needed_parlai_looks_for_worlds_only_at_home() -> None:
    loader: Any = unrepaired("parlai.core.loader")
    loader.REGISTERED_REPOS["empathy:"] = {"repo": "parlai_empathy", "source": ""}
    assert loader.load_teacher_module("empathy:empathetic_dialogues").__module__.startswith("parlai_empathy.")
    found = loader.load_world_module("empathy:empathetic_dialogues", interactive_task=True, num_agents=2)
    assert found is DialogPartnerWorld


def test_still_needed_parlai_registers_no_distributed_train() -> None:
    assert "register_script" not in source_of("parlai.scripts.distributed_train")


# --- the end of a training --------------------------------------------------------------------------------------------

TINY_TRAINING: dict[str, Any] = {
    "task": "empathy:empathetic_dialogues",
    "edition": "sample",
    "model": "empathy:retrieval",
    "embedding_size": 16,
    "n_heads": 2,
    "n_layers": 1,
    "ffn_size": 16,
    "loglevel": "error",
}


def validated(module: Any, folder: Path, **options: Any) -> list[int]:
    """Train with a module's loop; returns after how many steps it validated."""
    module.TrainModel.main(**TINY_TRAINING, **options, model_file=str(folder / "model"))
    stats = json.loads((folder / "model.trainstats").read_text())
    return [report["train_steps"] for report in stats["valid_reports"]]


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"num_epochs": 1, "batchsize": 300}, [1]),
        ({"max_train_steps": 3, "batchsize": 8}, [3]),
        ({"max_train_time": 0.001, "batchsize": 8}, [1]),
        ({"max_train_steps": 3, "batchsize": 8, "validation_every_n_steps": 2}, [2, 3]),
        # A schedule of the rate, which ends the training too.
        ({"max_train_steps": 3, "batchsize": 8, "lr_scheduler": "linear", "warmup_updates": 1}, [2]),
    ],
)
def test_a_training_ends_with_a_validation(tmp_path: Path, options: dict[str, Any], steps: list[int]) -> None:
    found = validated(train_model_module, tmp_path, **options)
    assert found[:-1] == steps[:-1]
    assert found[-1] >= steps[-1]


def test_the_end_is_logged_once_and_whole(tmp_path: Path) -> None:
    validated(train_model_module, tmp_path, num_epochs=1, batchsize=100)
    reports = json.loads((tmp_path / "model.trainstats").read_text())["train_reports"]
    assert [(report["train_steps"], report["exs"]) for report in reports] == [(7, 700)]  # 624 examples, in hundreds


def test_what_was_validated_at_the_last_step_is_not_validated_again(tmp_path: Path) -> None:
    options = {"max_train_steps": 3, "batchsize": 8, "lr_scheduler": "linear", "warmup_updates": 1}
    assert validated(train_model_module, tmp_path, **options, validation_every_n_steps=1) == [1, 2]


def test_who_does_not_want_validations_gets_none(tmp_path: Path) -> None:
    never = {"validation_every_n_epochs": -1}
    assert validated(train_model_module, tmp_path, max_train_steps=2, batchsize=8, **never) == []


def test_still_needed_parlai_ends_without_validating_what_it_learnt_last(tmp_path: Path) -> None:
    module = unrepaired("parlai.scripts.train_model")
    assert validated(module, tmp_path, max_train_steps=3, batchsize=8) == []


# --- several processes without a GPU ----------------------------------------------------------------------------------

TWO = ("--distributed-world-size", "2")
TRAIN = (*SAMPLE, *TINY, "-bs", "32")


def multiprocessing_train(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(parents=True, exist_ok=True)
    return parlai_command("multiprocessing_train", *TRAIN, "-mf", "model", *options, cwd=folder, **environment)


def weights(file: Path) -> dict[str, torch.Tensor]:
    return dict(torch.load(file, weights_only=False)["model"])


def are_equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that two processes have trained, in a folder without a dictionary."""
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
    """The final test of the training, whose examples two processes shared, and an evaluation by one process."""
    of_two = json.loads((trained / "model.trainstats").read_text())["final_test_report"]
    evaluation = ("-mf", "model", *SAMPLE, "-dt", "test", "--report-filename", "alone.json")
    succeeded(parlai_command("eval_model", *evaluation, cwd=trained))
    return of_two, json.loads((trained / "alone.json").read_text())["report"]


def test_two_processes_report_what_one_computes(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    of_two, of_one = reports
    for key in ("exs", "hits@1", "mrr", "p_at_1_100_inline", "p_at_3_100_shuffled", "p_at_10_100_ordered"):
        assert of_two[key] == pytest.approx(of_one[key], rel=1e-6), key


def test_two_processes_choose_from_the_whole_pool(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    of_two, of_one = reports
    assert of_two["avg_bleu"] == pytest.approx(of_one["avg_bleu"], rel=1e-6)


def test_two_processes_evaluate_and_sign_the_sum(trained: Path) -> None:
    evaluation = ("-mf", "model", *SAMPLE, *TWO, "-dt", "test", "--report-filename", "together.json")
    result = succeeded(parlai_command("multiprocessing_eval", *evaluation, cwd=trained))
    report = json.loads((trained / "together.json").read_text())["report"]
    of_train = json.loads((trained / "model.trainstats").read_text())["final_test_report"]
    assert report["p_at_1_100_shuffled"] == pytest.approx(of_train["p_at_1_100_shuffled"], rel=1e-6)
    signatures = [line for line in (result.stdout + result.stderr).splitlines() if "P@k,100|protocol:ordered" in line]
    # The test fold has 142 replies; blocks of 100 leave 100 of them. Neither process alone has a block.
    assert signatures
    assert all("|n:100|" in line for line in signatures)


def test_same_seed_same_weights(trained: Path, tmp_path: Path) -> None:
    succeeded(multiprocessing_train(tmp_path, *TWO, "--seed", "1"))
    assert are_equal(weights(tmp_path / "model"), weights(trained / "model"))


@pytest.mark.parametrize("number", ["0", "-1"])
def test_no_process_at_all_is_an_error_in_one_line(tmp_path: Path, number: str) -> None:
    result = multiprocessing_train(tmp_path, "--distributed-world-size", number)
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: --distributed-world-size")
    assert "--distributed-world-size 2" in last


def test_missing_data_end_all_processes_with_one_line(tmp_path: Path) -> None:
    # The first process fails before the two have met; the second must not go on waiting for it, nor `run` for both.
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
def test_one_failing_process_ends_them_all(tmp_path: Path, rank: str) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    result = multiprocessing_train(tmp_path, *TWO, "-m", "failing:FailingAgent", FAILING_RANK=rank)
    assert result.returncode == 1
    assert "ZeroDivisionError: on purpose" in result.stdout + result.stderr


def test_distributed_train_under_slurm(trained: Path, tmp_path: Path) -> None:
    scontrol = tmp_path / "bin" / "scontrol"  # what SLURM has for listing the hosts of a job
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


# --- the same, part by part -------------------------------------------------------------------------------------------


def options(**values: Any) -> Any:
    return TrainModel.setup_args().parse_kwargs(
        task="empathy:empathetic_dialogues", edition="sample", model="empathy:retrieval", **values
    )


def test_the_first_process_alone_builds_the_dictionary(tmp_path: Path) -> None:
    opt = options(model_file=str(tmp_path / "model"))
    repairs._build_dictionary(opt, rank=1)
    assert not (tmp_path / "model.dict").exists()
    repairs._build_dictionary(opt, rank=0)
    assert (tmp_path / "model.dict").exists()
    assert opt["dict_file"] is None  # the options themselves are as they were


def test_a_dictionary_is_built_where_it_is_asked_for_and_not_built_twice(tmp_path: Path) -> None:
    opt = options(dict_file=str(tmp_path / "words"))  # and no model file, which ParlAI allows
    repairs._build_dictionary(opt, rank=0)
    assert (tmp_path / "words").exists()
    (tmp_path / "words").write_text("untouched\t1\n")
    repairs._build_dictionary(opt, rank=0)
    assert (tmp_path / "words").read_text() == "untouched\t1\n"


def test_without_a_process_group_nothing_is_gathered_from_elsewhere() -> None:
    from parlai.utils.distributed import all_gather_list

    assert all_gather_list({"any": ["data"]}) == [{"any": ["data"]}]


def test_on_cpus_wrappers_and_joins_name_no_device(process_group: None) -> None:
    from parlai.utils.fsdp import JoinableEvaluator, JoinableTrainLoop

    plain = torch.nn.parallel.DistributedDataParallel
    with repairs._wrap_without_devices(weakref.WeakSet()):
        wrapper = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2), device_ids=[-1])
        assert isinstance(wrapper, plain)  # ParlAI asks
    assert torch.nn.parallel.DistributedDataParallel is plain
    for loop in (JoinableTrainLoop, JoinableEvaluator):
        assert loop.join_device.fget(None) == torch.device("cpu")


def test_still_needed_parlai_takes_gpus_for_granted(process_group: None) -> None:
    distributed: Any = unrepaired("parlai.utils.distributed")
    assert 'backend="nccl"' in inspect.getsource(distributed.distributed_context)
    assert ".cuda()" in inspect.getsource(distributed.all_gather_list)
    assert "[self.opt['gpu']]" in source_of("parlai.core.torch_ranker_agent")  # what it calls the GPU of its wrapper
    with pytest.raises((ValueError, RuntimeError, AssertionError)):
        torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2), device_ids=[-1])
    assert "self.__device = opt['gpu']" in source_of("parlai.utils.fsdp")
    with pytest.raises(RuntimeError):
        torch.zeros(1, device=-1)


def test_still_needed_parlai_builds_no_dictionary_and_seeds_nothing_in_several_processes() -> None:
    assert "Dictionaries should be pre-built before distributed train." in source_of("parlai.scripts.build_dict")
    assert "seed" not in source_of("parlai.scripts.multiprocessing_train")
    assert "seed" not in source_of("parlai.scripts.distributed_train")
