"""One dump after another becomes a part: its posts, checked, in a Parquet file, and an account of its lines.

Parts are kept, so that a run that was killed goes on with the next dump, and a run with other constants starts with
what is there; those of broken dumps are made anew, for next time more of them may be read. A part appears under its
name only when it is whole. No part holds the name of an author.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from parlai_empathy.curation.blocks import lines_of, lines_schema, read_blocks
from parlai_empathy.curation.content_words import count_content_words
from parlai_empathy.curation.duck import connect
from parlai_empathy.curation.posts import posts_query
from parlai_empathy.files.whole_file import whole_file, write_whole
from parlai_empathy.memory import keep_freed_memory
from parlai_empathy.tasks.reddit.lines import BrokenFileError

_FORMAT = "3"  # of parts: another one makes them anew
# A higher level of compression, and dictionaries of names that all differ, would nearly double the time of writing and
# save a tenth of the file. Its name is a temporary one already.
_WRITING = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, DICTIONARY_SIZE_LIMIT 2000, USE_TMP_FILE false"


@dataclass
class Account:
    """What became of a dump's lines.

    :param lines: those that are not blank.
    :param bad: how many of them are no posts, by reason.
    :param first: the place of the first of each reason.
    :param broken: what is wrong with a dump that cannot be read to its end; empty for a whole one.
    """

    dump: str
    lines: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    broken: str = ""


@dataclass(frozen=True)
class Part:
    """A dump that has been unpacked: its posts in ``file``."""

    file: Path
    account: Account


def unpack(dumps: Sequence[Path], folder: Path, memory: str, threads: int) -> list[Part]:
    """The parts of the dumps, made in ``folder`` where they are not there yet.

    A dump that is named twice, or by a link too, is read once.

    :raises DataError: if a dump cannot be opened. One that is broken is read as far as it goes.
    :raises OSError: if the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    keep_freed_memory()  # each block of lines takes a few pieces of a mebibyte
    parts = []
    dumps = list({dump.resolve(): dump for dump in dumps}.values())
    total = sum(path.stat().st_size for path in dumps)
    with tqdm(total=total, unit="B", unit_scale=True, desc="unpacking", disable=None) as bar:
        for dump in dumps:
            bar.set_postfix_str(dump.name)
            file = folder / f"{_key(dump)}.parquet"
            if part := _kept(file):
                bar.update(dump.stat().st_size)
            else:
                part = _unpack_one(_Lines(dump, bar.update), file, memory, threads)
            parts.append(part)
    return parts


def _key(dump: Path) -> str:
    """What a part is called: after its dump, and what tells that it has not changed since."""
    stat = dump.stat()
    seen = f"{_FORMAT}\n{dump.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}"
    name = re.sub(r"[^\w.-]", "_", dump.name)  # what engines read as patterns, or not at all
    return f"{name}-{hashlib.sha256(os.fsencode(seen)).hexdigest()[:12]}"


def _kept(file: Path) -> Part | None:
    """The part that is there, if it is whole and all of its dump is in it."""
    import pyarrow.parquet as parquet

    try:
        part = Part(file, _read_account(file.with_suffix(".json")))
        is_whole = parquet.read_metadata(file).num_rows == part.account.lines
    except (OSError, ValueError, TypeError, KeyError):  # cut, damaged, or not there
        return None
    return part if is_whole and not part.account.broken else None


def _unpack_one(lines: _Lines, file: Path, memory: str, threads: int) -> Part:
    with whole_file(file) as unfinished:
        written = "'" + str(unfinished).replace("'", "''") + "'"
        with connect(memory, threads) as database:
            database.create_function("count_content_words", count_content_words, ["VARCHAR"], "INTEGER", type="arrow")
            database.register("lines", lines.stream())
            database.execute(f"COPY ({posts_query()}) TO {written} ({_WRITING})")
            if lines.error:
                raise lines.error
            account = _account(database, lines.dump, written)
        account.broken = lines.broken
        _write_account(account, file.with_suffix(".json"))
    return Part(file, account)


class _Lines:
    """The lines of a dump, as a stream that DuckDB's threads read block by block.

    :param dump: the file.
    :param seen: told of how many of its bytes, each time that some were read.
    """

    def __init__(self, dump: Path, seen: Callable[[int], object]) -> None:
        self.dump = dump
        self._seen = seen
        self.broken = ""
        """Why the dump cannot be read to its end; empty for one that can."""
        self.error: BaseException | None = None
        """What else has ended the reading: it cannot pass through DuckDB as it is."""

    def stream(self) -> Any:
        """A reader of pyarrow."""
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
    """What became of the lines, by the part."""
    account = Account(str(dump), database.execute(f"SELECT count(*) FROM read_parquet({part})").fetchone()[0])
    reasons = database.execute(
        f"""SELECT bad, count(*), min(number), arg_min(detail, number) FROM read_parquet({part})
        WHERE bad IS NOT NULL GROUP BY bad ORDER BY min(number)"""
    )
    for reason, count, number, detail in reasons.fetchall():
        account.bad[reason] = count
        account.first[reason] = f"{dump}, line {number}{f' ({detail})' if detail else ''}"
    return account


def _write_account(account: Account, file: Path) -> None:
    write_whole(file, json.dumps(vars(account), indent=1) + "\n")


def _read_account(file: Path) -> Account:
    record = json.loads(file.read_text(encoding="utf-8"))
    return Account(**{**record, "bad": Counter(record["bad"])})
