"""Read HUMOD: the official tab-separated file, or JSON lines with the same content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import ParamSpec, TypeVar

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.humod.json_lines import pair_of_json
from parlai_empathy.tasks.humod.official import (
    Before,
    Header,
    Row,
    agreeing,
    pair_key,
    pair_of,
    read_header,
    read_row,
)
from parlai_empathy.tasks.humod.records import Pair, Place

_P = ParamSpec("_P")
_T = TypeVar("_T")


def read_humod(path: str | Path, bad_rows: list[DataError] | None = None) -> Iterator[Pair]:
    """Read a HUMOD file, in file order.

    :param bad_rows: a list to which the errors of invalid lines are appended, and these lines are left out; None raises
        the first error.
    :raises DataError: naming file, line, column and value, for a line that is not UTF-8 or has too few fields, a rating
        outside 1..5, a context without turns, or an empty reply. Regardless of ``bad_rows``: naming the file, if it
        cannot be opened or its header is invalid.
    """
    path = Path(path)
    lines = _lines(path)
    if path.suffix.lower() == ".jsonl":
        for place, line in lines:
            yield from _attempt(bad_rows, pair_of_json, place, line)
        return
    header = read_header(*next(lines, (Place(path, 1), b"")))
    rows = (row for place, line in lines for row in _attempt(bad_rows, read_row, place, line, header))
    before = Before()
    for members in _by_number(rows, header) if header.number is not None else _by_neighbours(rows):
        ((usual, _),) = Counter((row.context, row.reply) for row in members).most_common(1)
        alike = [row for member in members for row in _attempt(bad_rows, agreeing, member, usual)]
        pairs = list(_attempt(bad_rows, pair_of, alike, usual, before, bool(bad_rows)))
        yield from pairs
        before = Before(members[-1].place.line, usual[0], not pairs or pairs[0].is_original)


def _by_number(rows: Iterable[Row], header: Header) -> Iterable[list[Row]]:
    """Group the rows by their pair's number, wherever they stand in the file, in the order of the first rows.

    :raises DataError: if the column numbers the rows instead: no number occurs twice, but a context with its reply does
        three times.
    """
    pairs: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        pairs.setdefault(pair_key(row), []).append(row)
    texts = Counter((row.context, row.reply) for members in pairs.values() for row in members)
    if all(len(members) == 1 for members in pairs.values()) and any(count > 2 for count in texts.values()):
        assert header.number is not None
        path = next(iter(pairs.values()))[0].place.path
        raise DataError(
            f"{path}, column {header.names[header.number]}: it numbers the rows, but should have the same number in "
            "all rows of a pair: rename it, and pairs are recognised by their texts"
        )
    return pairs.values()


def _by_neighbours(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Group neighbouring rows with the same texts: the same context and reply may occur again as another pair."""
    return (list(group) for _, group in groupby(rows, key=pair_key))


def _attempt(
    bad_rows: list[DataError] | None, make: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs
) -> Iterator[_T]:
    """Yield the result of ``make``, or nothing and append its error to ``bad_rows``."""
    try:
        made = make(*arguments, **named)
    except DataError as error:
        if bad_rows is None:
            raise DataError(f"{error} (or leave such rows out with --skip-bad-rows true)") from error
        bad_rows.append(error)
    else:
        yield made


def _lines(path: Path) -> Iterator[tuple[Place, bytes]]:
    """Yield the lines that are not blank."""
    try:
        # Read as bytes: only "\n" ends a line, and texts may contain other characters at which Python splits lines.
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): it should be a file of HUMOD") from error
    with file:
        yield from ((Place(path, number), line) for number, line in enumerate(file, start=1) if line.strip())
