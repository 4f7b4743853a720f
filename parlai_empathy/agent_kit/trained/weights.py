"""Reading model files without executing anything that a stranger may have put into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import parlai.utils.logging as logging
import torch
from parlai.core.dict import DictionaryAgent
from parlai.utils.distributed import is_primary_worker
from torch import Tensor, nn

from parlai_empathy.errors import ModelFileError

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
        reason = str(error).strip().split("\n")[-1].strip()
        raise ModelFileError(f"{path} is not a model that fits its options ({path}.opt): {reason}") from error
    return states


def check_init_model(opt: Mapping[str, Any], found: str | None) -> None:
    """Raise :class:`ModelFileError` for an ``--init-model`` that is not there: ParlAI would begin without it.

    :param found: the file that ParlAI found to begin with.
    """
    if opt.get("init_model") and not found:
        raise ModelFileError(f"--init-model {opt['init_model']}: there is no such file")


def keep_dictionary(dictionary: DictionaryAgent, opt: Mapping[str, Any]) -> None:
    """Write the dictionary of ``--init-model``: ParlAI has built one of the new task's words beside the new model."""
    if opt.get("model_file") and is_primary_worker():
        dictionary.save(f"{opt['model_file']}.dict", sort=False)


def begin_with(model: nn.Module, weights: Mapping[str, Tensor], path: str) -> None:
    """Let a model begin with another's weights, all but a head of another size, which stays new as a whole.

    :param model: what comes last in it is called ``head``.
    :param path: where the weights are from, for errors.
    :raises ModelFileError: if anything but the head does not fit.
    """
    own = model.state_dict()
    other = {name for name in weights if name in own and weights[name].shape != own[name].shape}
    missing_or_strange = set(weights) ^ set(own)
    if unfit := missing_or_strange | {name for name in other if not name.startswith("head.")}:
        raise ModelFileError(f"--init-model {path} is another kind of model: {min(unfit)} does not fit")
    if other:
        logging.info(f"{path}: its head is of another size, and a new one takes its place")
        weights = {name: own[name] if name.startswith("head.") else weights[name] for name in own}
    model.load_state_dict(weights)
