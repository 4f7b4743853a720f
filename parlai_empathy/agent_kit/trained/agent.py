"""A trained agent: finding its file, checking its class before anything is loaded, and loading it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from parlai.core.agents import create_agent_from_model_file
from parlai.core.build_data import modelzoo_path
from parlai.core.loader import load_agent_module
from parlai.core.opt import Opt

from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError, one_line
from parlai_empathy.files.user_path import user_path
from parlai_empathy.modules.fingerprint import weights_fingerprint


def check_agent(model_file: str, method: str, otherwise: str, datapath: str | None = None) -> Path:
    """Return the path of a trained agent, after checking that it has a method.

    :param model_file: a path, or a name in the zoo if ``datapath`` is given.
    :param otherwise: end of the error message for an agent without the method: what is wrong, and what to name instead.
    :raises ModelFileError: if there is no model, or the zoo cannot provide it.
    :raises OptionError: if the agent lacks the method.
    """
    path = model_path(model_file, datapath)
    opt = model_options(path)
    if not hasattr(agent_class(opt, f"{path}.opt"), method):
        raise OptionError(f"{path}: {opt['model']} {otherwise}")
    return path


def model_path(model_file: str, datapath: str | None) -> Path:
    """Return the path of a model file, or of a name in the zoo (``zoo:...``), which is downloaded if needed.

    :param datapath: ParlAI's data folder; without it names in the zoo are taken for paths.
    :raises ModelFileError: if the zoo has no such model, or it cannot be downloaded.
    """
    if not datapath:
        return user_path(model_file)
    with _in_one_line(f"{model_file} is not available", "check the spelling and the network, or name another model"):
        return user_path(modelzoo_path(datapath, model_file))


def model_options(model_file: str | Path, flag: str = "") -> Opt:
    """Return the options in ``<model>.opt``, which name an agent.

    :param flag: the option that names the model, for errors.
    :raises ModelFileError: if there is no model, or its options cannot be read.
    """
    path = user_path(model_file)
    where = f"{flag} {path}".lstrip()
    options = path.with_name(f"{path.name}.opt") if path.name else path
    try:
        is_there = path.is_file() and options.is_file()
    except OSError as error:
        raise ModelFileError(f"{where} cannot be read ({error.strerror}): name another model") from error
    if not is_there and path.is_dir():
        raise ModelFileError(f"{where} is a folder: name the model in it, such as {path / 'model'}")
    if not is_there:
        raise ModelFileError(f"{where} is not a trained model: {path.name} and {path.name}.opt must exist")
    with _agent_named_in_errors(f"{where}.opt"):
        opt = json.loads(options.read_text(encoding="utf-8"))
        if not isinstance(opt, dict) or not isinstance(opt["model"], str):
            raise TypeError("expected options in JSON, including an agent's name")
    return Opt(opt)


def described(model_file: str) -> str:
    """Return a model's path and agent, for errors, as ``-m`` may name another; the path alone if none can be read."""
    with suppress(ModelFileError):
        return f"{model_file}, a model of {model_options(model_file)['model']},"
    return model_file


def task_option(opt: Mapping[str, Any], option: str) -> Any:
    """Return an option of a model's training task: appended to the task's name or set by itself; None if unset."""
    behind = [part for part in str(opt.get("task")).split(":") if part.startswith(f"{option}=")]
    return behind[0].partition("=")[2] if behind else opt.get(option)


def agent_class(opt: Mapping[str, Any], where: str | Path) -> Any:
    """Return the agent class named in a model's options.

    :param where: the file that the options came from, for errors.
    :raises ModelFileError: if they do not name an agent that can be found.
    """
    with _agent_named_in_errors(where):
        try:
            return load_agent_module(opt["model"])
        except OptionError as error:  # there is no agent of this name
            raise ModelFileError(f"{where} names no agent ({error}): train the model again") from error


def load_agent(path: Path, options: Mapping[str, Any] | None = None, flag: str = "") -> Any:
    """Load the agent.

    :param options: override its own options.
    :param flag: the option that names the model, for errors.
    :raises ModelFileError: if it cannot be loaded.
    """
    with loading(f"{flag} {path}".lstrip()):
        return create_agent_from_model_file(str(path), Opt(options or {}))


def loading(what: str) -> AbstractContextManager[None]:
    """Convert errors in this context to one line; options that another program wrote can be wrong in any way.

    :raises ModelFileError: on any error that is not already one of this package's.
    """
    return _in_one_line(f"{what} cannot be loaded", "train it again, or name another")


def weights_of(agent: Any) -> str:
    """Return a digest of an agent's weights, for signatures: retraining the same agent changes its results."""
    return weights_fingerprint(getattr(agent, "bare_model", agent.model))[:8]


def _agent_named_in_errors(where: str | Path) -> AbstractContextManager[None]:
    """ParlAI's loader raises a different error for each way in which a name can be wrong."""
    return _in_one_line(f"{where} names no agent", "train the model again")


@contextmanager
def _in_one_line(what: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except EmpathyError:
        raise
    except Exception as error:
        raise ModelFileError(f"{what} ({type(error).__name__}: {one_line(error)}): {remedy}") from error
