"""A number's signature: everything that its value depends on, in one line that can be printed next to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai_empathy import __version__


def signature(name: str, **settings: object) -> str:
    """Return ``name|key:value|...|version:x``, with the settings in the given order, without those that are None."""
    parts = [f"{key}:{value}" for key, value in settings.items() if value is not None]
    return "|".join([name, *parts, f"version:{__version__}"])


def signature_lines(report: Mapping[str, Any]) -> list[str]:
    """Return one line for each distinct signature among the metrics of a ParlAI report."""
    names: dict[str, list[str]] = {}
    for key, metric in report.items():
        text = getattr(metric, "signature", None)
        if text:
            names.setdefault(text, []).append(key)
    return [f"{', '.join(keys)}: {text}" for text, keys in names.items()]


class Number(float):
    """A value with a signature that says how it was computed.

    :param signature: in the form of :func:`signature`.
    """

    signature: str

    def __new__(cls, value: float, signature: str) -> Number:
        """Create a float with a signature; results of computations with it are plain floats."""
        number = super().__new__(cls, value)
        number.signature = signature
        return number

    def __reduce__(self) -> tuple[type[Number], tuple[float, str]]:
        return Number, (float(self), self.signature)
