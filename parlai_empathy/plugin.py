"""Registers this package with ParlAI.

Only this module, :mod:`parlai_empathy.prefix` and :mod:`parlai_empathy.repairs` modify ParlAI's globals.

:mod:`parlai_empathy.hook` calls :func:`before_import` and :func:`after_import` around the import of each ParlAI module
in the two tables at the end, so that every module is patched before any code uses it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from parlai_empathy.errors import EmpathyError
from parlai_empathy.prefix import PACKAGE, register_prefix
from parlai_empathy.repairs import (
    background_workers,
    decoding,
    end_of_training,
    evaluation_batches,
    gradient_norm,
    help_pages,
    interruption,
    learning_rate,
    missing_options,
    model_files,
    nothing_to_learn,
    output_folders,
    package_resources,
    resumed_training,
    several_cpus,
    training_options,
    typed_values,
    validation_metric,
)

TESTED_PARLAI = "1.7.2"


def check_version(parlai: ModuleType) -> None:
    """Warn, in one line, about a version of ParlAI that this package was not tested with."""
    if parlai.__version__ != TESTED_PARLAI:
        warnings.warn(
            f"parlai-empathy is made for ParlAI {TESTED_PARLAI} and found {parlai.__version__}: "
            f"pip install --no-deps parlai=={TESTED_PARLAI}",
            stacklevel=2,
        )


def print_errors_in_one_line(parlai: ModuleType) -> None:
    """Print our errors as one line, without a traceback; likewise Ctrl-C in ``parlai``."""
    previous = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        debug = any(argument.lower().removeprefix("--loglevel=") == "debug" for argument in sys.argv)
        if issubclass(kind, EmpathyError) and not debug:
            print(f"error: {error}", file=sys.stderr)
        elif issubclass(kind, KeyboardInterrupt) and not debug and _is_parlai_command(sys.argv):
            print("\nStopped.", file=sys.__stderr__)  # torch.distributed's hook buffers sys.stderr until we return
            raise SystemExit(128 + signal.SIGINT)  # as in shells
        else:
            previous(kind, error, traceback)

    sys.excepthook = excepthook


def _is_parlai_command(arguments: list[str]) -> bool:
    """Whether this process is ``parlai`` or ``python -m parlai``; other programs handle Ctrl-C themselves."""
    program = Path(*arguments[:1])
    return program.stem == "parlai" or program.parts[-2:] == ("parlai", "__main__.py")


# --- sub-commands, zoo, data, metrics --------------------------------------------------------------------------------


def register_scripts(script: Any) -> None:
    """Make our scripts sub-commands of ``parlai``, and ``distributed_train``, which ParlAI does not register."""
    setup_parlais = script.setup_script_registry

    def setup_script_registry() -> None:
        setup_parlais()
        distributed = importlib.import_module("parlai.scripts.distributed_train")
        script.register_script("distributed_train", hidden=True)(distributed.DistributedTrain)
        ours = importlib.import_module(f"{PACKAGE}.scripts")
        for module in pkgutil.iter_modules(ours.__path__, f"{PACKAGE}.scripts."):
            if not module.ispkg:
                importlib.import_module(module.name)

    script.setup_script_registry = setup_script_registry


def run_script(name: str) -> None:
    """Import a ParlAI module from the tables and run its script: what ``python -m`` does with such a module."""
    module = importlib.import_module(name)
    parlai_script = importlib.import_module("parlai.core.script").ParlaiScript
    kinds: list[Any] = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == name]
    for kind in kinds:
        if issubclass(kind, parlai_script):
            kind.main()


def register_zoo(zoo: Any) -> None:
    """Register our models as ``zoo:empathy/<name>/model``: ParlAI imports ``parlai.zoo.empathy.<name>`` to download."""
    ours = importlib.import_module(f"{PACKAGE}.zoo")
    sys.modules["parlai.zoo.empathy"] = zoo.empathy = ours
    for name, model in importlib.import_module(f"{PACKAGE}.zoo.model_list").MODELS.items():
        module: Any = ModuleType(f"parlai.zoo.empathy.{name}", model.title)
        module.download = model.download
        sys.modules[module.__name__] = module


def use_our_builder(build_module: Any) -> None:
    """Make ParlAI's ``-t empathetic_dialogues`` get data as ours does: also from a mirror, or end in one line."""

    def build(opt: dict[str, Any]) -> None:
        from parlai_empathy.task_kit.builder import obtain
        from parlai_empathy.tasks.empathetic_dialogues.build import SOURCE

        obtain(opt["datapath"], SOURCE)

    build_module.build = build


def register_metrics(metrics: Any) -> None:
    """Register our metrics' display names, and log the metrics' signatures at the end of an evaluation."""
    names = importlib.import_module(f"{PACKAGE}.metrics.names").METRIC_NAMES
    metrics.METRICS_DISPLAY_DATA.update({key: metrics.MetricDisplayData(*text) for key, text in names.items()})
    metrics.aggregate_named_reports = _log_signatures(metrics.aggregate_named_reports, of_processes=False)
    metrics.aggregate_unnamed_reports = _log_signatures(metrics.aggregate_unnamed_reports, of_processes=True)


def _log_signatures(aggregate: Callable[..., Any], of_processes: bool) -> Callable[..., Any]:
    """Wrap ``aggregate`` to log the signatures of the final report.

    With several processes that is the report aggregated over the processes, with one the report over the tasks.
    """

    @functools.wraps(aggregate)
    def aggregate_and_log(*args: Any, **kwargs: Any) -> Any:
        from parlai_empathy.signature import signature_lines

        report = aggregate(*args, **kwargs)
        if importlib.import_module("parlai.utils.distributed").is_distributed() == of_processes:
            for line in signature_lines(report):
                importlib.import_module("parlai.utils.logging").info(line)
        return report

    return aggregate_and_log


# --- which patch is applied when -------------------------------------------------------------------------------------

_BEFORE: dict[str, Callable[[], None]] = {"parlai.core.opt": package_resources.lend_pkg_resources}

_AFTER: dict[str, list[Callable[[Any], None]]] = {
    "parlai": [check_version, print_errors_in_one_line],
    "parlai.core.loader": [register_prefix],
    "parlai.core.script": [register_scripts, help_pages.list_options_once],
    "parlai.core.metrics": [register_metrics],
    "parlai.zoo": [register_zoo],
    "parlai.tasks.empathetic_dialogues.build": [use_our_builder],
    "parlai.core.opt": [
        package_resources.take_back_pkg_resources,
        model_files.write_options_whole,
        model_files.report_broken_options,
        missing_options.report_missing_file,
    ],
    "parlai.core.params": [
        typed_values.keep_underscores,
        typed_values.override_saved_value,
        missing_options.report_unknown_in_file,
    ],
    "parlai.core.dict": [model_files.write_dictionaries_whole],
    "parlai.core.mutators": [missing_options.report_unknown_mutator],
    "parlai.core.teachers": [missing_options.report_unknown_after_task],
    "parlai.core.agents": [model_files.report_missing_models, missing_options.report_missing_model],
    "parlai.core.torch_agent": [
        model_files.report_full_disk,
        learning_rate.use_given_rate,
        learning_rate.resume_at_same_rate,
        training_options.report_unfit_optimizer,
        gradient_norm.compute_norm_at_once,
    ],
    "parlai.nn.lr_scheduler": [
        learning_rate.reduce_on_plateau,
        learning_rate.reach_full_rate,
        training_options.report_missing_length,
    ],
    "parlai.scripts.train_model": [
        resumed_training.keep_best_model,
        resumed_training.forget_other_measure,
        resumed_training.resume_from_newest,
        resumed_training.draw_other_examples,
        end_of_training.only_evaluate_finished,
        end_of_training.validate_at_end,
        interruption.save_on_signal,
        model_files.write_stats_whole,
        model_files.report_broken_stats,
        nothing_to_learn.keep_options,
        training_options.check_training_options,
        training_options.report_missing_metric,
        validation_metric.keep_the_lowest,
        validation_metric.forget_undefined,
    ],
    "parlai.scripts.interactive": [interruption.save_what_was_said],
    "parlai.scripts.self_chat": [interruption.save_what_was_said, missing_options.check_self_chat],
    "parlai.scripts.build_dict": [background_workers.build_dictionary_without_workers],
    "parlai.core.worlds": [
        background_workers.seed_workers,
        background_workers.take_turns,
        background_workers.send_as_bytes,
        background_workers.outlive_signals,
        missing_options.report_missing_task,
    ],
    "parlai.utils.distributed": [several_cpus.train_on_several_cpus],
    "parlai.utils.conversations": [output_folders.keep_numbers],
    "parlai.utils.world_logging": [output_folders.make_for_logs, output_folders.check_for_logs],
    "parlai.scripts.eval_model": [
        output_folders.make_for_reports,
        output_folders.check_report,
        evaluation_batches.tell_agents,
        missing_options.check_evaluation,
    ],
    "parlai.utils.fsdp": [several_cpus.join_on_several_cpus],
    "parlai.core.torch_generator_agent": [decoding.lend_nucleus_helpers],
    "parlai.agents.hugging_face.gpt2": [decoding.reorder_gpt2_cache, decoding.rename_gpt2_cache],
}


def watched_modules() -> set[str]:
    """Return the names of the ParlAI modules in the tables."""
    return set(_BEFORE) | set(_AFTER)


def before_import(name: str) -> None:
    """Apply the patch that precedes the execution of ParlAI's module ``name``, if any."""
    if name in _BEFORE:
        _BEFORE[name]()


def after_import(name: str, module: ModuleType) -> None:
    """Apply the patches that follow the execution of ParlAI's module ``name``."""
    for action in _AFTER.get(name, []):
        action(module)
