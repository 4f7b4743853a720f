"""Forms as browsers send them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

from parlai_empathy.rating.web.error_pages import unreadable

_MOST_FIELDS = 1000


class Form(Mapping[str, str]):
    """A submitted form: texts by field name. Line breaks are single characters; the last of repeated fields counts."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> str:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def text(self, name: str) -> str:
        """Return a field's text; empty if it was not sent."""
        return self._fields.get(name, "")

    def id(self, name: str) -> str:
        """Return a field that is an id in the store; empty if it was not sent or cannot be an id."""
        return storable_id(self.text(name))

    def number(self, name: str) -> int:
        """Return a field that is a whole number; 0 if it was not sent or is not one."""
        return whole_number(self.text(name))


def whole_number(text: str) -> int:
    """Return a number that a visitor sent; 0 if it is not a whole number, or has more than nine digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def storable_id(text: str) -> str:
    """Return an id that a visitor sent; empty if it cannot be one.

    Some databases cannot even look up a text that contains a null character.
    """
    return "" if "\0" in text else text


def fields_of(body: bytes) -> dict[str, str]:
    """Return the fields of a form's body.

    :raises Refusal: if it is not URL-encoded, or has too many fields.
    """
    try:
        found = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise unreadable() from error
    # Browsers send a line break as two characters, but the page's script counts it as one.
    return {name: value.replace("\r\n", "\n") for name, value in found}
