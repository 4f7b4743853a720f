"""A model file's fingerprint, which changes whenever something changes that affects the model's answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlai_empathy.agent_kit.trained.agent import model_options, model_path
from parlai_empathy.agent_kit.trained.frozen import FOLDERS
from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.text_file import is_file
from parlai_empathy.files.user_path import user_path
from parlai_empathy.language_models.model_identity import model_identity
from parlai_empathy.language_models.server.address import server_address
from parlai_empathy.reports.evaluations.typed_options import typed_options
from parlai_empathy.task_kit.builder import sha256_of

# The files beside a model that affect its answers, besides those in FOLDERS.
_ENDINGS = (".opt", ".dict", ".vec", ".bin")
# Options that name output files, caches of answers, or inputs of the training, which are part of the weights by now.
_NOT_READ = {
    "model_file",
    "init_model",
    "dict_file",
    "dict_initpath",
    "vectors_file",
    "embedding_file",
    "world_logs",
    "lm_cache",
}
# Options that may name the folder of a Hugging Face model that is loaded at evaluation time.
_FOLDERS = ("lm_model", "sentence_encoder")


def model_fingerprint(model_file: str | Path, options: Sequence[str], datapath: str) -> str:
    """Return a digest of a model's files, and of the files and models that its options name.

    An agent may consist of several models (``--classifier``, ``--retriever``); the digest covers all of them: the
    copies that it keeps, else the originals. A language model is identified by its folder's content, or by the address
    of its server.

    :param options: command-line options of ``eval_model``; they override the model's own.
    :param datapath: ParlAI's data folder, in which the models of the zoo are; those that are missing are downloaded.
    :returns: 64 hexadecimal digits.
    :raises ModelFileError: if the model is missing, or one of its files cannot be read.
    :raises OptionError: if an option is invalid, or the model uses a server and the environment names none.
    """
    path, digest = user_path(model_file), hashlib.sha256()
    typed = typed_options(["-m", model_options(path)["model"], *options])["override"] if options else {}
    _add(path, digest, set(), typed, datapath)
    return digest.hexdigest()


def _add(path: Path, digest: Any, seen: set[Path], typed: Mapping[str, Any], datapath: str) -> None:
    if path.resolve() in seen:
        return
    seen.add(path.resolve())
    opt = {**model_options(path), **typed}
    for file in [path, *_companions(path)]:
        _add_file(file, file.relative_to(path.parent), digest)
    for name, value in sorted(opt.items()):
        if name in _NOT_READ or not isinstance(value, str) or not value or _is_copied(name, path):
            continue
        named = _named(value, datapath)
        if is_file(f"{named}.opt"):
            _add(named, digest, seen, {}, datapath)
        elif is_file(named):
            _add_file(named, Path(name), digest)
        elif name in _FOLDERS and (identity := model_identity(str(named), None)):
            digest.update(f"{name} {identity}\n".encode())
    if opt.get("lm_backend") == "openai":
        digest.update(f"server {server_address().public}\n".encode())


def _is_copied(option: str, path: Path) -> bool:
    """Whether a model has its own copy of what an option names."""
    return option in FOLDERS and path.with_name(f"{path.name}.{FOLDERS[option]}").is_dir()


def _named(value: str, datapath: str) -> Path:
    """Return the path that an option's value is, if it is one; a name that the zoo lacks is a path without a file.

    A model of the zoo is downloaded now, not during the evaluation, which would change the fingerprint.
    """
    try:
        return model_path(value, datapath)
    except ModelFileError:  # the evaluation reports it, if it reads this option
        return user_path(value)


def _companions(path: Path) -> list[Path]:
    files = [path.with_name(path.name + ending) for ending in _ENDINGS]
    folders = [path.with_name(f"{path.name}.{ending}") for ending in FOLDERS.values()]
    files += [file for folder in folders for file in sorted(folder.rglob("*"))]
    # An evaluation itself keeps pools of replies beside a model, also beside a retriever's copy.
    return [file for file in files if file.is_file() and ".pool" not in file.suffixes]


def _add_file(file: Path, name: Path, digest: Any) -> None:
    try:
        digest.update(f"{name} {sha256_of(file)}\n".encode())
    except OSError as error:
        raise ModelFileError(
            f"{file} cannot be read ({error.strerror}): check the file, or name another model"
        ) from error
