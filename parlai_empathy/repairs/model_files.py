"""A model's files beside its weights: written whole or not at all, and one clear line where one is missing or broken.

ParlAI keeps a model in several files. ``<model>`` has the weights, and it writes them whole. ``<model>.opt`` has the
options and ``<model>.trainstats`` where a training stands; these it writes in place, so that ``kill -9`` in that moment
would leave half a file, with which no training resumes. Where it misses a file it ends in a traceback.

What stands in weights and dictionaries, agents check.
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

# --- written whole or not at all --------------------------------------------------------------------------------------


def write_options_whole(opt_module: Any) -> None:
    """Options take the place of older ones once they are all on disk."""
    save = opt_module.Opt.save

    @functools.wraps(save)
    def save_whole(self: Any, filename: str) -> None:
        save(self, f"{filename}.unfinished")
        os.replace(f"{filename}.unfinished", filename)

    opt_module.Opt.save = save_whole


def write_stats_whole(train_model: Any) -> None:
    """Where a training stands takes the place of where it stood once it is all on disk."""
    save = train_model.TrainLoop._save_train_stats

    @functools.wraps(save)
    def save_whole(self: Any, suffix: str | None = None) -> None:
        suffix = suffix or ""
        save(self, f"{suffix}.unfinished")
        beginning = f"{self.opt.get('model_file')}{suffix}"
        if self.opt.get("model_file") and train_model.is_primary_worker():  # else ParlAI has written none
            os.replace(f"{beginning}.unfinished.trainstats", f"{beginning}.trainstats")

    train_model.TrainLoop._save_train_stats = save_whole


def name_full_disks(torch_agent: Any) -> None:
    """Weights that find no room on their disk: say so in one line, and leave nothing of them there."""
    save = torch_agent.atomic_save

    @functools.wraps(save)
    def save_or_say_why(state_dict: Any, path: str) -> None:
        try:
            save(state_dict, path)
        except (OSError, RuntimeError) as error:
            # Torch's writer makes an error of its own of a write that the system refuses.
            if isinstance(error, RuntimeError) and "inline_container" not in str(error):
                raise
            Path(f"{path}.tmp").unlink(missing_ok=True)
            reason = getattr(error, "strerror", None) or "is its disk full?"
            raise ModelFileError(
                f"{path} could not be written ({reason}): make room, and the same command goes on from what was saved "
                "before"
            ) from error

    torch_agent.atomic_save = save_or_say_why


# --- missing or broken ------------------------------------------------------------------------------------------------


def name_missing_models(agents: Any) -> None:
    """An agent that cannot be made because a file is missing: say which, and what is there instead."""
    make = agents.create_agent

    @functools.wraps(make)
    def create_agent(opt: Any, requireModelExists: bool = False) -> Any:
        try:
            return make(opt, requireModelExists)
        except RuntimeError as error:
            what_is_missing = _what_is_missing(opt, requireModelExists)
            if what_is_missing is None:
                raise
            raise ModelFileError(what_is_missing) from error

    agents.create_agent = create_agent


def name_broken_options(opt_module: Any) -> None:
    """A file of options that cannot be read: say which."""
    load = opt_module.Opt.load.__func__

    @functools.wraps(load)
    def load_or_name(cls: Any, optfile: Any) -> Any:
        try:
            return load(cls, optfile)
        except json.JSONDecodeError as error:
            raise ModelFileError(
                f"{optfile}, line {error.lineno}: no options in JSON ({error.msg}): "
                f"fetch the file again, or train again"
            ) from error

    opt_module.Opt.load = classmethod(load_or_name)


def name_broken_stats(train_model: Any) -> None:
    """A training that cannot go on because the file that says where it stands cannot be read: say which."""
    begin = train_model.TrainLoop.__init__

    @functools.wraps(begin)
    def __init__(self: Any, opt: Any) -> None:
        try:
            begin(self, opt)
        except ValueError:
            for suffix in (".checkpoint.trainstats", ".trainstats"):  # the first that is there was read
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
            f"{path} does not say where the training stands ({error}): delete it, "
            f"and the training goes on with the weights and moments of its checkpoint, and counts its steps from zero"
        ) from error


def _what_is_missing(opt: Mapping[str, Any], must_exist: bool) -> str | None:
    """What ParlAI missed to make this agent; ``None`` if it failed at something else."""
    model_file = opt.get("model_file")
    if not model_file:
        return None
    if must_exist and not os.path.exists(model_file):
        return f"{model_file}: there is no such model file; {_advice(Path(model_file))}"
    if os.path.isdir(model_file):
        return f"{model_file} is a folder: name the model file in it; {_advice(Path(model_file, 'model'))}"
    if not opt.get("model") and not os.path.exists(f"{model_file}.opt"):
        return (
            f"{model_file}.opt is missing, which says what agent this model is: "
            f"put it beside the model again, or name the agent with -m"
        )
    return None


def _advice(model_file: Path) -> str:
    folder = model_file.parent
    if not folder.is_dir():
        return f"there is no folder {folder} either: see that -mf is spelt right, or train a model first"
    there = sorted(path.stem for path in folder.glob("*.opt") if path.with_suffix("").is_file())
    there = [name for name in there if not name.endswith((".checkpoint", ".dict"))]
    close = difflib.get_close_matches(model_file.name, there, n=1)
    if close:
        return f"did you mean {folder / close[0]}?"
    if there:
        return f"the models in {folder} are {', '.join(there)}"
    return f"there is no other in {folder}: see that -mf is spelt right, or train a model first"
