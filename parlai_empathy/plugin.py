"""Registers this package with ParlAI. Only this module and :mod:`parlai_empathy.repairs` modify ParlAI's globals.

:mod:`parlai_empathy.hook` calls :func:`before_import` and :func:`after_import` around the import of each ParlAI module
in the two tables at the end, so that every module is patched before any code uses it.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
import re
import signal
import sys
import warnings
from collections.abc import Callable, Container
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from parlai_empathy.errors import EmpathyError, OptionError
from parlai_empathy.repairs import (
    background_workers,
    default_scheduler,
    delayed_nucleus_beam,
    end_of_training,
    gpt2_cache,
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

PREFIX = "empathy:"
PACKAGE = "parlai_empathy"
TESTED_PARLAI = "1.7.2"

_HERE = Path(__file__).parent


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


# --- names: `empathy:x`, or plain `x` if ParlAI has no `x` -----------------------------------------------------------


def register_prefix(loader: Any) -> None:
    """Register the prefix ``empathy:`` with ParlAI's loader, for agents, tasks, teachers and worlds."""
    loader.REGISTERED_REPOS[PREFIX] = {"repo": PACKAGE, "source": "pip install parlai-empathy"}
    agents, teachers = loader.AGENT_REGISTRY, loader.TEACHER_REGISTRY
    loader.load_agent_module = _with_prefix(
        _known(_checked(loader.load_agent_module, "agents"), "agents"), "agents", agents
    )
    loader.load_task_module = _with_prefix(_checked(loader.load_task_module, "tasks"), "tasks", teachers)
    loader.load_teacher_module = _with_prefix(
        _known(_checked(loader.load_teacher_module, "tasks"), "tasks"), "tasks", teachers
    )
    loader.load_world_module = _with_prefix(_wrap_world_loader(loader.load_world_module), "tasks", teachers)


def canonical_name(name: str, kind: str) -> str:
    """Return ``name``, with the prefix ``empathy:`` if this package has that name and ParlAI does not.

    :param name: the value of ``-t`` or ``-m``, including teacher and options.
    :param kind: ``"tasks"`` or ``"agents"``.
    """
    name = name.strip()
    head = re.split("[:/]", name)[0]
    if _is_ours(head, kind) and not _parlai_has(head, kind):
        return PREFIX + name
    return name


@functools.cache
def _parlai_has(name: str, kind: str) -> bool:
    import parlai

    return (Path(parlai.__file__).parent / kind / name).is_dir()


def _with_prefix(load: Callable[..., Any], kind: str, registered: Container[str]) -> Callable[..., Any]:
    """Wrap ``load`` to accept our names without prefix; names that a user's script has registered take precedence."""

    @functools.wraps(load)
    def load_canonical(name: str, *args: Any, **kwargs: Any) -> Any:
        return load(name if name in registered else canonical_name(name, kind), *args, **kwargs)

    return load_canonical


def _checked(load: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """Wrap ``load`` so that an unknown name with our prefix raises a one-line error that lists the known ones."""

    @functools.wraps(load)
    def load_checked(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith(PREFIX):
            head, *rest = name.removeprefix(PREFIX).split(":")
            name = ":".join([PREFIX + head.lower(), *filter(None, rest)])  # ParlAI lower-cases task names too
            _check_name(name.removeprefix(PREFIX), kind)
        try:
            return load(name, *args, **kwargs)
        except AttributeError as error:
            told = _no_such_teacher(name, error)
            if told is None:
                raise
            raise told from error

    return load_checked


def _check_name(name: str, kind: str) -> None:
    """Raise :class:`OptionError` unless the task exists, or the agent and, after a ``/``, its base agent."""
    wanted, *rest = re.split("[:/]", name.lower())
    if not _is_ours(wanted, kind):
        raise _unknown(PREFIX + wanted, kind)
    if kind == "agents" and "/" in name and not (_HERE / kind / wanted / f"{rest[0]}.py").is_file():
        raise OptionError(f"{PREFIX}{name}: there is no such agent; the part before the / is one")


def _known(load: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """Wrap ``load`` so that a name that ParlAI does not know raises a one-line error that suggests a close one.

    Not for ``load_task_module``: ParlAI passes it unions of tasks, and goes on if that fails.
    """

    @functools.wraps(load)
    def load_known(name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return load(name, *args, **kwargs)
        except ModuleNotFoundError as error:
            head = re.split("[:/]", name)[0].lower()
            if str(error.name).lower().split(".")[:3] != ["parlai", kind, head]:
                raise  # something that the agent or task imports is missing
            raise _unknown(name, kind) from error

    return load_known


def _unknown(name: str, kind: str) -> OptionError:
    """Return the error for an unknown name, which asks whether a close one was meant, or lists this package's names."""
    import parlai

    own = _own(kind)
    short = [one.removeprefix(PREFIX) for one in own]
    plain = ":".join(part for part in name.split(":") if "=" not in part)
    if plain.startswith(PREFIX):  # by itself it makes all names close
        close = [PREFIX + one for one in difflib.get_close_matches(plain.removeprefix(PREFIX), short, n=1)]
    else:
        others = [path.name for path in (Path(parlai.__file__).parent / kind).iterdir() if path.is_dir()]
        close = difflib.get_close_matches(plain, [*own, *short, *others], n=1)
    advice = f"did you mean {close[0]}?" if close else f"those of this package are {', '.join(own)}"
    return OptionError(f"{name}: there is no such {kind.removesuffix('s')}; {advice}")


def _own(kind: str) -> list[str]:
    """Return the names of this package's agents or tasks, with the prefix."""
    return sorted(PREFIX + path.parent.name for path in (_HERE / kind).glob("*/__init__.py"))


def _no_such_teacher(name: str, error: AttributeError) -> OptionError | None:
    """Return the error for an unknown teacher of one of our tasks; ``None`` if ``error`` has another cause."""
    module = error.obj
    if not (isinstance(module, ModuleType) and str(error.name).endswith("Teacher")):
        return None
    if not module.__name__.startswith(f"{PACKAGE}.tasks."):
        return None
    own = [key for key, kind in vars(module).items() if getattr(kind, "__module__", None) == module.__name__]
    teachers = {key.removesuffix("Teacher") for key in own if key.endswith("Teacher")}
    task = module.__name__.split(".")[2].replace("_", "")
    there_are = ", ".join(sorted(key for key in teachers if key.lower() != task))  # without the base class
    return OptionError(f"{name}: there is no such teacher; available: {there_are}")


def _is_ours(name: str, kind: str) -> bool:
    return name.isidentifier() and (_HERE / kind / name / "__init__.py").is_file()


def _wrap_world_loader(load_world_module: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``load_world_module``: it searches only ParlAI's own tasks, but accepts the full path of ours."""

    @functools.wraps(load_world_module)
    def load(taskname: str, *args: Any, **kwargs: Any) -> Any:
        if taskname.startswith(PREFIX):
            task, *rest = taskname[len(PREFIX) :].split(":")
            teacher = [part for part in rest if part and "=" not in part][:1]
            taskname = ":".join([f"{PACKAGE}.tasks.{task.lower()}.agents", *teacher])
        return load_world_module(taskname, *args, **kwargs)

    return load


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
        from parlai_empathy.tasks.builder import obtain
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
    "parlai.core.mutators": [missing_options.report_unknown_mutator],
    "parlai.core.teachers": [missing_options.report_unknown_after_task],
    "parlai.core.agents": [model_files.report_missing_models, missing_options.report_missing_model],
    "parlai.core.torch_agent": [
        model_files.report_full_disk,
        learning_rate.use_given_rate,
        learning_rate.resume_at_same_rate,
    ],
    "parlai.nn.lr_scheduler": [default_scheduler.reduce_on_plateau],
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
    ],
    "parlai.scripts.build_dict": [background_workers.build_dictionary_without_workers],
    "parlai.core.worlds": [
        background_workers.seed_workers,
        background_workers.outlive_signals,
        missing_options.report_missing_task,
    ],
    "parlai.utils.distributed": [several_cpus.train_on_several_cpus],
    "parlai.utils.world_logging": [output_folders.make_for_logs],
    "parlai.scripts.eval_model": [
        output_folders.make_for_reports,
        output_folders.report_missing_base,
        missing_options.check_evaluation,
    ],
    "parlai.utils.fsdp": [several_cpus.join_on_several_cpus],
    "parlai.core.torch_generator_agent": [delayed_nucleus_beam.lend_nucleus_helpers],
    "parlai.agents.hugging_face.gpt2": [gpt2_cache.reorder_gpt2_cache],
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
