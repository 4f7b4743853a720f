"""Forms as browsers send them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

from parlai_empathy.rating.web.refusals import unreadable

_MOST_FIELDS = 1000


class Form(Mapping[str, str]):
    """What a form has sent: texts by the fields' names. Line breaks are single characters; of twins the last counts."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> str:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def text(self, name: str) -> str:
        """A field; empty if it was not sent."""
        return self._fields.get(name, "")

    def id(self, name: str) -> str:
        """A field that names something in the store; empty if it was not sent, or nothing there can be called so."""
        return storable_id(self.text(name))


def storable_id(text: str) -> str:
    """What a visitor calls something in the store; empty if nothing there can be called so.

    Not each database can even look for a text with a character of value 0.
    """
    return "" if "\0" in text else text


def fields_of(body: bytes) -> dict[str, str]:
    """The fields of a form's body.

    :raises Refusal: if it is not encoded as forms are, or has more fields than any form.
    """
    try:
        found = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise unreadable() from error
    # Browsers send two characters for a line break, whatever the page's script has counted.
    return {name: value.replace("\r\n", "\n") for name, value in found}
