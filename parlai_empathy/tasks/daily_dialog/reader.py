"""Read DailyDialog: three text files per split, for the texts, the acts and the emotions, with one dialogue per line.

In the texts, each turn ends in ``__eou__``. The other two files have one number per turn, separated by spaces.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parlai_empathy.errors import DataError, one_line, shown

EMOTIONS = ("no_emotion", "anger", "disgust", "fear", "happiness", "sadness", "surprise")
"""The emotions, numbered from 0 in the files (Li et al. 2017, section 3.3)."""
ACTS = ("inform", "question", "directive", "commissive")
"""The acts, numbered from 1 in the files (Li et al. 2017, section 3.2)."""

_END_OF_TURN = "__eou__"
# SHA-256 of a line of the authors' train file with one ``__eou__`` too many: its turns 5 and 6 are one, with one act.
_SPLIT_IN_TWO = {"427d719fc98db35d1fff22cc53e92e3a2291aeb8bae8e5729532068b583425ed": 4}


@dataclass(frozen=True)
class Turn:
    """One utterance. ``act`` is one of :data:`ACTS`, ``emotion`` one of :data:`EMOTIONS`."""

    text: str
    act: str
    emotion: str


@dataclass(frozen=True)
class Dialogue:
    """One conversation of two people who take turns. ``conv_id`` is the split's name and the line's number."""

    conv_id: str
    turns: tuple[Turn, ...]


def read_daily_dialog(path: str | Path) -> Iterator[Dialogue]:
    """Read one split, in file order.

    :param path: the authors' ``train.zip``, ``validation.zip`` or ``test.zip``, or the unpacked folder.
    :raises DataError: naming file and line, for a missing or broken file, an empty turn, an unknown number, a count of
        numbers other than that of the turns, or text that is not UTF-8.
    """
    path = Path(path)
    names = [f"dialogues{kind}_{path.stem}.txt" for kind in ("", "_act", "_emotion")]
    texts, acts, emotions = (_lines(path, name) for name in names)
    for name, lines in ((names[1], acts), (names[2], emotions)):
        if len(lines) != len(texts):
            raise DataError(
                f"{path}/{name}: {len(lines)} lines, but {names[0]} has {len(texts)}: they are not of the same split"
            )
    for number, (text, act, emotion) in enumerate(zip(texts, acts, emotions, strict=True), start=1):
        turns = _turns(f"{path}/{names[0]}, line {number}", text)
        yield Dialogue(
            f"{path.stem}_{number}",
            tuple(
                map(
                    Turn,
                    turns,
                    _named(f"{path}/{names[1]}, line {number}", act, ("", *ACTS), len(turns)),
                    _named(f"{path}/{names[2]}, line {number}", emotion, EMOTIONS, len(turns)),
                )
            ),
        )


def _turns(place: str, line: str) -> list[str]:
    parts = [" ".join(part.split()) for part in line.split(_END_OF_TURN)]
    if not parts[-1]:
        parts.pop()  # after the last end of turn
    if not parts:
        raise DataError(f"{place}: it has no turn; one dialogue per line was expected")
    if not all(parts):
        raise DataError(f"{place}: turn {parts.index('') + 1} is empty: text was expected before {_END_OF_TURN}")
    first = _SPLIT_IN_TWO.get(hashlib.sha256(line.strip().encode()).hexdigest())
    if first is not None:
        parts[first : first + 2] = [" ".join(parts[first : first + 2])]
    return parts


def _named(place: str, line: str, names: tuple[str, ...], turns: int) -> list[str]:
    """Return the names of a line's numbers, which index ``names``. An empty name marks an index that is not used."""
    known = {str(number): name for number, name in enumerate(names) if name}
    numbers = line.split()
    if len(numbers) != turns:
        raise DataError(f"{place}: {len(numbers)} number(s) for {turns} turn(s); each turn needs one")
    if strange := [number for number in numbers if number not in known]:
        raise DataError(f"{place}: {shown(strange[0])} is not one of {', '.join(known)}")
    return [known[number] for number in numbers]


def _lines(path: Path, name: str) -> list[str]:
    """Return a file's lines. Bytes are split, because ``str.splitlines`` would also split within some texts."""
    lines = _content(path, name).removesuffix(b"\n").split(b"\n")
    return [_decoded(f"{path}/{name}, line {number}", line) for number, line in enumerate(lines, start=1)]


def _decoded(place: str, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 ({error.reason}): save the file as UTF-8") from error


def _content(path: Path, name: str) -> bytes:
    try:
        if path.is_dir():
            return (path / name).read_bytes()
        with zipfile.ZipFile(path) as packed:
            return packed.read(f"{path.stem}/{name}")
    except KeyError as error:
        raise DataError(f"{path} lacks {path.stem}/{name}: it should be a zip file of DailyDialog") from error
    except OSError as error:
        raise DataError(
            f"{path}/{name} cannot be read ({error.strerror or error}): it should be a file of DailyDialog"
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(
            f"{path} cannot be unpacked ({one_line(error)}): it should be a zip file of DailyDialog"
        ) from error
