"""What a zoo model is, and how its files are found: already there, on a mirror, or to be trained by a known command."""

from __future__ import annotations

import importlib
import os
import pkgutil
from dataclasses import dataclass
from pathlib import Path

from parlai_empathy import zoo
from parlai_empathy.errors import DownloadError, ModelFileError
from parlai_empathy.tasks.builder import MIRROR, Source, obtain


@dataclass(frozen=True)
class ZooModel:
    """One model of the zoo.

    :param name: as in ``zoo:empathy/<name>/model``.
    :param title: what it is, in a few words.
    :param recipe: the arguments of ``parlai train_model`` that make it, without ``-mf``.
    """

    name: str
    title: str
    recipe: str

    def download(self, datapath: str) -> None:
        """Make the model's files available below ``datapath``; ParlAI calls this.

        :raises ModelFileError: with the command that trains it, if it is neither here nor on a mirror.
        """
        folder = f"models/empathy/{self.name}"
        model = Path(datapath) / folder / "model"
        if model.is_file():
            return
        training = f"train it with `parlai train_model {self.recipe} -mf {model}`"
        if not os.environ.get(MIRROR):
            raise ModelFileError(
                f"zoo:empathy/{self.name}/model has no public download; {training}, "
                f"or set {MIRROR} to where {folder} is"
            )
        try:
            obtain(datapath, Source(folder, "1.0", None, ("model", "model.opt", "model.dict", "model.pool")))
        except DownloadError as error:
            raise ModelFileError(f"{error}; or {training}") from error


def all_models() -> dict[str, ZooModel]:
    """The zoo's models by name: one module of this package each."""
    names = [module.name for module in pkgutil.iter_modules(zoo.__path__) if module.name != "build"]
    return {name: importlib.import_module(f"{zoo.__name__}.{name}").MODEL for name in names}


def download(datapath: str) -> None:
    """ParlAI comes here when it finds no module of the name that was asked for."""
    names = ", ".join(f"zoo:empathy/{name}/model" for name in all_models())
    raise ModelFileError(f"no such model in the zoo; there are: {names}")
