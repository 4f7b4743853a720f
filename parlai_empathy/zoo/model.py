"""Zoo models and where their files come from: the data folder, a mirror, a download, or a training command."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parlai_empathy.errors import DownloadError, ModelFileError
from parlai_empathy.task_kit.builder import MIRROR, Source, obtain

_FOLDER = "models/empathy"


@dataclass(frozen=True)
class ZooModel:
    """One model of the zoo.

    :param name: as in ``zoo:empathy/<name>/model``.
    :param title: a short description.
    :param recipe: the arguments of ``parlai train_model`` that train it, without ``-mf``; None for a file that others
        published.
    :param companions: the suffixes of the files that belong to the model file.
    :param paper: the paper's figures for such a model, by metric.
    :param measured: the figures measured here, by metric; None if not measured.
    :param file: the model file's name.
    :param url: the public address of the model file.
    :param sha256: the SHA-256 of the file at that address, if known.
    :param remark: further information for users, in full sentences.
    :param data: the training data.
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
    data: str = "EmpatheticDialogues (CC BY-NC 4.0: non-commercial use only)"

    @property
    def path(self) -> str:
        """The model file's name in ParlAI."""
        return f"zoo:empathy/{self.name}/{self.file}"

    @property
    def source(self) -> Source:
        """The source of its files on a mirror or at its public address."""
        files = (self.file, *(self.file + ending for ending in self.companions))
        return Source(f"{_FOLDER}/{self.name}", "1.0", None, files, self.url, self.sha256)

    def training(self, model_file: str | Path, datapath: str | None = None) -> str:
        """Return the command that trains it.

        :param datapath: the data folder, if it is not to be ParlAI's.
        """
        if datapath is None:
            return f"parlai train_model {self.recipe} -mf {model_file}"
        recipe = re.sub(rf"(?<= )data/(?={_FOLDER}/)", f"{datapath}/", str(self.recipe))
        return f"parlai train_model {recipe} -mf {model_file} --datapath {datapath}"

    def download(self, datapath: str) -> None:
        """Make the model's files available below ``datapath``; called by ParlAI.

        :raises ModelFileError: if they are neither there nor available elsewhere; the message says what to do.
        """
        model = Path(datapath) / _FOLDER / self.name / self.file
        if model.is_file():
            return
        if not (self.url or os.environ.get(MIRROR)):
            raise ModelFileError(
                f"{self.path} has no public download; train it with `{self.training(model, datapath)}`, or set "
                f"{MIRROR} to a mirror that holds {_FOLDER}/{self.name}"
            )
        try:
            obtain(datapath, self.source)
        except DownloadError as error:
            if self.recipe is None:
                raise ModelFileError(str(error)) from error
            raise ModelFileError(f"{error}; or train it with `{self.training(model, datapath)}`") from error
