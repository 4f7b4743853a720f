"""Lines of packed and unpacked files: each kind of archive, complete, truncated and damaged, and random bytes."""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import lzma
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.errors import DataError, MissingDependencyError
from parlai_empathy.tasks.reddit import lines
from parlai_empathy.tasks.reddit.lines import BrokenFileError, read_lines

OneLine = Callable[..., None]

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "zst": zstandard.ZstdCompressor().compress,
    "bz2": bz2.compress,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "jsonl": bytes,
}
TEXT = b"".join(b"line %d %s\n" % (n, bytes([65 + n % 26]) * (n % 100)) for n in range(5_000))


def write(folder: Path, ending: str, content: bytes) -> Path:
    (path := folder / f"a.{ending}").write_bytes(content)
    return path


def read(path: Path) -> list[bytes | None]:
    return [line for _, line in read_lines(path)]


@pytest.mark.parametrize("ending", PACKERS)
def test_lines_of_every_file_format(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, ending, PACKERS[ending](TEXT))
    found = list(read_lines(path))
    assert found == list(enumerate(TEXT.removesuffix(b"\n").split(b"\n"), start=1))
    assert list(read_lines(str(path))) == found


@pytest.mark.parametrize("ending", ["zst", "bz2", "gz", "xz"])
def test_archive_of_several_frames_is_read_whole(tmp_path: Path, ending: str) -> None:
    """Pushshift's files consist of many frames; a line may start in one and end in the next."""
    parts = [TEXT[:1_000], b"", TEXT[1_000:70_000], TEXT[70_000:]]
    assert (
        b"\n".join(filter(None, read(write(tmp_path, ending, b"".join(map(PACKERS[ending], parts)))))) + b"\n" == TEXT
    )


@pytest.mark.parametrize("size", [4, 8_192, 20_000])
def test_padding_of_xz_streams_is_skipped(tmp_path: Path, size: int) -> None:
    """The format allows zero bytes between and behind its streams, but not before them."""
    first, second = lzma.compress(TEXT), lzma.compress(b"last\n")
    assert read(write(tmp_path, "xz", first + bytes(size) + second + bytes(size))) == [
        *TEXT.removesuffix(b"\n").split(b"\n"),
        b"last",
    ]
    with pytest.raises(BrokenFileError):
        read(write(tmp_path, "xz", bytes(size) + second))


@pytest.mark.parametrize("ending", ["zst", "bz2", "gz", "xz"])
def test_damaged_second_frame_is_detected(tmp_path: Path, ending: str, assert_one_line: OneLine) -> None:
    first, second = (PACKERS[ending](line) for line in (b"good\n", b"lost\n"))
    path = write(tmp_path, ending, first + b"X" + second[1:])
    with pytest.raises(BrokenFileError) as caught:
        read(path)
    assert_one_line(caught.value, path, "reading failed")


@pytest.mark.parametrize("ending", ["zst", "bz2", "xz"])
def test_empty_archive_is_truncated(tmp_path: Path, ending: str, assert_one_line: OneLine) -> None:
    path = write(tmp_path, ending, b"")
    with pytest.raises(BrokenFileError) as caught:
        read(path)
    assert_one_line(caught.value, path, "reading failed")


def test_zstd_window_of_2_gib_is_supported(tmp_path: Path) -> None:
    """As packed with --long=31, which the decoder rejects by default. The frame is built by hand.

    RFC 8878, 3.1.1: magic number; descriptor 0: a window, no size, no checksum; window 2 ** (10 + 21); one raw block.
    """
    body = b"first\nsecond\n"
    block = (len(body) << 3 | 1).to_bytes(3, "little") + body
    packed = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([21 << 3]) + block
    with pytest.raises(zstandard.ZstdError):
        zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    assert read(write(tmp_path, "zst", packed)) == [b"first", b"second"]


@pytest.mark.parametrize("ending", ["zst", "bz2", "gz", "xz"])
def test_truncated_archive_yields_lines_before_the_error(tmp_path: Path, ending: str, assert_one_line: OneLine) -> None:
    packed = PACKERS[ending](TEXT * 5)
    path = write(tmp_path, ending, packed[: len(packed) * 2 // 3])
    found: list[bytes | None] = []
    with pytest.raises(DataError) as caught:
        found.extend(line for _, line in read_lines(path))
    assert found == (TEXT * 5).split(b"\n")[: len(found)]
    assert_one_line(caught.value, path, "reading failed", f"line {len(found) + 1}" if found else "a.")


@pytest.mark.parametrize(
    ("ending", "unpacker"),
    [
        ("zst", zstandard.ZstdDecompressor().decompressobj),
        ("bz2", bz2.BZ2Decompressor),
        ("gz", functools.partial(zlib.decompressobj, 31)),
        ("xz", lzma.LZMADecompressor),
    ],
)
def test_truncated_archive_loses_no_complete_line(tmp_path: Path, ending: str, unpacker: Callable[[], Any]) -> None:
    packed = PACKERS[ending](TEXT * 40)  # three blocks of bzip2, which decompresses only whole ones
    packed = packed[: len(packed) * 4 // 5]
    *expected, _ = unpacker().decompress(packed).split(b"\n")  # the last line may be incomplete
    found: list[bytes | None] = []
    with pytest.raises(DataError):
        found.extend(line for _, line in read_lines(write(tmp_path, ending, packed)))
    assert found == expected
    assert len(found) > 1_000


@pytest.mark.parametrize("ending", ["zst", "bz2", "gz", "xz"])
def test_damaged_archive_raises_data_error(tmp_path: Path, ending: str, assert_one_line: OneLine) -> None:
    packed = bytearray(PACKERS[ending](TEXT * 5))
    packed[len(packed) // 2 :] = bytes(len(packed) - len(packed) // 2)
    path = write(tmp_path, ending, bytes(packed))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, path, "reading failed")


@pytest.mark.parametrize("ending", ["zst", "bz2", "gz", "xz"])
def test_file_without_a_byte_is_no_archive(tmp_path: Path, ending: str, assert_one_line: OneLine) -> None:
    path = write(tmp_path, ending, b"")
    with pytest.raises(BrokenFileError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}: reading failed (the file is", "fetch the file again")
    assert read(write(tmp_path, ending, PACKERS[ending](b""))) == []


@pytest.mark.parametrize("ending", ["zst", "bz2", "gz", "xz"])
def test_content_not_matching_the_extension_raises_data_error(
    tmp_path: Path, ending: str, assert_one_line: OneLine
) -> None:
    path = write(tmp_path, ending, b"<html>Please log in</html>\n")
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, path, "reading failed")


def test_unopenable_file_error_gives_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    def check(path: Path, reason: str) -> None:
        with pytest.raises(DataError) as caught:
            read(path)
        assert not isinstance(caught.value, BrokenFileError)
        assert_one_line(caught.value, f"{path} cannot be opened ({reason}): make it readable")

    check(tmp_path / "b.zst", "No such file or directory")
    check(tmp_path, "Is a directory")
    path = write(tmp_path, "jsonl", TEXT)
    monkeypatch.setattr(Path, "open", Mock(side_effect=PermissionError(13, "Permission denied")))
    check(path, "Permission denied")


def test_missing_zstandard_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingDependencyError) as caught:
        read(write(tmp_path, "zst", b""))
    assert_one_line(caught.value, 'pip install "parlai-empathy[reddit]"')
    assert read(write(tmp_path, "bz2", bz2.compress(b"a\n"))) == [b"a"]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_overlong_lines_are_replaced_by_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 10)
    monkeypatch.setattr(lines, "_BLOCK", 4)
    path = write(tmp_path, "jsonl", b"0123456789\n0123456789a\nshort\n" + b"x" * 100 + end)
    assert read(path) == [b"0123456789", None, b"short", None]


@settings(max_examples=100)
@given(st.lists(st.binary(max_size=12)), st.integers(1, 9))
def test_lines_do_not_depend_on_block_boundaries(blocks: list[bytes], longest: int) -> None:
    content = b"".join(blocks)
    expected = content.removesuffix(b"\n").split(b"\n") if content else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LONGEST_LINE", longest)
        assert list(lines._split(blocks)) == [line if len(line) <= longest else None for line in expected]


@settings(max_examples=60)
@given(st.binary(max_size=40), st.sampled_from(list(PACKERS)), st.booleans())
def test_random_bytes_give_lines_or_a_data_error(content: bytes, ending: str, behind_a_good_part: bool) -> None:
    start = PACKERS[ending](b"good\n") if behind_a_good_part else b""
    found: list[bytes | None] = []
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), ending, start + content)
        with contextlib.suppress(DataError):
            found.extend(line for _, line in read_lines(path))
    assert found[:1] == [b"good"] or not behind_a_good_part or ending in ("bz2", "gz", "xz")  # these may read ahead


@pytest.mark.parametrize(("name", "number"), [("RC_2005-12.zst", 1_075), ("RC_2006-01.bz2", 3_666)])
def test_line_counts_of_real_dumps(real_data: Path, name: str, number: int) -> None:
    found = read(real_data / "reddit" / name)
    assert len(found) == number
    assert all(line and line.startswith(b"{") and line.rstrip().endswith(b"}") for line in found)
