"""Locate the files of EmpatheticIntents: the official ones, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.empathetic_intents.reader import FILES, FOLDERS

SOURCE = Source(
    folder="empathetic_intents",
    version="1.0",
    archive=None,
    files=tuple(f"{folder}/{file}.txt" for folder in FOLDERS.values() for file in FILES),
    url=(
        "https://raw.githubusercontent.com/anuradha1992/EmpatheticIntents/97a6c84bc82693a7bba0fdd0eab5af58df8bc9da/"
        "datasets/lexically_extended_intent_data/"
    ),
    sha256="fc0d191ba1e62bb144459e477ad609c8c70d2ca90bdd86c142ca9ae65363547e",
)
SAMPLE = Path(__file__).parent / "sample"


def build(opt: dict[str, Any]) -> Path:
    """Return the folder to read for ``opt["edition"]`` (``full`` or ``sample``)."""
    return SAMPLE if is_sample(opt) else obtain(opt["datapath"], SOURCE)
