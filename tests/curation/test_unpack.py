"""Parts of dumps: written once and atomically, with every line accounted for and without authors' names."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import pytest
from full_disk import full_disk
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tiny_dumps import AUTHORS, PACKERS, comment, lines, random_posts, write_dump
from tqdm import tqdm

from parlai_empathy.curation.duck import connect
from parlai_empathy.curation.unpack import Part, unpack
from parlai_empathy.errors import DataError

OneLine = Callable[..., None]

POSTS = random_posts(60, seed=5)


def unpacked(dumps: list[Path], folder: Path, threads: int = 1) -> list[Part]:
    return unpack(dumps, folder, "1GB", threads)


def rows(part: Part) -> list[dict[str, Any]]:
    """Return the posts of a part in the order of the dump, without its bad lines."""
    table = parquet.read_table(part.file).sort_by("number")
    return [row for row in table.to_pylist() if row["bad"] is None]


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return the modification times and contents of a folder's files."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


@pytest.mark.parametrize("ending", [".jsonl", ".bz2", ".gz", ".xz", ".zst"])
def test_part_holds_posts_and_account_counts_lines(tmp_path: Path, ending: str) -> None:
    dump = tmp_path / f"RC_2006-01{ending}"
    content = "\n".join([*lines(POSTS), "", "?", " ", "[]", "?"]).encode()
    dump.write_bytes(PACKERS.get(ending, bytes)(content))
    (part,) = unpacked([dump], tmp_path / "parts")
    assert [row["number"] for row in rows(part)] == list(range(1, 61))
    assert [row["name"][3:] for row in rows(part)] == [post["id"] for post in POSTS]
    assert part.account.lines == 63
    assert part.account.bad == Counter({"not JSON": 2, "no object": 1})
    assert part.account.first == {"not JSON": f"{dump}, line 62", "no object": f"{dump}, line 64"}
    assert (part.account.dump, part.account.broken) == (str(dump), "")
    assert part.file.name.startswith(f"RC_2006-01{ending}-")
    assert {path.suffix for path in part.file.parent.iterdir()} == {".parquet", ".json"}


def test_parts_contain_no_author_names(tmp_path: Path) -> None:
    part = unpacked([write_dump(tmp_path / "a.jsonl", POSTS)], tmp_path / "parts")[0]
    kept = json.dumps(rows(part)) + part.file.with_suffix(".json").read_text()
    assert [author for author in AUTHORS if author and author[0] == "x" and author in kept] == []


def test_parts_are_reused_unless_the_dump_changes(tmp_path: Path) -> None:
    one, other = (write_dump(tmp_path / f"{name}.jsonl", POSTS) for name in "ab")
    first = unpacked([one, other], tmp_path / "parts")
    before = state(tmp_path / "parts")
    assert unpacked([other, one], tmp_path / "parts", threads=3) == first
    assert state(tmp_path / "parts") == before
    write_dump(one, POSTS[:-1])
    changed = unpacked([one, other], tmp_path / "parts")
    assert (len(rows(changed[0])), changed[1]) == (59, first[1])
    os.utime(other, ns=(0, 0))  # of the same size, but with another modification time
    assert unpacked([other], tmp_path / "parts")[0].file != first[1].file


@pytest.mark.parametrize("ending", [".jsonl", ".bz2", ".gz", ".xz", ".zst"])
def test_progress_bar_reaches_total_size_of_dumps(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Any] = []

    class Bar(tqdm):  # type: ignore[type-arg]
        def __init__(self, **values: Any) -> None:
            super().__init__(**values | {"disable": False, "file": io.StringIO()})
            bars.append(self)

    monkeypatch.setattr("parlai_empathy.curation.unpack.tqdm", Bar)
    dumps = [write_dump(tmp_path / f"{name}{ending}", POSTS) for name in "ab"]
    unpacked(dumps[:1], tmp_path / "parts")
    unpacked(dumps, tmp_path / "parts")
    sizes = [dump.stat().st_size for dump in dumps]
    assert [(bar.n, bar.total) for bar in bars] == [(sizes[0], sizes[0]), (sum(sizes), sum(sizes))]


def test_part_without_account_is_rebuilt(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "a.jsonl", POSTS)
    part = unpacked([dump], tmp_path / "parts")[0]
    part.file.with_suffix(".json").unlink()
    assert unpacked([dump], tmp_path / "parts") == [part]
    assert part.file.with_suffix(".json").is_file()


@pytest.mark.parametrize("suffix", [".parquet", ".json"])
@pytest.mark.parametrize("left", [0, 9, -9])
def test_damaged_part_is_rebuilt(tmp_path: Path, suffix: str, left: int) -> None:
    dump = write_dump(tmp_path / "a.jsonl", POSTS)
    part = unpacked([dump], tmp_path / "parts")[0]
    damaged = part.file.with_suffix(suffix)
    damaged.write_bytes(damaged.read_bytes()[:left])
    assert unpacked([dump], tmp_path / "parts") == [part]
    assert len(rows(part)) == 60


@pytest.mark.parametrize("place", [0.1, 0.2, 0.3, 0.9])
def test_part_with_a_wrong_byte_in_the_middle_is_rebuilt(tmp_path: Path, place: float) -> None:
    """Compressed data can be read in spite of it, as another text."""
    dump = write_dump(tmp_path / "a.jsonl", POSTS)
    (part,) = unpacked([dump], tmp_path / "parts")
    whole, expected = bytearray(part.file.read_bytes()), rows(part)
    whole[int(len(whole) * place)] ^= 1
    part.file.write_bytes(whole)
    assert unpacked([dump], tmp_path / "parts") == [part]
    assert rows(part) == expected


@pytest.mark.parametrize(
    "content", ["[]", "{}", "null", '"sha256"', '{"dump": "a", "bad": 3}', '{"bad": {}, "lines": "60", "dump": 1}']
)
def test_part_with_invalid_account_is_rebuilt(tmp_path: Path, content: str) -> None:
    dump = write_dump(tmp_path / "a.jsonl", POSTS)
    part = unpacked([dump], tmp_path / "parts")[0]
    part.file.with_suffix(".json").write_text(content)
    assert unpacked([dump], tmp_path / "parts") == [part]
    assert unpacked([dump], tmp_path / "parts") == [part]


def test_dump_with_read_error_is_reread_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = write_dump(tmp_path / "a.jsonl", POSTS)

    def failing(path: Path, seen: Any) -> Iterator[bytes]:
        yield dump.read_bytes()[:2_000]
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("parlai_empathy.curation.blocks.read_bytes", failing)
        part = unpacked([dump], tmp_path / "parts")[0]
    assert "reading failed (Input/output error)" in part.account.broken
    assert 0 < len(rows(part)) < 60
    part = unpacked([dump], tmp_path / "parts")[0]
    assert (len(rows(part)), part.account.broken) == (60, "")


def test_unopenable_dump_raises_data_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    dump = write_dump(tmp_path / "a.jsonl", POSTS)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", Mock(side_effect=PermissionError(13, "Permission denied")))
        with pytest.raises(DataError) as caught:
            unpacked([dump], tmp_path / "parts")
    assert_one_line(caught.value, f"{dump} cannot be opened (Permission denied): make it readable")
    assert list((tmp_path / "parts").iterdir()) == []
    assert len(rows(unpacked([dump], tmp_path / "parts")[0])) == 60


def test_dump_named_twice_is_read_once(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "a.jsonl", POSTS)
    (link := tmp_path / "link.jsonl").symlink_to(dump)
    (tmp_path / "folder").mkdir()
    assert len(unpacked([dump, tmp_path / "folder" / ".." / "a.jsonl", link], tmp_path / "parts")) == 1


def test_dumps_of_same_name_in_different_folders_are_all_read(tmp_path: Path) -> None:
    dumps = [write_dump(tmp_path / name / "RC.jsonl", POSTS[: 10 * place]) for place, name in enumerate("abc", 1)]
    assert [part.account.lines for part in unpacked(dumps, tmp_path / "parts")] == [10, 20, 30]


def test_part_order_is_that_of_names_then_folders(tmp_path: Path) -> None:
    places = ["b/RC_1.jsonl", "a/RC_2.jsonl", "a/RC_1.jsonl", "c/RC_1.jsonl"]
    dumps = [write_dump(tmp_path / place, POSTS[: 10 * count]) for count, place in enumerate(places, 1)]
    for time in range(5):  # part names, which hash the time, come in various orders
        os.utime(dumps[0], (time, time))
        parts = unpacked(dumps, tmp_path / "parts")
        assert [part.account.lines for part in parts] == [30, 10, 40, 20]


def test_special_characters_are_replaced_in_part_names(tmp_path: Path) -> None:
    part = unpacked([write_dump(tmp_path / "a [b]*?{c}:d.jsonl", POSTS)], tmp_path / "parts")[0]
    assert part.file.name.startswith("a__b____c__d.jsonl-")
    assert len(rows(part)) == 60


@pytest.mark.parametrize("letter", ["a", "\u3042"])  # of one byte, and of three
def test_dump_with_the_longest_possible_name_is_unpacked(tmp_path: Path, letter: str) -> None:
    name = letter * ((255 - len(".jsonl")) // len(letter.encode())) + ".jsonl"
    dump = write_dump(tmp_path / name, [comment("a", "t3_s")])
    (part,) = unpacked([dump], tmp_path / "parts")
    assert part.account.lines == 1
    assert unpacked([dump], tmp_path / "parts") == [part]


@pytest.mark.parametrize("ending", [".bz2", ".gz", ".xz", ".zst"])
def test_truncated_archive_keeps_lines_before_the_error(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    many = random_posts(6_000, seed=6)
    dump = write_dump(tmp_path / f"a{ending}", many)
    dump.write_bytes(dump.read_bytes()[: dump.stat().st_size * 9 // 10])
    part = unpacked([dump], tmp_path / "parts")[0]
    read = [row["name"][3:] for row in rows(part)]
    assert read == [post["id"] for post in many][: len(read)]
    assert part.account.lines == len(read)
    place = f"{dump}, line {len(read) + 1}: " if read else f"{dump}: "
    assert part.account.broken.startswith(f"{place}reading failed (")
    assert warnings == [part.account.broken]
    assert read or ending == ".xz"  # .xz is read in blocks larger than this dump


@pytest.mark.parametrize(
    ("name", "content", "expected", "broken"),
    [
        ("a.jsonl", b"", 0, ""),
        ("a.jsonl", b"\n \r\n\n", 0, ""),
        ("a.bz2", PACKERS[".bz2"](b""), 0, ""),
        ("a.zst", PACKERS[".zst"](b""), 0, ""),
        ("a.zst", b"", 0, "reading failed"),
        ("a.bz2", b"", 0, "reading failed"),
        ("a.gz", b"", 0, "reading failed"),
        ("a.gz", PACKERS[".gz"](b""), 0, ""),
        ("a.xz", b"", 0, "reading failed"),
        ("a.zst", b"corrupt from the start", 0, "reading failed"),
        ("a.jsonl", lines([comment("a", "t1_b")])[0].encode(), 1, ""),  # no line feed in the whole file
        ("a.jsonl", b"\xef\xbb\xbf" + lines([comment("a", "t1_b")])[0].encode(), 1, ""),
        ("a.jsonl", b"\xef\xbb\xbf", 0, ""),
    ],
)
def test_empty_and_one_line_dumps_are_accounted_for(
    tmp_path: Path, name: str, content: bytes, expected: int, broken: str
) -> None:
    (dump := tmp_path / name).write_bytes(content)
    part = unpacked([dump], tmp_path / "parts")[0]
    assert (len(rows(part)), part.account.lines, part.account.bad) == (expected, expected, Counter())
    assert broken in part.account.broken
    assert bool(broken) == bool(part.account.broken)


def test_too_long_and_non_utf8_lines_are_counted(tmp_path: Path) -> None:
    good = lines([comment("a", "t1_b")])[0].encode()
    (dump := tmp_path / "a.jsonl").write_bytes(b"\n".join([good, b"x" * (21 << 20), b"\xff", good]))
    account = unpacked([dump], tmp_path / "parts")[0].account
    assert (account.lines, account.bad) == (4, Counter({"too long a line": 1, "not UTF-8": 1}))
    assert account.first == {"too long a line": f"{dump}, line 2", "not UTF-8": f"{dump}, line 3"}


@settings(max_examples=8, deadline=None)
@given(
    content=st.binary(max_size=200) | st.lists(st.sampled_from(lines(POSTS)), max_size=5).map("\n".join).map(str.encode)
)
def test_every_non_blank_line_is_a_post_or_bad(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (dump := folder / "a.jsonl").write_bytes(content)
    part = unpacked([dump], folder / "parts")[0]
    assert part.account.lines == len(rows(part)) + sum(part.account.bad.values())
    body = content.removeprefix(b"\xef\xbb\xbf")
    assert part.account.lines == sum(bool(line.strip(b" \t\r\f")) for line in body.split(b"\n"))


@pytest.mark.parametrize("size", [0, 600])
def test_full_disk_leaves_no_partial_files(tmp_path: Path, size: int) -> None:
    dump = write_dump(tmp_path / "a.jsonl", random_posts(500, seed=7))
    with full_disk(size), pytest.raises((OSError, duckdb.IOException), match="too large"):
        unpacked([dump], tmp_path / "parts")
    assert list((tmp_path / "parts").iterdir()) == []
    assert len(rows(unpacked([dump], tmp_path / "parts")[0])) == 500


def test_data_beyond_the_memory_limit_go_to_the_folder_of_the_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spilled = tmp_path / "parts" / "spilled"
    seen: list[tuple[str, bool]] = []

    def connecting(*given: Any) -> Any:
        database = connect(*given)
        ((setting,),) = database.execute("SELECT current_setting('temp_directory')").fetchall()
        seen.append((setting, (spilled / "of a killed run").exists()))
        return database

    monkeypatch.setattr("parlai_empathy.curation.unpack.connect", connecting)
    spilled.mkdir(parents=True)
    (spilled / "of a killed run").touch()
    unpacked([write_dump(tmp_path / "a.jsonl", POSTS)], tmp_path / "parts")
    assert seen == [(str(spilled), False)]
    assert not spilled.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from parlai_empathy.curation import unpack
folder, left = Path(sys.argv[1]), int(sys.argv[2])
if left < 0:  # between a part's account and the part
    write_account = unpack._write_account
    unpack._write_account = lambda *all: (write_account(*all), os.kill(os.getpid(), signal.SIGKILL))
reading = unpack.read_blocks
def counted(dump, seen):
    global left
    for block in reading(dump, 2_000):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        yield block
unpack.read_blocks = counted
unpack.unpack(sorted(folder.glob("*.jsonl")), folder / "parts", "1GB", 2)
"""


@pytest.mark.parametrize("blocks", [6, -1])
def test_killed_run_resumes_without_partial_files(tmp_path: Path, blocks: int) -> None:
    dumps = [write_dump(tmp_path / f"{name}.jsonl", random_posts(900, seed=7)) for name in "ab"]  # of four blocks each
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(blocks)], stderr=subprocess.DEVNULL)
    assert killed.returncode == -signal.SIGKILL
    whole = [path for path in (tmp_path / "parts").iterdir() if path.suffix == ".parquet"]
    assert [len(parquet.read_table(path)) for path in whole] == [900] * (blocks == 6)
    before = {path.name: path.stat().st_mtime_ns for path in whole}
    parts = unpacked(dumps, tmp_path / "parts")
    assert {path.name: path.stat().st_mtime_ns for path in whole} == before
    afresh = unpacked(dumps, tmp_path / "afresh")
    assert [rows(part) for part in parts] == [rows(part) for part in afresh]
    assert [part.account for part in parts] == [part.account for part in afresh]
    assert {path.suffix for path in (tmp_path / "parts").iterdir()} == {".parquet", ".json"}


def test_dump_with_non_utf8_name_is_unpacked_and_found_again(tmp_path: Path) -> None:
    (plain := tmp_path / "RC_2006-01.jsonl").write_text("\n".join(lines(POSTS)))
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/RC_2006-01_\xff.jsonl"))
    plain.rename(odd)
    (part,) = unpacked([odd], tmp_path / "parts")
    assert part.account.lines == 60
    assert unpacked([odd], tmp_path / "parts") == [part], "it is found again"
