"""One dump after another becomes a part: its posts, checked, in a Parquet file, and an account of its lines.

Parts are kept, so that a run that was killed goes on with the next dump, and a run with other constants starts with
what is there. A part appears under its name only when it is whole. No part holds the name of an author.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from parlai_empathy.curation.blocks import Block, read_blocks
from parlai_empathy.curation.readers import Read, Readers
from parlai_empathy.errors import DataError

_FORMAT = "1"  # of parts: another one makes them anew
# Names and texts hardly repeat: a dictionary of them costs time and saves nothing.
_WRITING = {"compression": "zstd", "use_dictionary": ["subreddit", "dump", "flaw"], "write_statistics": False}


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

    :raises OSError: if the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    dumps = list({dump.resolve(): dump for dump in dumps}.values())
    total = sum(path.stat().st_size for path in dumps)
    with tqdm(total=total, unit="B", unit_scale=True, desc="unpacking", disable=None) as bar:
        for dump in dumps:
            bar.set_postfix_str(dump.name)
            file = folder / f"{_key(dump)}.parquet"
            if not (file.is_file() and file.with_suffix(".json").is_file()):
                _unpack_one(dump, file, memory, threads)
            parts.append(Part(file, _read_account(file.with_suffix(".json"))))
            bar.update(dump.stat().st_size)
    return parts


def _key(dump: Path) -> str:
    """What a part is called: after its dump, and what tells that it has not changed since."""
    stat = dump.stat()
    seen = f"{_FORMAT}\n{dump.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}"
    name = re.sub(r"[^\w.-]", "_", dump.name)  # what engines read as patterns, or not at all
    return f"{name}-{hashlib.sha256(seen.encode()).hexdigest()[:12]}"


def _unpack_one(dump: Path, file: Path, memory: str, threads: int) -> None:
    import pyarrow.parquet as parquet

    account, unfinished = Account(str(dump)), file.with_suffix(".unfinished")
    first = Block(b"", 1)  # gives no post, but the columns
    try:
        with (
            Readers(file.stem, memory, threads) as readers,
            parquet.ParquetWriter(unfinished, readers.read(first).posts.schema, **_WRITING) as writer,
        ):
            for read in readers.read_all(_blocks(dump, account)):
                _add(account, read)
                writer.write_table(read.posts)
        _write_account(account, file.with_suffix(".json"))
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _blocks(dump: Path, account: Account) -> Iterator[Block]:
    """The blocks that can be read; what ends the reading early is noted."""
    try:
        yield from read_blocks(dump)
    except DataError as error:
        account.broken = str(error)


def _add(account: Account, read: Read) -> None:
    account.lines += read.lines
    for place, (reason, count) in read.bad.items():
        account.bad[reason] += count
        account.first.setdefault(reason, f"{account.dump}, {place}")


def _write_account(account: Account, file: Path) -> None:
    unfinished = file.with_suffix(".json.unfinished")
    try:
        unfinished.write_text(json.dumps(vars(account), indent=1) + "\n", encoding="utf-8")
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _read_account(file: Path) -> Account:
    record = json.loads(file.read_text(encoding="utf-8"))
    return Account(**{**record, "bad": Counter(record["bad"])})
