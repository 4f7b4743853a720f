"""A number that carries its signature."""

from __future__ import annotations


class Number(float):
    """A value, with all that decided it.

    :param signature: in the form of :func:`parlai_empathy.metrics.signature.signature`.
    """

    signature: str

    def __new__(cls, value: float, signature: str) -> Number:
        """Make a float that remembers its signature; what is computed with it is a plain float."""
        number = super().__new__(cls, value)
        number.signature = signature
        return number

    def __reduce__(self) -> tuple[type[Number], tuple[float, str]]:
        return Number, (float(self), self.signature)
