"""Reading typed values from a study file. An error is one line: file, key, value, and what was expected."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from parlai_empathy.errors import OptionError

_MOST = 10**9


class Values:
    """The values of one mapping in a study file.

    :param where: the file and the mapping's key in it, for error messages.
    :param known: the valid keys.
    :raises OptionError: if ``raw`` is not a mapping, or has an unknown key.
    """

    def __init__(self, where: str, raw: object, known: Collection[str]) -> None:
        if not isinstance(raw, Mapping):
            raise OptionError(f"{where} is {shown(raw)}, expected lines `key: value` with {', '.join(known)}")
        for key in raw:
            if key not in known:
                raise OptionError(f"{where}: there is no key {shown(key)}; {_meant(str(key), known)}")
        self.where = where
        self._raw: Mapping[str, Any] = raw

    def text(self, key: str, default: str | None = None) -> str:
        """A text; without a ``default`` it is required and must not be blank."""
        value = self._raw.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not (value.strip() or default is not None):
            raise self._wrong(key, "a text" + ("" if value is None or isinstance(value, str) else ", in quotes"))
        return value.strip()

    def one_of(self, key: str, choices: Collection[str], default: str | None = None) -> str:
        """One of ``choices``."""
        value = self._raw.get(key, default)
        if not isinstance(value, str) or value not in choices:
            raise self._wrong(key, f"one of {', '.join(choices)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """``true`` or ``false``."""
        value = self._raw.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def whole(self, key: str, default: int | None, least: int, most: int = _MOST, none: str = "") -> int | None:
        """A whole number from ``least`` to ``most``.

        :param none: the word that stands for None; empty if there is no such word.
        """
        value = self._raw.get(key, default)
        if (none and value == none) or (value is None and default is None and key not in self._raw):
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            ends = f"from {least} to {most}" if most < _MOST else f"of at least {least}"
            raise self._wrong(key, f"a whole number {ends}" + (f", or {none}" if none else ""))
        return value

    def count(self, key: str, default: int, least: int, most: int = _MOST) -> int:
        """A whole number from ``least`` to ``most``, never None."""
        value = self.whole(key, default, least, most)
        assert value is not None
        return value

    def positive(self, key: str, default: float) -> float:
        """A number above 0, at most 10^9."""
        value = self._raw.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
            raise self._wrong(key, f"a number above 0, at most {_MOST:,}")
        return float(value)

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts."""
        value = self._raw.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            raise self._wrong(key, "a list of texts, each in quotes if it could be read as something else")
        return tuple(one.strip() for one in value)

    def named(self, key: str) -> dict[Any, Any]:
        """A mapping whose keys the user chooses; empty if missing."""
        value = self._raw.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise self._wrong(key, "lines `name: value`")
        return dict(value or {})

    def children(self, key: str) -> Iterator[tuple[str, object]]:
        """Yield the entries of a list, each with its position for error messages."""
        value = self._raw.get(key)
        if value is not None and not isinstance(value, list):
            raise self._wrong(key, "a list, each entry with a - before it")
        for place, one in enumerate(value or [], start=1):
            yield f"{self.where}: {key} {place}", one

    def has(self, key: str) -> bool:
        """Whether the file has a value for ``key``."""
        return self._raw.get(key) is not None

    def _wrong(self, key: str, expected: str) -> OptionError:
        value = self._raw.get(key)
        found = "is missing" if value is None else f"is {shown(value)}"
        return OptionError(f"{self.where}: {key} {found}, expected {expected}")


def shown(value: object) -> str:
    """A value for an error message: shortened, on one line."""
    return " ".join(reprlib.repr(value).split())


def _meant(key: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {close[0]}?" if close else f"the keys are {', '.join(known)}"
