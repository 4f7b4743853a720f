"""Read tables with a header: ``.csv``, ``.tsv``, or ``.jsonl`` with one object per line."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from parlai_empathy.errors import DataError, shown
from parlai_empathy.files.text_file import open_text
from parlai_empathy.tasks.engagement.records import whole

KINDS = (".csv", ".tsv", ".jsonl")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class Row:
    """A row of a table.

    :param where: file and line, for the beginning of error messages.
    :param fields: values by column; names are in lower case with ``_`` between words. JSON values have any type.
    """

    where: str
    fields: dict[str, Any]

    def column(self, names: Sequence[str]) -> str:
        """Return the first of ``names`` that is a column.

        :raises DataError: naming the existing columns, if none of ``names`` is one.
        """
        for name in names:
            if name in self.fields:
                return name
        found = shown(", ".join(self.fields))
        raise DataError(f"{self.where}: it has no column {' or '.join(names)}; its columns are {found}")

    def text(self, *names: str) -> str:
        """Return the value of the first of ``names`` that is a column, as text without surrounding white space.

        :raises DataError: if none is a column, or if a JSON value is neither a text nor a number, or has an unpaired
            surrogate.
        """
        name = self.column(names)
        value = "" if self.fields[name] is None else self.fields[name]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise DataError(f"{self.where}, column {name}: {shown(value)} is neither a text nor a number")
        return whole(str(value), f"{self.where}, column {name}").strip()


def read_table(path: str | Path) -> Iterator[Row]:
    """Yield the rows of a table; blank lines are skipped.

    :raises DataError: naming file and line, for a file that cannot be read, is not UTF-8 or has another extension, for
        two columns of the same name, or for a row with too few or too many fields.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise DataError(f"{path}: the name of a table must end in {', '.join(KINDS)}")
    file = open_text(path, "check its name")
    yield from _objects(path, file) if kind == ".jsonl" else _rows(path, file, _DELIMITERS[kind])


def _rows(path: Path, file: IO[str], delimiter: str) -> Iterator[Row]:
    rows = csv.reader(file, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    line = 0
    try:
        for values in rows:
            where = f"{path}, line {line + 1}"
            line = rows.line_num
            if not values:
                continue
            if header is None:
                header = _names(values, where)
            elif len(values) != len(header):
                raise DataError(f"{where}: {len(values)} field(s) where the header names {len(header)}")
            elif delimiter == "\t" and (torn := [value for value in values if delimiter in value]):
                raise DataError(
                    f"{where}: {shown(torn[0])} is one field, from a quotation mark to the next: enclose texts that "
                    'begin with one in quotation marks, and double those within (""Hi", he said")'
                )
            else:
                yield Row(where, dict(zip(header, values, strict=True)))
    except csv.Error as error:
        raise DataError(
            f"{path}, after line {line}: it is not a valid row of a table ({error}): fetch it again"
        ) from error


def _objects(path: Path, file: IO[str]) -> Iterator[Row]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{where}: it is not JSON ({str(error).splitlines()[0]}): one object per line was expected"
            ) from error
        if not isinstance(found, dict):
            raise DataError(f"{where}: {shown(found)} is not an object: one object per line was expected")
        yield Row(where, dict(zip(_names(list(found), where), found.values(), strict=True)))


def _names(texts: Sequence[str], where: str) -> list[str]:
    """Return the columns' names. Several may be empty: such columns are ignored.

    :raises DataError: if two columns have the same name, since only one of them could be read.
    """
    names = list(map(_name, texts))
    if twice := [text for text, count in Counter(names).items() if count > 1 and text]:
        raise DataError(f"{where}: {shown(', '.join(twice))} is the name of two columns: rename one, or leave it out")
    return names


def _name(text: str) -> str:
    return "_".join(text.strip().lower().replace("-", " ").replace("_", " ").split())
