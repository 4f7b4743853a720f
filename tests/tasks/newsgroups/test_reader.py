"""The reader: archives and folders, headers, encodings, and every kind of error."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.newsgroups.reader import Post, read_newsgroups
from parlai_empathy.tasks.newsgroups.topics import TOPICS

OneLine = Callable[..., None]

POSTS = {
    "sci.space/10": b"From: a@b.c (A)\nSubject: Orbits: how?\nMessage-ID: <1@b.c>\n\nHow?\n",
    "sci.space/9": b"From: a@b.c\nsubject:  Moon \n\tand\n  Mars\nSubject: other\nX-Odd line\n folded\n"
    b"\nCaf\xe9\n\non the moon\n",
    "rec.autos/7": b"Path: x\r\nFrom: d\r\n\r\nBrakes\r\n",
}
EXPECTED = [
    Post("rec.autos/7", "rec.autos", {"path": "x", "from": "d"}, "Brakes"),
    Post("sci.space/9", "sci.space", {"from": "a@b.c", "subject": "Moon and Mars"}, "Caf\xe9 on the moon"),
    Post(
        "sci.space/10",
        "sci.space",
        {"from": "a@b.c (A)", "subject": "Orbits: how?", "message-id": "<1@b.c>"},
        "How?",
    ),
]


def pack(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def in_archive(files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"20_newsgroups/{name}": content for name, content in files.items()}


def read(path: Path) -> list[Post]:
    return list(read_newsgroups(path))


@pytest.mark.parametrize("mode", ["w:gz", "w", "w:bz2"])
def test_archive_posts_are_ordered_by_group_and_number(tmp_path: Path, mode: str) -> None:
    assert read(pack(tmp_path / "a.tar.gz", in_archive(POSTS), mode)) == EXPECTED


def test_folder_gives_the_same_posts_as_an_archive(tmp_path: Path) -> None:
    for name, content in POSTS.items():
        (file := tmp_path / name).parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    (tmp_path / "README").write_text("no post")
    assert read(tmp_path) == EXPECTED


def test_archive_may_have_any_top_folder_or_none(tmp_path: Path) -> None:
    for start in ("", "./", "./a/b/"):
        files = {f"{start}{name}": content for name, content in POSTS.items()}
        assert read(pack(tmp_path / "a.tar", files)) == EXPECTED


def test_each_group_has_a_unique_topic_word() -> None:
    assert [post.topic for post in EXPECTED] == ["autos", "space", "space"]
    assert len(TOPICS) == len(set(TOPICS.values())) == 20
    assert TOPICS["sci.crypt"] == "cryptography"
    assert all(word.isalpha() and word.islower() for word in TOPICS.values())


def test_symlinks_are_ignored(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        link = tarfile.TarInfo("20_newsgroups/sci.space/1")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(link)
    assert read(tmp_path / "a.tar") == []


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("sci.spice/1", POSTS["sci.space/9"], "'sci.spice' is not one of the 20 groups"),
        ("sci.space/1", b"Just a text.\n", "are not headers"),
        ("sci.space/1", b"", "are not headers"),
        ("sci.space/1", b"Subject: x\n\nText", "From: is missing"),
    ],
)
def test_invalid_post_error_names_the_post(
    tmp_path: Path, name: str, content: bytes, part: str, assert_one_line: OneLine
) -> None:
    path = pack(tmp_path / "a.tar.gz", in_archive({**POSTS, name: content}))
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, f"{path}/20_newsgroups/{name}", part)


@pytest.mark.parametrize("kind", ["empty", "text", "cut", "missing"])
def test_unreadable_archive_raises_data_error(tmp_path: Path, kind: str, assert_one_line: OneLine) -> None:
    whole = pack(tmp_path / "whole", in_archive({**POSTS, "sci.med/1": bytes(range(256)) * 99})).read_bytes()
    path = tmp_path / "a.tar.gz"
    if kind != "missing":
        path.write_bytes({"empty": b"", "text": b"<html>", "cut": whole[: len(whole) // 2]}[kind])
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, path, "it should be the archive of 20 Newsgroups")


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_damaged_archive_raises_data_error(tmp_path: Path, mode: str, assert_one_line: OneLine) -> None:
    path = pack(tmp_path / "a.tar.gz", in_archive({"sci.med/1": POSTS["sci.space/9"] + bytes(range(256)) * 99}), mode)
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(content[:half] + bytes(50) + content[half + 50 :])
    with pytest.raises(DataError) as caught:
        read(path)
    assert_one_line(caught.value, path, "it should be the archive of 20 Newsgroups")


def test_counts_of_the_real_data(real_data: Path) -> None:
    """19,997 posts: 1,000 per group, except 997 in one (the set of Lang 1995, as described by its publisher)."""
    posts = read(real_data / "20newsgroups" / "20_newsgroups_19997.tar.gz")
    assert Counter(post.group for post in posts) == {
        group: 1_000 - 3 * (group == "soc.religion.christian") for group in TOPICS
    }
    assert all(post.headers["message-id"] for post in posts)
