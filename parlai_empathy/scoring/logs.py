"""Reading of reply logs from any system; the format is detected.

============== ========================================================================================================
JSON lines     one object per line with ``reply``, and optionally ``context`` (a list of turns, or a text with one turn
               per line), ``reference`` (a text) or ``references`` (a list), ``emotion``, ``system``, ``turn`` (the
               reply's turn in its conversation), ``item`` (its name in ratings), ``no_answer`` (why there is none)
CSV, TSV       columns of the same names; lists of texts are written as JSON or Python does
ParlAI's logs  what ``parlai eval_model --world-logs FILE`` writes: one conversation per line
text blocks    the test outputs of MoEL, EmpDG, CEM and similar projects: lines ``Emotion: …``, ``Context: [...]``, one
               line ``<system>: reply`` for each system, and ``Ref: …``
============== ========================================================================================================

An empty reply is a valid record. A line that cannot be read raises an error with its line number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import parlai.utils.logging as logging

from parlai_empathy.errors import DataError
from parlai_empathy.files.text_file import has_half_characters
from parlai_empathy.files.user_path import user_path
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs_records import read_csv, read_json_lines
from parlai_empathy.scoring.logs_text import read_blocks, starts_block

__all__ = ["LoggedReply", "read_replies_log"]

Lines = Iterator[tuple[int, str]]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_replies_log(path: str | Path) -> list[LoggedReply]:
    """Read a log, in the order of the file.

    :raises DataError: if the file cannot be read, has an unknown or invalid format, or contains no reply.
    """
    path = user_path(path)
    begun = _begun(lines := _lines(path))
    replies = list(_reader(path, begun)(chain(begun, lines), path))
    if not replies:
        raise DataError(f"{path} contains no reply: name a log with at least one")
    for one in replies:
        _check_characters(one, path)
    if all(one.is_candidate for one in replies):
        logging.warning(
            f"{path}: each reply is one of its message's candidates, which may include the true reply: to score what a "
            "model says in a chat, evaluate it with --eval-candidates fixed"
        )
    return replies


def _check_characters(one: LoggedReply, path: Path) -> None:
    """Check that all texts can be encoded and all names stored: escapes can produce lone surrogates and nulls."""
    texts = (one.reply, *one.context, *one.references, one.emotion or "", one.system, one.item, one.no_answer)
    if has_half_characters("".join(texts)):
        raise DataError(f"{path}, line {one.line}: a text contains half a character (a lone surrogate): write it whole")
    if "\0" in one.system + one.item:  # not every store can hold it
        raise DataError(f"{path}, line {one.line}: the item or system has a null character in its name: leave it out")


def _begun(lines: Lines) -> list[tuple[int, str]]:
    """Return the lines up to the first one that is not blank, to be kept, because a pipe can be read only once."""
    begun = []
    for number, line in lines:
        begun.append((number, line))
        if line.strip():
            break
    return begun


def _reader(path: Path, begun: Sequence[tuple[int, str]]) -> Callable[[Lines, Path], Iterator[LoggedReply]]:
    """Return the file's reader, chosen by its name and its first line that is not blank."""
    if delimiter := _DELIMITERS.get(path.suffix.lower()):
        return lambda lines, path: read_csv(lines, path, delimiter)
    number, first = begun[-1] if begun else (0, "")
    if first.lstrip().startswith("{"):
        return read_json_lines
    if starts_block(first):
        return read_blocks
    if not first.strip():
        raise DataError(f"{path} is empty: name a log of replies")
    raise DataError(
        f"{path}, line {number}: {first.strip()[:40]!r} does not start a log of replies: expected JSON lines, a line "
        "that starts with Emotion:, or a file named .csv or .tsv"
    )


def _lines(path: Path) -> Lines:
    """Yield the number and text of each line, line end included, without a byte order mark at the start."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): name a log of replies") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, line {number}: not UTF-8 ({error.reason}): save the log as UTF-8") from error
