"""A frozen, trained model that another model is built on: found, checked, loaded, and copied beside the new model.

The new model keeps a copy in a folder of its own, ``<model>.<ending>``: it moves along with ``<model>*``, and is not
affected if the original is trained further or deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from parlai.core.opt import Opt
from parlai.utils.distributed import is_primary_worker

from parlai_empathy.agent_kit.options.common import flag
from parlai_empathy.agent_kit.trained.agent import agent_class, described, load_agent, model_options, model_path
from parlai_empathy.agent_kit.trained.weights import read_model
from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.files.text_file import is_file
from parlai_empathy.modules.fingerprint import state_fingerprint

FOLDERS = {"hf_model": "encoder", "classifier": "classifier", "base_model": "base", "retriever": "retriever"}
"""The endings of folders that a model may have beside itself, which belong to it, by the option that names the
original: once there is a copy, the original is not read."""

# Options dropped from a copy: they belong to the training that made the original, or to its location.
_FORGOTTEN = ("datatype", "init_model", "load_from_checkpoint", "model_file", "dict_file")


@dataclass(frozen=True)
class FrozenPart:
    """The kind of model that is needed, and the option that names it.

    :param option: a key of :data:`FOLDERS`.
    :param wanted: what the user should name, for errors.
    :param check: is called with the agent's class and the model's options. For another kind of model it raises
        :class:`OptionError`, whose message says what the model is.
    """

    option: str
    wanted: str
    check: Callable[[Any, Opt], None]

    @property
    def flag(self) -> str:
        """The option as typed on the command line."""
        return flag(self.option)

    def copy_of(self, model_file: str) -> Path:
        """Return where a model keeps its copy."""
        return Path(f"{model_file}.{FOLDERS[self.option]}") / "model"

    def path(self, opt: Opt) -> Path:
        """Return the file to load.

        This is the copy if training has begun, else the model that the option names, else the copy of ``--init-model``.

        :raises OptionError: if none is named, or the named model is not the one that was copied.
        :raises ModelFileError: if the copy is missing.
        """
        named, own = opt.get(self.option), opt.get("model_file")
        begun = next((f"{own}{ending}" for ending in ("", ".checkpoint") if own and is_file(f"{own}{ending}")), None)
        if begun:
            return self._copy_in_use(begun, opt)
        if named:
            return model_path(named, opt.get("datapath"))
        if opt.get("init_model") and self.copy_of(opt["init_model"]).is_file():
            return self.copy_of(opt["init_model"])
        raise OptionError(f"{self.flag} is missing: name {self.wanted}")

    def _copy_in_use(self, begun: str, opt: Opt) -> Path:
        """Return the copy. A model cannot be continued with another part than it was trained with.

        The original may be gone, or may have changed: the copy is used, and compared only with a newly named
        model.
        """
        copy = self.copy_of(opt["model_file"])
        if not copy.is_file():
            raise ModelFileError(
                f"{described(begun)} needs {copy}, which is missing: fetch it from where the model came from, or leave "
                "-m out if it names another agent"
            )
        named = opt.get(self.option)
        saved = Opt.load(f"{begun}.opt").get(self.option) if is_file(f"{begun}.opt") else named
        if named and named != saved and not self._is_copied(model_path(named, opt.get("datapath")), copy):
            raise OptionError(
                f"{self.flag} {named}: {opt['model_file']} was trained with another model, copied to {copy}: "
                "leave the option out, or train a new model"
            )
        return copy

    def _is_copied(self, path: Path, copy: Path) -> bool:
        self.options(path)  # which reports a missing model, or one of another kind
        return _weights(path) == _weights(copy)

    def options(self, path: Path) -> Opt:
        """Return the options of a model after checking its kind; its weights are not loaded.

        :raises ModelFileError: if there is no model, or its options cannot be read.
        :raises OptionError: if it is another kind of model.
        """
        opt = model_options(path, self.flag)
        try:
            self.check(agent_class(opt, f"{self.flag} {path}.opt"), opt)
        except OptionError as error:
            raise OptionError(f"{self.flag} {path}: {error}; name {self.wanted}") from error
        return opt

    def load(self, opt: Opt) -> Any:
        """Load the agent, frozen. At the start of a training, write the copy.

        :param opt: options of the model that is built on it.
        """
        path = self.path(opt)
        self.options(path)
        if _is_training(opt) and opt.get("model_file") and is_primary_worker():
            copy = self.copy_of(opt["model_file"])
            if path != copy:
                _copy_model(path, copy.parent)
                path = copy
        agent = self._agent(path, opt)
        agent.model = agent.bare_model  # frozen weights need no synchronisation between processes
        agent.model.requires_grad_(False).eval()
        return agent

    def _agent(self, path: Path, opt: Opt) -> Any:
        """Load it for inference on the device of ``opt``: without its optimiser, and with its best weights."""
        use = {"datatype": "valid", "init_model": None, "load_from_checkpoint": False, "interactive_mode": False}
        return load_agent(path, use | {name: opt[name] for name in ("no_cuda", "gpu") if name in opt}, self.flag)


def _copy_model(path: Path, folder: Path) -> None:
    """Copy a model into a folder, without its optimiser state.

    A former copy is deleted only when the new one is complete: the model may be that copy, by another path.
    """
    unfinished = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    copy = unfinished / "model"
    torch.save({"model": read_model(str(path))["model"]}, copy)
    opt = Opt.load(f"{path}.opt")
    Opt({name: value for name, value in opt.items() if name not in _FORGOTTEN}).save(f"{copy}.opt")
    if is_file(f"{path}.dict"):
        shutil.copyfile(f"{path}.dict", f"{copy}.dict")
    for ending in FOLDERS.values():
        if Path(f"{path}.{ending}").is_dir():
            shutil.copytree(f"{path}.{ending}", f"{copy}.{ending}")
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def _weights(path: Path) -> str:
    """Return a digest of a model's weights."""
    return state_fingerprint(read_model(str(path))["model"])


def _is_training(opt: Opt) -> bool:
    """Whether ParlAI considers this a training run."""
    datatype = opt.get("datatype") or ""
    return not opt.get("interactive_mode") and "train" in datatype and "evalmode" not in datatype
