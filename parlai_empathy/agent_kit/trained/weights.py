"""Reading model files without executing anything that a stranger may have put into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.text_file import is_file

_SCALAR = np.float64(0).__reduce__()[0]
# Some of ParlAI's schedulers compute with NumPy, whose numbers then stand in the file. These make numbers, and no more.
# NumPy 2 moved the function that makes them: a file written under the one version shall load under the other.
_SAFE: list[Any] = [
    np.dtype,
    type(np.dtype("float64")),
    (_SCALAR, "numpy.core.multiarray.scalar"),
    (_SCALAR, "numpy._core.multiarray.scalar"),
]


def load_model(path: str, load_weights: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Load what ParlAI saved of an agent.

    :param load_weights: puts weights into the model; it may find that they do not fit.
    :returns: all that the file holds: weights under ``model``, and the state of what trained them.
    :raises ModelFileError: if the file is broken, holds more than tensors and plain data, or fits another model.
    """
    try:
        with torch.serialization.safe_globals(_SAFE):
            states: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        load_weights(states["model"])
    except ModelFileError:
        raise
    except Exception as error:  # torch raises a different kind for each way in which a file can be wrong
        raise ModelFileError(_why_not(path, error)) from error
    return states


def _why_not(path: str, error: Exception) -> str:
    reason = str(error).partition("\n-----")[0]  # below the line ParlAI guesses at a cause, and is mostly wrong
    reason = reason.strip().split("\n")[-1].strip()
    if not isinstance(error, EOFError) and "PytorchStreamReader" not in reason:  # of archives that are not whole
        return f"{path} is not a model that fits its options ({path}.opt): {reason}"
    again = ", or train again"
    if is_file(f"{path}.checkpoint"):
        again = f", or delete it and train again: the training goes on from {path}.checkpoint"
    return f"{path} is cut off or damaged: fetch it again{again}"
