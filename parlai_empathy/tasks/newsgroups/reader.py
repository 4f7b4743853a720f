"""Read 20 Newsgroups: a tar archive or a folder, with one folder per group and one file per post."""

from __future__ import annotations

import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.newsgroups.body import own_words
from parlai_empathy.tasks.newsgroups.topics import TOPICS

_HEADER = re.compile(r"([!-9;-~]+):[ \t]*(.*)")  # RFC 1036: any visible character but a colon
_FOLD = re.compile(r"[ \t]*\n[ \t]+")  # a line that begins with white space continues the one before it


@dataclass(frozen=True)
class Post:
    """One post in one group; a cross-post is in several.

    :param post_id: the group's name and the file's: ``sci.space/59497``.
    :param headers: by name in lower case; the first one if a name is repeated.
    :param text: the author's own words on one line (:func:`~parlai_empathy.tasks.newsgroups.body.own_words`).
    """

    post_id: str
    group: str
    headers: dict[str, str]
    text: str

    @property
    def topic(self) -> str:
        """The group's topic, a value of :data:`~parlai_empathy.tasks.newsgroups.topics.TOPICS`."""
        return TOPICS[self.group]


def read_newsgroups(path: str | Path) -> Iterator[Post]:
    """Read all posts, sorted by group and number, independent of their order in the archive.

    The files have many encodings, mostly ASCII; Latin-1 can decode all of them.

    :raises DataError: naming archive and file, for an archive that cannot be read, a group that is not one of the 20,
        or a post without headers.
    """
    path = Path(path)
    files = _folder_files(path) if path.is_dir() else _archive_files(path)
    for name, content in sorted(files, key=lambda file: _order(file[0])):
        group, number = name.split("/")[-2:]
        yield _post(f"{path}/{name}", group, number, content.decode("latin-1"))


def _order(name: str) -> tuple[str, int, str]:
    group, number = name.split("/")[-2:]
    return group, int(number) if number.isdecimal() else 0, number


def _post(place: str, group: str, number: str, content: str) -> Post:
    if group not in TOPICS:
        raise DataError(f"{place}: {group!r} is not one of the 20 groups; a folder for each was expected")
    head, _, body = content.replace("\r\n", "\n").partition("\n\n")
    headers: dict[str, str] = {}
    for line in _FOLD.sub(" ", head).split("\n"):
        if found := _HEADER.fullmatch(line):
            headers.setdefault(found[1].lower(), found[2].strip())
    if "from" not in headers:
        raise DataError(
            f"{place}: its first lines are not headers (From: is missing); a post of a newsgroup was expected"
        )
    return Post(f"{group}/{number}", group, headers, own_words(body))


def _folder_files(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in path.glob("*/*"):
        if file.is_file():
            yield f"{file.parent.name}/{file.name}", file.read_bytes()


def _archive_files(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                name = PurePosixPath(member.name)
                if member.isfile() and len(name.parts) > 1:
                    content = tar.extractfile(member)
                    assert content is not None  # it is None only for other kinds of members
                    yield str(name), content.read()
            while tar.fileobj and tar.fileobj.read(1 << 20):  # at the end is a checksum, which tarfile does not reach
                pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{path} cannot be read ({reason}): it should be the archive of 20 Newsgroups") from error
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = str(error).split("\n")[0].rstrip(":")
        raise DataError(f"{path} cannot be unpacked ({reason}): it should be the archive of 20 Newsgroups") from error
