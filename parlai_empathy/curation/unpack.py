"""Unpack each dump into a part: a Parquet file of its lines, parsed and checked, and a count of what became of them.

Parts are kept, so that a killed run resumes with the next dump, and a run with other constants reuses all parts. Parts
of broken dumps are made again, because next time more may be readable; so are damaged parts. A part gets its final name
only when it is complete. No part contains an author's name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from tqdm import tqdm

from parlai_empathy.curation.blocks import lines_of, lines_schema, read_blocks
from parlai_empathy.curation.content_words import count_content_words
from parlai_empathy.curation.duck import connect
from parlai_empathy.curation.posts import posts_query
from parlai_empathy.curation.sql import quoted
from parlai_empathy.errors import DataError
from parlai_empathy.files.whole_file import whole_file, write_whole
from parlai_empathy.memory import keep_freed_memory
from parlai_empathy.task_kit.builder import sha256_of
from parlai_empathy.tasks.reddit.lines import BrokenFileError

_SPILLED = "spilled"  # folder of data that exceed DuckDB's memory limit; by default it would be in the current folder
_FORMAT = "4"  # of parts; parts of another format are made again
_LONGEST = 50  # characters of a dump's name in that of its part: at most 200 of the 255 bytes that a name may have
# A higher compression level, and dictionaries of names that are all different, would nearly double the writing time and
# save a tenth of the size. DuckDB needs no temporary file, because the file that it writes is temporary already.
_WRITING = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, DICTIONARY_SIZE_LIMIT 2000, USE_TMP_FILE false"


@dataclass
class Account:
    """What became of a dump's lines.

    :param lines: number of lines that are not blank.
    :param bad: number of lines that are not posts, by reason.
    :param first: path and line of the first such line, by reason.
    :param broken: why the dump cannot be read to its end, beginning with its path; empty if it can.
    """

    dump: str
    lines: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    broken: str = ""


@dataclass(frozen=True)
class Part:
    """An unpacked dump: its posts are in ``file``."""

    file: Path
    account: Account


def unpack(dumps: Sequence[Path], folder: Path, memory: str, threads: int) -> list[Part]:
    """Return the parts of the dumps, ordered by the dumps' names, and create missing parts in ``folder``.

    A dump that is given twice, even by a symbolic link, is read once. Dumps of the same name are ordered by their
    folders.

    :raises DataError: if a dump cannot be opened. A broken dump is read as far as possible.
    :raises OSError: if the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / _SPILLED, ignore_errors=True)  # left over from a killed run
    keep_freed_memory()  # each block of lines allocates several buffers of about 1 MiB
    parts = []
    files = {dump.resolve(): dump for dump in dumps}
    dumps = [files[file] for file in sorted(files, key=lambda file: (files[file].name, file))]
    total = sum(_status(dump).st_size for dump in dumps)
    with tqdm(total=total, unit="B", unit_scale=True, desc="unpacking", disable=None) as bar:
        for dump in dumps:
            bar.set_postfix_str(dump.name)
            file = folder / f"{_key(dump)}.parquet"
            if part := _kept(file):
                bar.update(_status(dump).st_size)
            else:
                part = _unpack_one(_Lines(dump, bar.update), file, memory, threads)
            parts.append(part)
    return parts


def _status(dump: Path) -> os.stat_result:
    try:
        return dump.stat()
    except OSError as error:
        raise DataError(f"{dump} cannot be opened ({error.strerror}): check its name, or leave it out") from error


def _key(dump: Path) -> str:
    """Return a part's name: that of its dump, and a hash that changes whenever the dump changes."""
    status = _status(dump)
    seen = f"{_FORMAT}\n{dump.resolve()}\n{status.st_size}\n{status.st_mtime_ns}"
    # Engines treat other characters as patterns, or reject them; and a file system limits the length of a name.
    name = re.sub(r"[^\w.-]", "_", dump.name)[:_LONGEST]
    return f"{name}-{hashlib.sha256(os.fsencode(seen)).hexdigest()[:12]}"


def _kept(file: Path) -> Part | None:
    """Return the existing part, if it is undamaged and covers its whole dump."""
    try:
        account, sha256 = _read_account(file.with_suffix(".json"))
        is_whole = sha256_of(file) == sha256
    except (OSError, ValueError, TypeError, KeyError):  # truncated, damaged or missing
        return None
    return Part(file, account) if is_whole and not account.broken else None


def _unpack_one(lines: _Lines, file: Path, memory: str, threads: int) -> Part:
    with whole_file(file) as unfinished:
        written = quoted(str(unfinished))
        with connect(memory, threads, file.parent / _SPILLED) as database:
            database.create_function("count_content_words", count_content_words, ["VARCHAR"], "INTEGER", type="arrow")
            database.register("lines", lines.stream())
            database.execute(f"COPY ({posts_query()}) TO {written} ({_WRITING})")
            if lines.error:
                raise lines.error
            account = _account(database, lines.dump, written)
        for reason, place in account.first.items():
            logging.info(f"{account.bad[reason]:,} {reason}: first {place}")
        if lines.broken:
            logging.warning(lines.broken)  # the card says so too, but too few posts may be left for a card
        account.broken = lines.broken
        _write_account(account, sha256_of(unfinished), file.with_suffix(".json"))
    return Part(file, account)


class _Lines:
    """The lines of a dump, as a stream that DuckDB's threads read block by block.

    :param dump: the file.
    :param seen: called after each read with the number of bytes read.
    """

    def __init__(self, dump: Path, seen: Callable[[int], object]) -> None:
        self.dump = dump
        self._seen = seen
        self.broken = ""
        """Why the dump cannot be read to its end; empty if it can."""
        self.error: BaseException | None = None
        """Any other exception that ended the reading: DuckDB would not pass it on unchanged."""

    def stream(self) -> Any:
        """Return the lines as a pyarrow reader."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_batches(lines_schema(), self._batches())

    def _batches(self) -> Iterator[Any]:
        try:
            for block in read_blocks(self.dump, seen=self._seen):
                yield lines_of(block)
        except BrokenFileError as error:
            self.broken = str(error)
        except GeneratorExit:
            raise
        except BaseException as error:
            self.error = error


def _account(database: Any, dump: Path, part: str) -> Account:
    """Count what became of a dump's lines, from its part."""
    account = Account(str(dump), database.execute(f"SELECT count(*) FROM read_parquet({part})").fetchone()[0])
    reasons = database.execute(
        f"""SELECT bad, count(*), min(number), arg_min(detail, number) FROM read_parquet({part})
        WHERE bad IS NOT NULL GROUP BY bad ORDER BY min(number)"""
    )
    for reason, count, number, detail in reasons.fetchall():
        account.bad[reason] = count
        account.first[reason] = f"{dump}, line {number}{f' ({detail})' if detail else ''}"
    return account


def _write_account(account: Account, sha256: str, file: Path) -> None:
    write_whole(file, json.dumps({**vars(account), "sha256": sha256}, indent=1) + "\n")


def _read_account(file: Path) -> tuple[Account, str]:
    """Return a part's account, and its SHA-256."""
    record = {**json.loads(file.read_text(encoding="utf-8"))}
    sha256 = record.pop("sha256")
    return Account(**{**record, "bad": Counter(record["bad"])}), sha256
