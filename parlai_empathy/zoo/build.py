"""What a zoo model is, and how its files are found: already there, on a mirror, downloaded, or trained by a command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parlai_empathy.errors import DownloadError, ModelFileError
from parlai_empathy.tasks.builder import MIRROR, Source, obtain

_FOLDER = "models/empathy"


@dataclass(frozen=True)
class ZooModel:
    """One model of the zoo.

    :param name: as in ``zoo:empathy/<name>/model``.
    :param title: what it is, in a few words.
    :param recipe: the arguments of ``parlai train_model`` that make it, without ``-mf``; none for a file that others
        publish.
    :param companions: the endings of the files that belong to the model file.
    :param paper: what the paper reports of such a model, by metric.
    :param measured: what this one gave, by metric; None if nobody has measured it.
    :param file: the model file's name.
    :param url: the public address of the model file.
    :param sha256: the SHA-256 of what is there, if it is known.
    :param remark: more that its user has to know, in whole sentences.
    :param data: what it was trained on.
    """

    name: str
    title: str
    recipe: str | None
    companions: tuple[str, ...] = (".opt", ".dict")
    paper: Mapping[str, float] = field(default_factory=dict)
    measured: Mapping[str, float] | None = None
    file: str = "model"
    url: str | None = None
    sha256: str | None = None
    remark: str = ""
    data: str = "EmpatheticDialogues (CC BY-NC 4.0: not for commerce)"

    @property
    def path(self) -> str:
        """What ParlAI calls the model file."""
        return f"zoo:empathy/{self.name}/{self.file}"

    @property
    def source(self) -> Source:
        """Where its files are to be had, on a mirror or at its public address."""
        files = (self.file, *(self.file + ending for ending in self.companions))
        return Source(f"{_FOLDER}/{self.name}", "1.0", None, files, self.url, self.sha256)

    def training(self, model_file: str | Path) -> str:
        """The command that makes it."""
        return f"parlai train_model {self.recipe} -mf {model_file}"

    def download(self, datapath: str) -> None:
        """Make the model's files available below ``datapath``; ParlAI calls this.

        :raises ModelFileError: if it is neither here nor to be had, with what can be done.
        """
        model = Path(datapath) / _FOLDER / self.name / self.file
        if model.is_file():
            return
        if not (self.url or os.environ.get(MIRROR)):
            raise ModelFileError(
                f"{self.path} has no public download; train it with `{self.training(model)}`, or set {MIRROR} to "
                f"where {_FOLDER}/{self.name} is"
            )
        try:
            obtain(datapath, self.source)
        except DownloadError as error:
            if self.recipe is None:
                raise ModelFileError(str(error)) from error
            raise ModelFileError(f"{error}; or train it with `{self.training(model)}`") from error


def download(datapath: str) -> None:
    """ParlAI comes here when it finds no module of the name that was asked for."""
    from parlai_empathy.zoo.model_list import MODELS

    names = ", ".join(model.path for model in MODELS.values())
    raise ModelFileError(f"no such model in the zoo; there are: {names}")
