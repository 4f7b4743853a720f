"""The files beside a model's weights: atomic writes, and one clear line for a missing or broken file.

ParlAI writes a model's weights, ``<model>``, atomically. It writes the options, ``<model>.opt``, and the training's
progress, ``<model>.trainstats``, in place, so that ``kill -9`` during a write leaves half a file, from which no
training can resume. Of the dictionary, ``<model>.dict``, half a file is worse: the next training takes it for a whole
one. A missing file ends in a traceback.

The contents of weights and dictionaries are checked by the agents.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_empathy.errors import ModelFileError

# --- atomic writes --------------------------------------------------------------------------------------


def write_options_whole(opt_module: Any) -> None:
    """Write options to another file first, which then replaces the old one."""
    save = opt_module.Opt.save

    @functools.wraps(save)
    def save_whole(self: Any, filename: str) -> None:
        save(self, f"{filename}.unfinished")
        os.replace(f"{filename}.unfinished", filename)

    opt_module.Opt.save = save_whole


def write_stats_whole(train_model: Any) -> None:
    """Write a training's progress to another file first, which then replaces the old one."""
    save = train_model.TrainLoop._save_train_stats

    @functools.wraps(save)
    def save_whole(self: Any, suffix: str | None = None) -> None:
        suffix = suffix or ""
        save(self, f"{suffix}.unfinished")
        beginning = f"{self.opt.get('model_file')}{suffix}"
        if self.opt.get("model_file") and train_model.is_primary_worker():  # otherwise ParlAI wrote none
            os.replace(f"{beginning}.unfinished.trainstats", f"{beginning}.trainstats")

    train_model.TrainLoop._save_train_stats = save_whole


def write_dictionaries_whole(dict_module: Any) -> None:
    """Write a dictionary to another file first, which then replaces the old one.

    Those of byte pairs, which write files of their own beside it, and those that are appended to are left to ParlAI.
    """
    save, log = dict_module.DictionaryAgent.save, dict_module.logging

    @functools.wraps(save)
    def save_whole(self: Any, filename: str | None = None, append: bool = False, sort: bool = True) -> None:
        if append or hasattr(self, "bpe"):
            save(self, filename, append, sort)
            return
        path = filename or self.opt["dict_file"]
        log.info(f"Saving dictionary to {path}")
        log.disable()  # ParlAI would name the other file
        try:
            save(self, f"{path}.unfinished", append, sort)
        finally:
            log.enable()
        for ending in (".opt", ""):  # the words last: a dictionary is there if they are
            os.replace(f"{path}.unfinished{ending}", f"{path}{ending}")

    dict_module.DictionaryAgent.save = save_whole


def report_full_disk(torch_agent: Any) -> None:
    """Report weights that cannot be written, as on a full disk, in one line, and remove the incomplete file."""
    save = torch_agent.atomic_save

    @functools.wraps(save)
    def save_or_raise(state_dict: Any, path: str) -> None:
        try:
            save(state_dict, path)
        except (OSError, RuntimeError) as error:
            # Torch raises a RuntimeError of its own where a write fails.
            if isinstance(error, RuntimeError) and "inline_container" not in str(error):
                raise
            Path(f"{path}.tmp").unlink(missing_ok=True)
            reason = getattr(error, "strerror", None) or "is its disk full?"
            raise ModelFileError(
                f"{path} could not be written ({reason}): make room, and the same command resumes from the last "
                "checkpoint"
            ) from error

    torch_agent.atomic_save = save_or_raise


# --- missing or broken ------------------------------------------------------------------------------------------------


def report_missing_models(agents: Any) -> None:
    """Name the missing file if an agent cannot be created without it, and suggest what exists instead."""
    make = agents.create_agent

    @functools.wraps(make)
    def create_agent(opt: Any, requireModelExists: bool = False) -> Any:
        try:
            return make(opt, requireModelExists)
        except (RuntimeError, KeyError) as error:
            what_is_missing = _missing_part(opt, requireModelExists)
            if what_is_missing is None:
                raise
            raise ModelFileError(what_is_missing) from error

    agents.create_agent = create_agent


def report_broken_options(opt_module: Any) -> None:
    """Name a file of options that cannot be read."""
    load = opt_module.Opt.load.__func__

    @functools.wraps(load)
    def load_or_name(cls: Any, optfile: Any) -> Any:
        try:
            return load(cls, optfile)
        except json.JSONDecodeError as error:
            raise ModelFileError(
                f"{optfile}, line {error.lineno}: not valid JSON ({error.msg}): fetch the file again, or train again"
            ) from error

    opt_module.Opt.load = classmethod(load_or_name)


def report_broken_stats(train_model: Any) -> None:
    """Name the file if a training cannot resume because its progress cannot be read."""
    begin = train_model.TrainLoop.__init__

    @functools.wraps(begin)
    def __init__(self: Any, opt: Any) -> None:
        try:
            begin(self, opt)
        except ValueError:
            for suffix in (".checkpoint.trainstats", ".trainstats"):  # ParlAI reads the first that exists
                _check_stats(f"{opt.get('model_file')}{suffix}")
            raise

    train_model.TrainLoop.__init__ = __init__


def _check_stats(path: str) -> None:
    if not os.path.exists(path):
        return
    try:
        json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise ModelFileError(
            f"{path} is not a valid record of the training's progress ({error}): delete it, "
            f"and the training resumes with the weights and optimiser state of its checkpoint, counting steps from zero"
        ) from error


def _missing_part(opt: Mapping[str, Any], must_exist: bool) -> str | None:
    """Say what is missing to create this agent; ``None`` if it failed for another reason."""
    model_file = opt.get("model_file")
    if not model_file:
        return None
    if must_exist and not os.path.exists(model_file):
        return f"{model_file}: there is no such model file; {_advice(Path(model_file))}"
    if os.path.isdir(model_file):
        return f"{model_file} is a folder: name the model file in it; {_advice(Path(model_file, 'model'))}"
    if opt.get("model"):
        return None
    if not os.path.exists(f"{model_file}.opt"):
        return (
            f"{model_file}.opt is missing, which names the model's agent: "
            f"put it back beside the model, or name the agent with -m"
        )
    if "model" not in json.loads(Path(f"{model_file}.opt").read_bytes()):
        return f"{model_file}.opt names no agent: fetch the file again, or train again"
    return None


def _advice(model_file: Path) -> str:
    folder = model_file.parent
    try:
        is_there = folder.is_dir()
    except OSError as error:
        return f"{folder} cannot be read ({error.strerror}): name another with -mf"
    if not is_there:
        return f"there is no folder {folder} either: see that -mf is spelt right, or train a model first"
    there = sorted(path.stem for path in folder.glob("*.opt") if path.with_suffix("").is_file())
    there = [name for name in there if not name.endswith((".checkpoint", ".dict"))]
    close = difflib.get_close_matches(model_file.name, there, n=1)
    if close:
        return f"did you mean {folder / close[0]}?"
    if there:
        return f"the models in {folder} are {', '.join(there)}"
    return f"there is no other in {folder}: see that -mf is spelt right, or train a model first"
