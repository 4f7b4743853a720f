"""Reads model files without executing code that they may contain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

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


def load_model(path: str, load_weights: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Load a model file that ParlAI saved.

    :param load_weights: loads weights into the model; it may raise an error if they do not fit.
    :returns: the whole file: weights under ``model``, and the state of the optimiser and schedule.
    :raises ModelFileError: if the file is damaged, holds more than tensors and plain data, or does not fit the model.
    """
    try:
        with torch.serialization.safe_globals(_SAFE):
            states: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        load_weights(states["model"])
    except ModelFileError:
        raise
    except Exception as error:  # torch raises a different error for each kind of damage
        raise ModelFileError(_why_not(path, error)) from error
    return states


def _why_not(path: str, error: Exception) -> str:
    reason = str(error).partition("\n-----")[0]  # what follows is ParlAI's guess at a cause, which is mostly wrong
    reason = reason.strip().split("\n")[-1].strip()
    if not isinstance(error, EOFError) and "PytorchStreamReader" not in reason:  # raised for truncated archives
        return f"{path} does not fit its options ({path}.opt) or this command's: {reason}"
    again = ", or train again"
    if is_file(f"{path}.checkpoint"):
        again = f", or delete it and train again: the training resumes from {path}.checkpoint"
    return f"{path} is cut off or damaged: fetch it again{again}"
