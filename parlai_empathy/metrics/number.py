"""A number with its signature."""

from __future__ import annotations


class Number(float):
    """A value with a signature that says how it was computed.

    :param signature: in the form of :func:`parlai_empathy.metrics.signature.signature`.
    """

    signature: str

    def __new__(cls, value: float, signature: str) -> Number:
        """Create a float with a signature; results of computations with it are plain floats."""
        number = super().__new__(cls, value)
        number.signature = signature
        return number

    def __reduce__(self) -> tuple[type[Number], tuple[float, str]]:
        return Number, (float(self), self.signature)
