"""A trained model that another one is built on and leaves as it is: found, checked, loaded, and kept beside the other.

What is built on it keeps a copy in a folder of its own, ``<model>.<ending>``: it can be moved with ``<model>*``, and
does not change when the model that was copied is trained on, or deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from parlai.core.build_data import modelzoo_path
from parlai.core.opt import Opt
from parlai.utils.distributed import is_primary_worker

from parlai_empathy.agent_kit.options.common import flag
from parlai_empathy.agent_kit.trained.agent import agent_class, load_agent, model_options
from parlai_empathy.agent_kit.trained.weights import load_model
from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.files.text_file import is_file
from parlai_empathy.modules.fingerprint import state_fingerprint

_FOLDERS = ("encoder", "classifier", "base", "retriever")  # what a model may keep beside itself
# Of a copy's options: what belongs to the training that made it, and to where it was.
_FORGOTTEN = ("datatype", "init_model", "load_from_checkpoint", "model_file", "dict_file")


@dataclass(frozen=True)
class FrozenPart:
    """What kind of model is needed, and by which option it is named.

    :param option: such as ``classifier``.
    :param ending: of the copy's folder.
    :param wanted: what to name, for errors.
    :param check: is given the agent's class and the model's options, and raises :class:`OptionError`, which says what
        it is instead, if it is another kind of model.
    """

    option: str
    ending: str
    wanted: str
    check: Callable[[Any, Opt], None]

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return flag(self.option)

    def copy_of(self, model_file: str) -> Path:
        """Where a model keeps its copy."""
        return Path(f"{model_file}.{self.ending}") / "model"

    def path(self, opt: Opt) -> Path:
        """The file to load: the copy of a training that has begun; else what is named; else that of ``--init-model``.

        :raises OptionError: if none is named, or another one than was copied.
        :raises ModelFileError: if it is not there.
        """
        named, own = opt.get(self.option), opt.get("model_file")
        begun = next((f"{own}{ending}" for ending in ("", ".checkpoint") if own and is_file(f"{own}{ending}")), None)
        if begun:
            return self._copy_in_use(begun, opt)
        if named:
            return _resolved(opt, named)
        if opt.get("init_model") and self.copy_of(opt["init_model"]).is_file():
            return self.copy_of(opt["init_model"])
        raise OptionError(f"{self.flag} is missing: name {self.wanted}")

    def _copy_in_use(self, begun: str, opt: Opt) -> Path:
        """The copy. A model cannot go on with another part than it was trained with.

        What was copied may be gone, or be another model by now: the copy counts, and is compared only with a model that
        is named anew.
        """
        copy = self.copy_of(opt["model_file"])
        if not copy.is_file():
            raise ModelFileError(f"{begun} needs {copy}, which is gone: fetch it from where the model is from")
        named = opt.get(self.option)
        saved = Opt.load(f"{begun}.opt").get(self.option) if is_file(f"{begun}.opt") else named
        if named and named != saved and _weights(_resolved(opt, named)) != _weights(copy):
            raise OptionError(
                f"{self.flag} {named}: {opt['model_file']} was trained with another one, of which {copy} is a copy: "
                "leave the option out, or train a new model"
            )
        return copy

    def options(self, path: Path) -> Opt:
        """The options of a model, whose kind is checked; nothing else of it is loaded.

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
        """The agent, which learns nothing any more. Where a training begins, the copy is written.

        :param opt: of what is built on it.
        """
        path = self.path(opt)
        self.options(path)
        if _is_training(opt) and opt.get("model_file") and is_primary_worker():
            copy = self.copy_of(opt["model_file"])
            if path != copy:
                _copy_model(path, copy.parent)
                path = copy
        agent = self._agent(path, opt)
        agent.model = agent.bare_model  # processes share nothing of what does not change
        agent.model.requires_grad_(False).eval()
        return agent

    def _agent(self, path: Path, opt: Opt) -> Any:
        """Load it where ``opt`` computes, for use: without what trains it, and with its own best weights."""
        use = {"datatype": "valid", "init_model": None, "load_from_checkpoint": False, "interactive_mode": False}
        return load_agent(path, use | {name: opt[name] for name in ("no_cuda", "gpu") if name in opt}, self.flag)


def _copy_model(path: Path, folder: Path) -> None:
    """Write a model into a folder of its own, whole or not at all, without the state of what trained it."""
    unfinished = folder.with_name(f"{folder.name}.part")
    for leftover in (unfinished, folder):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished.mkdir(parents=True)
    copy = unfinished / "model"
    torch.save({"model": load_model(str(path), lambda weights: None)["model"]}, copy)
    opt = Opt.load(f"{path}.opt")
    Opt({name: value for name, value in opt.items() if name not in _FORGOTTEN}).save(f"{copy}.opt")
    if is_file(f"{path}.dict"):
        shutil.copyfile(f"{path}.dict", f"{copy}.dict")
    for ending in _FOLDERS:
        if Path(f"{path}.{ending}").is_dir():
            shutil.copytree(f"{path}.{ending}", f"{copy}.{ending}")
    unfinished.rename(folder)


def _weights(path: Path) -> str:
    """A digest of a model's weights."""
    return state_fingerprint(load_model(str(path), lambda weights: None)["model"])


def _is_training(opt: Opt) -> bool:
    """As ParlAI decides it."""
    datatype = opt.get("datatype") or ""
    return not opt.get("interactive_mode") and "train" in datatype and "evalmode" not in datatype


def _resolved(opt: Opt, path: str) -> Path:
    """The file that a path or a ``zoo:`` name stands for."""
    return Path(modelzoo_path(opt.get("datapath"), path)).expanduser()
