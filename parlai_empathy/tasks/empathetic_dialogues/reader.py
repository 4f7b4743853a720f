"""Read EmpatheticDialogues' CSV files.

They look like CSV but are not: fields are split at each comma, quotes are plain text, a comma in a text is written
``_comma_`` and a bar in a candidate ``_pipe_``. Columns are found by the header's names. A field after the last named
one contains the 100 candidates of a Listener turn (official valid and test files).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from parlai_empathy.errors import DataError, shown

EMOTIONS = tuple(
    "afraid angry annoyed anticipating anxious apprehensive ashamed caring confident content devastated disappointed "  # noqa: SIM905
    "disgusted embarrassed excited faithful furious grateful guilty hopeful impressed jealous joyful lonely nostalgic "
    "prepared proud sad sentimental surprised terrified trusting".split()
)
"""The 32 emotion labels (Rashkin et al. 2019, Table 1), spelt as in the files."""

COLUMNS = ("conv_id", "utterance_idx", "context", "prompt", "speaker_idx", "utterance", "selfeval", "tags")
_REQUIRED = COLUMNS[:6]

_TAG = re.compile(r"<[^<>]+>|[^<>\s]+")
_TURN_NUMBER = re.compile(r"[0-9]{1,9}")
_SELF_EVALUATION = re.compile(r"\d\|\d\|\d")


@dataclass(frozen=True)
class SelfEvaluation:
    """One person's ratings of the other after the conversation, 1..5. Their order is probable, but not documented."""

    empathy: int
    relevance: int
    understandability: int


@dataclass(frozen=True)
class Turn:
    """One utterance.

    :param index: from 1; odd turns are the Speaker's, even turns the Listener's.
    :param worker: the file's ``speaker_idx``: a crowd worker's number, or 0 and 1.
    :param candidates: replies to choose from, including the true one; empty if the file has none.
    """

    index: int
    worker: str
    text: str
    candidates: tuple[str, ...] = ()

    @property
    def is_listener(self) -> bool:
        """Whether this is a turn of the Listener."""
        return self.index % 2 == 0


@dataclass(frozen=True)
class Dialogue:
    """One conversation: the Speaker tells the Listener about a ``situation`` in which they felt ``emotion``."""

    conv_id: str
    emotion: str
    situation: str
    turns: tuple[Turn, ...]
    self_evaluations: tuple[SelfEvaluation, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Row:
    line: int
    fields: dict[str, str]
    candidates: str

    @property
    def conv_id(self) -> str:
        return self.fields["conv_id"]


def read_empathetic_dialogues(path: str | Path) -> Iterator[Dialogue]:
    """Read one of the data set's files, in file order.

    :raises DataError: naming file and line, for a missing file, a missing column, too few or too many fields, an
        unknown emotion, a turn number out of sequence, or text that is not UTF-8.
    """
    path = Path(path)
    for _, group in groupby(_read_rows(path), key=attrgetter("conv_id")):
        yield _dialogue(path, list(group))


def _read_rows(path: Path) -> Iterator[_Row]:
    try:
        # Read as bytes: only "\n" ends a line, and texts may contain other characters at which Python splits lines.
        file = path.open("rb")
    except OSError as error:
        reason = error.strerror
        raise DataError(f"{path} cannot be read ({reason}): it should be a file of EmpatheticDialogues") from error
    with file:
        header = _header(path, _decode(path, 1, next(file, b"")))
        for number, encoded in enumerate(file, start=2):
            line = _decode(path, number, encoded)
            if line.strip():
                yield _row(path, number, line.rstrip("\r\n"), header)


def _decode(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, line {number}: not UTF-8 ({error.reason}): save the file as UTF-8") from error


def _header(path: Path, line: str) -> list[str]:
    names = line.strip().lstrip("\ufeff").split(",")
    missing = [name for name in _REQUIRED if name not in names]
    if missing:
        raise DataError(
            f"{path}, line 1: the header lacks the column(s) {', '.join(missing)}: it should read {','.join(COLUMNS)}"
        )
    return names


def _row(path: Path, number: int, line: str, header: list[str]) -> _Row:
    fields = line.split(",")
    # The official headers do not always name the last columns of their rows: tags or candidates may be missing.
    fewest = max(header.index(name) for name in _REQUIRED) + 1
    last = max(len(header), len(COLUMNS))
    most = last if "candidates" in header else last + 1
    if not fewest <= len(fields) <= most:
        raise DataError(
            f"{path}, line {number}: {len(fields)} fields, expected {fewest} to {most} (commas are written _comma_)"
        )
    candidates = fields[last] if len(fields) > last else ""
    evaluations = dict(zip([*header, *COLUMNS[len(header) :]], fields, strict=False)).get("selfeval", "")
    if len(fields) != len(header) and _seems_shifted(evaluations, candidates):
        raise DataError(
            f"{path}, line {number}: {len(fields)} fields, and {shown(evaluations)} after the utterance is not an "
            "evaluation: write a comma in a text as _comma_"
        )
    named = dict(zip(header, fields, strict=False))
    if named["context"] not in EMOTIONS:
        raise DataError(
            f"{path}, line {number}, column context: unknown emotion {shown(named['context'])}; one of the 32 was "
            "expected"
        )
    if not _TURN_NUMBER.fullmatch(named["utterance_idx"]):
        raise DataError(
            f"{path}, line {number}, column utterance_idx: {shown(named['utterance_idx'])} is not a turn "
            "number (1, 2 ...)"
        )
    return _Row(number, named, named.pop("candidates", candidates))


def _seems_shifted(evaluations: str, candidates: str) -> bool:
    """Whether a row that has not the header's number of fields was probably split at a comma in its utterance.

    The rest of the utterance is then in place of the evaluations. A row whose last field lists candidates is valid.
    """
    return bool(evaluations) and not parse_self_evaluations(evaluations) and "|" not in candidates


def _dialogue(path: Path, rows: list[_Row]) -> Dialogue:
    for expected, row in enumerate(rows, start=1):
        if int(row.fields["utterance_idx"]) != expected:
            raise DataError(
                f"{path}, line {row.line}, column utterance_idx: turn {row.fields['utterance_idx']} of conversation "
                f"{shown(row.conv_id)} found where turn {expected} was expected"
            )
    first = rows[0].fields
    return Dialogue(
        conv_id=first["conv_id"],
        emotion=first["context"],
        situation=_text(first["prompt"]),
        turns=tuple(_turn(row) for row in rows),
        self_evaluations=next(filter(None, map(_self_evaluations, rows)), ()),
        tags=tuple(dict.fromkeys(tag for row in rows for tag in _TAG.findall(row.fields.get("tags", "")))),
    )


def _turn(row: _Row) -> Turn:
    return Turn(
        index=int(row.fields["utterance_idx"]),
        worker=row.fields["speaker_idx"],
        text=_text(row.fields["utterance"]),
        candidates=tuple(_text(text).replace("_pipe_", "|") for text in row.candidates.split("|") if row.candidates),
    )


def _self_evaluations(row: _Row) -> tuple[SelfEvaluation, ...]:
    return parse_self_evaluations(row.fields.get("selfeval", ""))


def _text(field: str) -> str:
    return field.replace("_comma_", ",").strip()


def parse_self_evaluations(field: str) -> tuple[SelfEvaluation, ...]:
    """Parse ``4|3|4_3|5|5``: three numbers per person. Other values give nothing, as the column is undocumented."""
    groups = field.split("_")
    if not all(_SELF_EVALUATION.fullmatch(group) for group in groups):
        return ()
    return tuple(SelfEvaluation(*map(int, group.split("|"))) for group in groups)
