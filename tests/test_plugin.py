"""What the plug-in registers with ParlAI: zoo, sub-commands, metrics, errors."""

from __future__ import annotations

import importlib
import logging as python_logging
import shutil
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import parlai.core.metrics
import parlai.core.script
import pytest
from parlai.core import loader
from parlai.core.build_data import modelzoo_path
from parlai.core.metrics import METRICS_DISPLAY_DATA, AverageMetric
from parlai_as_it_comes import source_of
from processes import SAMPLE, TINY, CleanPython, parlai_command, run, succeeded

from parlai_empathy import plugin
from parlai_empathy.errors import ModelFileError
from parlai_empathy.metrics import precision_at_k
from parlai_empathy.metrics.avg_bleu import AvgBleu, bleu_statistics
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE as SAMPLE_FILES

# --- zoo and data ----------------------------------------------------------------------------------------------------


def test_existing_zoo_model_resolves_to_its_path(tmp_path: Path) -> None:
    model = tmp_path / "models" / "empathy" / "retrieval_sample" / "model"
    model.parent.mkdir(parents=True)
    model.touch()
    assert modelzoo_path(str(tmp_path), "zoo:empathy/retrieval_sample/model") == str(model)
    assert modelzoo_path(str(tmp_path), "models:empathy/retrieval_sample/model") == str(model)


def test_missing_zoo_model_error_names_training_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    with pytest.raises(ModelFileError) as caught:
        modelzoo_path(str(tmp_path), "zoo:empathy/retrieval_sample/model")
    message = str(caught.value)
    assert "\n" not in message
    assert "zoo:empathy/retrieval_sample/model" in message
    assert "parlai train_model -t empathy:empathetic_dialogues --edition sample" in message
    assert "EMPATHY_MIRROR" in message


def test_unknown_zoo_model_error_lists_available_models(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        modelzoo_path(str(tmp_path), "zoo:empathy/no_such_model/model")
    message = str(caught.value)
    assert "\n" not in message
    assert "zoo:empathy/retrieval_sample/model" in message


def test_builtin_zoo_modules_still_import() -> None:
    assert importlib.import_module("parlai.zoo.blender.blender_90M").__file__


def test_builtin_task_builds_from_the_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SAMPLE_FILES, tmp_path / "mirror" / "empatheticdialogues")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    importlib.import_module("parlai.tasks.empathetic_dialogues.build").build({"datapath": str(tmp_path / "data")})
    built = tmp_path / "data" / "empatheticdialogues" / "empatheticdialogues"  # where ParlAI's teacher reads it
    assert (built / "test.csv").read_bytes() == (SAMPLE_FILES / "test.csv").read_bytes()


# --- sub-commands ----------------------------------------------------------------------------------------------------


def test_subcommands_are_registered() -> None:
    parlai.core.script.setup_script_registry()
    registered = loader.SCRIPT_REGISTRY
    assert registered["empathy_demo"].klass.__module__ == "parlai_empathy.scripts.empathy_demo"
    assert not registered["empathy_demo"].hidden
    assert registered["distributed_train"].klass.__module__ == "parlai.scripts.distributed_train"
    assert registered["distributed_train"].hidden  # as multiprocessing_train is
    assert {"train_model", "eval_model", "interactive"} <= set(registered)


def test_every_script_is_a_subcommand_with_a_description() -> None:
    parlai.core.script.setup_script_registry()
    folder = Path(plugin.__file__).parent / "scripts"
    for name in (path.stem for path in folder.glob("[!_]*.py")):
        assert loader.SCRIPT_REGISTRY[name].klass.setup_args().description, name


# --- metrics ---------------------------------------------------------------------------------------------------------


def test_every_metric_has_a_title_and_description() -> None:
    protocols = ("shuffled", "ordered", "inline")
    keys = [precision_at_k.key(k, protocol) for k in precision_at_k.CUTOFFS for protocol in protocols]
    for key in [*keys, "avg_bleu"]:
        assert METRICS_DISPLAY_DATA[key].title
        assert METRICS_DISPLAY_DATA[key].description
    assert METRICS_DISPLAY_DATA["f1"].title == "F1"  # ParlAI's own metrics are kept


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """The messages logged by ParlAI's logger during the test."""
    lines: list[str] = []

    class Keep(python_logging.Handler):
        def emit(self, record: python_logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger = importlib.import_module("parlai.utils.logging").logger
    handler, level = Keep(), logger.level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield lines
    logger.setLevel(level)
    logger.removeHandler(handler)


def bleu() -> AvgBleu:
    return AvgBleu(bleu_statistics(["a", "b"], ["a", "b"]), tokens="split", split="test")


def test_metric_signature_is_logged_after_evaluation(logged: list[str]) -> None:
    metric = bleu()
    report = parlai.core.metrics.aggregate_named_reports({"task": {"avg_bleu": metric, "f1": AverageMetric(1, 2)}})
    assert logged == [f"avg_bleu: {metric.signature}"]
    assert set(report) == {"avg_bleu", "f1"}  # the report itself is unchanged


def test_no_signature_is_logged_for_training_steps(logged: list[str]) -> None:
    parlai.core.metrics.aggregate_named_reports({"task": {"loss": AverageMetric(1, 2)}})
    parlai.core.metrics.aggregate_unnamed_reports([{"avg_bleu": bleu()}])  # the parts of one process
    assert logged == []


def test_distributed_evaluation_logs_one_signature_for_the_total(logged: list[str], process_group: None) -> None:
    parlai.core.metrics.aggregate_named_reports({"task": {"avg_bleu": bleu()}})
    assert logged == []
    parlai.core.metrics.aggregate_unnamed_reports([{"avg_bleu": bleu()}, {"avg_bleu": bleu()}])
    assert len(logged) == 1
    assert "|n:2|" in logged[0]


# --- errors ----------------------------------------------------------------------------------------------------------


def test_command_line_errors_are_one_line(tmp_path: Path) -> None:
    result = parlai_command("train_model", *SAMPLE, *TINY, "--n-heads", "3", "-mf", tmp_path / "model", cwd=tmp_path)
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    # TINY's embedding size is 16, which 3 does not divide.
    assert result.stderr.splitlines()[-1] == "error: --n-heads 3: must divide --embedding-size 16"
    assert result.stderr.count("error: ") == 1


RAISE = "import parlai; from parlai_empathy.errors import DataError; raise DataError('x.csv, line 2: no comma')"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> CleanPython:
    """A Python with the hook and a stub of ParlAI that has only a version, which starts quickly."""
    clean = CleanPython(tmp_path_factory.mktemp("plugin") / "env")
    clean.add_hook()
    clean.add_package("parlai", "__version__ = '1.7.2'")
    return clean


def test_error_shows_only_its_message_without_debug_loglevel(python: CleanPython) -> None:
    result = run([python.python, "-c", RAISE, "--loglevel", "info"], python.home)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "error: x.csv, line 2: no comma\n")


@pytest.mark.parametrize("debug", [["--loglevel", "debug"], ["--loglevel=debug"], ["--loglevel", "DEBUG"]])
def test_debug_loglevel_shows_the_traceback(python: CleanPython, debug: list[str]) -> None:
    result = run([python.python, "-c", RAISE, *debug], python.home)
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback")
    assert result.stderr.endswith("DataError: x.csv, line 2: no comma\n")


def test_missing_dependency_error_shows_only_its_message(python: CleanPython) -> None:
    code = "import parlai; from parlai_empathy.errors import MissingDependencyError as E; raise E('pip install x')"
    assert run([python.python, "-c", code], python.home).stderr == "error: pip install x\n"


def test_foreign_errors_keep_their_traceback(python: CleanPython) -> None:
    result = run([python.python, "-c", "import parlai; raise ValueError('theirs')"], python.home)
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback")
    assert result.stderr.endswith("ValueError: theirs\n")


@pytest.mark.parametrize("program", ["/bin/parlai", "parlai.exe", "/lib/parlai/__main__.py"])
def test_ctrl_c_stops_parlai_commands_without_traceback(python: CleanPython, program: str) -> None:
    code = f"import sys; sys.argv = ['{program}', 'train_model']; import parlai; raise KeyboardInterrupt"
    ended = run([python.python, "-c", code], python.home)
    assert (ended.returncode, ended.stderr) == (130, "\nStopped.\n")


@pytest.mark.parametrize("program", ["train.py", "/home/parlai/train.py", "/lib/other/__main__.py", "-c", None])
def test_ctrl_c_in_other_programs_keeps_the_traceback(python: CleanPython, program: str | None) -> None:
    arguments = [program, "train_model"] if program else []
    code = f"import sys; sys.argv = {arguments}; import parlai; raise KeyboardInterrupt"
    ended = run([python.python, "-c", code], python.home)
    assert ended.returncode == -signal.SIGINT  # shown as 130 by shells
    assert ended.stderr.startswith("Traceback")


def test_existing_excepthook_still_receives_foreign_errors(python: CleanPython) -> None:
    code = (
        "import sys; sys.excepthook = lambda *error: print('mine', error[1]); import parlai; raise ValueError('theirs')"
    )
    assert run([python.python, "-c", code], python.home).stdout == "mine theirs\n"


# --- ParlAI's version ------------------------------------------------------------------------------------------------


def test_untested_parlai_version_gives_one_warning(tmp_path: Path) -> None:
    other = CleanPython(tmp_path / "env")
    other.add_hook()
    other.add_package("parlai", "__version__ = '1.8.0'")
    result = succeeded(run([other.python, "-c", "import parlai; import parlai; print(parlai.__version__)"], other.home))
    assert result.stdout == "1.8.0\n"
    [line] = [line for line in result.stderr.splitlines() if "Warning" in line]
    for part in ("1.7.2", "found 1.8.0", "pip install --no-deps parlai==1.7.2"):
        assert part in line


def test_tested_parlai_version_gives_no_warning(python: CleanPython) -> None:
    assert python("import parlai", "-W", "error") == ""


# --- the tables ------------------------------------------------------------------------------------------------------


def test_every_watched_module_exists_in_parlai() -> None:
    for name in plugin.watched_modules():
        assert find_spec(name) is not None, name


def test_import_actions_run_once_for_their_module_only(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setitem(plugin._BEFORE, "parlai.made_up", lambda: calls.append("before"))
    monkeypatch.setitem(plugin._AFTER, "parlai.made_up", [calls.append, calls.append])
    module = ModuleType("parlai.made_up")
    assert "parlai.made_up" in plugin.watched_modules()
    for name in ("parlai.other", "parlai.made_up"):
        plugin.before_import(name)
        plugin.after_import(name, module)
    assert calls == ["before", module, module]


def test_stub_pkg_resources_is_removed_after_import() -> None:
    assert not hasattr(sys.modules.get("pkg_resources"), "lent_by_parlai_empathy")


# --- what ParlAI does without repairs --------------------------------------------------------------------------------


def test_unrepaired_parlai_does_not_register_distributed_train() -> None:
    assert "register_script" not in source_of("parlai.scripts.distributed_train")
