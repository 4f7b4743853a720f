"""Reads model files without executing code that they may contain."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from parlai_empathy.agent_kit.trained.agent import described
from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.text_file import is_file

_SCALAR = np.float64(0).__reduce__()[0]
# Some of ParlAI's schedulers compute with NumPy, so their state holds NumPy scalars. These objects only create
# numbers. NumPy 2 moved the function that does so: a file written under either version must load under the other.
_SAFE: list[Any] = [
    np.dtype,
    type(np.dtype("float64")),
    (_SCALAR, "numpy.core.multiarray.scalar"),
    (_SCALAR, "numpy._core.multiarray.scalar"),
]


def read_model(path: str) -> dict[str, Any]:
    """Return the content of a model file that ParlAI saved.

    :returns: the weights under ``model``, and the state of the optimiser and schedule.
    :raises ModelFileError: if the file cannot be read, is damaged, or holds more than tensors and plain data.
    """
    try:
        with torch.serialization.safe_globals(_SAFE):
            states = torch.load(path, map_location="cpu", weights_only=True)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise ModelFileError(f"{path}: the model file cannot be read: {error.strerror}") from error
    except Exception as error:  # torch raises a different error for each kind of damage
        raise ModelFileError(_why_unreadable(path, error)) from error
    if not isinstance(states, dict) or "model" not in states:
        raise ModelFileError(f"{path} is no model file that ParlAI saved: it has no weights under the key 'model'")
    return states


def load_model(path: str, load_weights: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Read a model file as :func:`read_model` does, and load its weights into a model.

    :param load_weights: loads the weights; it may raise an error if they do not fit.
    :raises ModelFileError: also if the weights do not fit.
    """
    states = read_model(path)
    try:
        load_weights(states["model"])
    except ModelFileError:
        raise
    except Exception as error:  # of whatever kind the loading function raises
        raise ModelFileError(
            f"{described(path)} does not fit its options or dictionary ({path}.opt, {path}.dict) or this command's "
            f"options: {_reason(error)}"
        ) from error
    return states


def _why_unreadable(path: str, error: Exception) -> str:
    if code := re.search(r"Unsupported global: GLOBAL (\S+)", str(error)):
        return f"{path} contains {code[1]}, and is not loaded: only tensors and plain data are certain to run no code"
    again = ", or train again"
    if is_file(f"{path}.checkpoint"):
        again = f", or delete it and train again: the training resumes from {path}.checkpoint"
    return f"{path} is cut off or damaged, or no model file: fetch it again{again}"


def _reason(error: Exception) -> str:
    reason = str(error).partition("\n-----")[0]  # what follows is ParlAI's guess at a cause, which is mostly wrong
    return reason.strip().split("\n")[-1].strip()
