"""What ParlAI calls for a name that is not in the zoo."""

from __future__ import annotations

from parlai_empathy.errors import ModelFileError
from parlai_empathy.zoo.model_list import MODELS


def download(datapath: str) -> None:
    """Report an unknown model: ParlAI calls this if it finds no module with the model's name."""
    names = ", ".join(model.path for model in MODELS.values())
    raise ModelFileError(f"no such model in the zoo; available: {names}")
