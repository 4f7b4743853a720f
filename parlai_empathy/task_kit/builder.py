"""Find a data set's files: already built, on a mirror, or at the official URL, in this order.

``EMPATHY_MIRROR`` is a folder or a base URL with one folder per data set, which contains either the official archive
(its checksum is verified) or the archive's files. A data set is built in a temporary folder and then moved into place,
so that an interrupted build leaves nothing incomplete, and several processes can build at once.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import re
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

import parlai.utils.logging as logging
import requests
from parlai.core import build_data
from parlai.core.build_data import DownloadableFile
from tqdm import tqdm

from parlai_empathy.errors import DataError, DownloadError
from parlai_empathy.files.unfinished import own_folder
from parlai_empathy.files.user_path import user_path
from parlai_empathy.files.whole_file import remedy

MIRROR = "EMPATHY_MIRROR"
_TIMEOUT = (10, 60)  # seconds to connect, and between two chunks of the response
_TRIES = 3


@dataclass(frozen=True)
class Source:
    """The origin and the files of a data set.

    :param folder: its folder below ParlAI's data path and on a mirror; the same as ParlAI's where both can share it.
    :param version: version string with which ParlAI marks a folder as built.
    :param archive: the official archive, a tar or zip file: URL, name and SHA-256; None if there is none.
    :param files: its files, relative to the archive's root and to ``folder``.
    :param url: official URL of a data set without an archive to unpack: that of its only file or, if it ends in ``/``,
        that of the folder of its files.
    :param sha256: SHA-256 of its only file; for several files see :func:`sha256_of_all`. If none is published, the
        SHA-256 of the download is logged, and only the reader checks the content.
    :param home: its folder below ParlAI's data path, if not ``folder``: for example because ParlAI's built-in task uses
        that folder, and deletes what it has not built.
    :param option: option with which users name a file of their own instead of the only file, for error messages.
    """

    folder: str
    version: str
    archive: DownloadableFile | None
    files: tuple[str, ...]
    url: str | None = None
    sha256: str | None = None
    home: str | None = None
    option: str | None = None

    @property
    def file_names(self) -> list[str]:
        """The files' names on a mirror: without their folder, unless they are in several."""
        paths = [PurePosixPath(file) for file in self.files]
        return [path.name for path in paths] if len({path.parent for path in paths}) == 1 else list(self.files)

    @property
    def on_mirror(self) -> str:
        """What a mirror must contain, for error messages."""
        names = ",".join(self.file_names)
        files = f"{self.folder}/{names}" if len(self.files) == 1 else f"{self.folder}/{{{names}}}"
        return f"{self.folder}/{self.archive.file_name} or {files}" if self.archive else files


def obtain(datapath: str, source: Source) -> Path:
    """Return the folder below ``datapath`` that contains ``source``, and build it if necessary.

    :raises DownloadError: if the data cannot be found or read, are not the expected ones, or cannot be written.
    """
    home = Path(datapath) / (source.home or source.folder)
    try:
        if _is_built(home, source) or _is_users_own(home, source):
            return home
    except OSError as error:
        raise DownloadError(
            f"{error.filename or home} cannot be read ({error.strerror}): make it readable, or name another data "
            "folder with --datapath"
        ) from error
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with own_folder(home.parent, f".{home.name}") as temporary:
            workplace = temporary / home.name
            workplace.mkdir()
            _fill(workplace, source)
            build_data.mark_done(str(workplace), version_string=source.version)
            _move_into_place(workplace, home, source)
    except DownloadError as error:
        if source.option is None:
            raise
        raise DownloadError(f"{error}; or name a file of your own with {source.option}") from error
    except OSError as error:
        raise DownloadError(
            f"cannot write {source.folder} to the data folder {datapath} ({error.strerror or error}): "
            + remedy(error, "name a writable folder with --datapath")
        ) from error
    return home


def how_to_fetch_again(path: Path, error: DataError) -> str:
    """Return what to do about wrong data in a folder that was downloaded or copied: it is kept until it is deleted.

    The error may be about a file of another folder, which is not the one to delete.

    :returns: the end of an error message; empty if there is no such folder.
    """
    home = next((folder for folder in (path, *path.parents) if os.path.isfile(folder / ".built")), None)
    return f"; or delete {home}, and all of it is fetched again" if home and str(home) in str(error) else ""


def _is_built(home: Path, source: Source) -> bool:
    try:
        marked = build_data.built(str(home), version_string=source.version)
    except OSError:  # another process moved it during this check
        return False
    return bool(marked) and all((home / file).is_file() for file in source.files)


def _is_users_own(home: Path, source: Source) -> bool:
    """Whether the user has put all files into the folder; it is then marked as built.

    A folder without this mark that still holds the archive is what an interrupted program has left.
    """
    is_whole = all((home / file).is_file() for file in source.files)
    has_archive = source.archive is not None and (home / source.archive.file_name).exists()
    if not is_whole or has_archive or (home / ".built").exists():
        return False
    logging.info(f"{source.folder}: using the files in {home}")
    _warn_of_other_files(str(home), home, source)
    with contextlib.suppress(OSError):  # it may be read-only
        build_data.mark_done(str(home), version_string=source.version)
    return True


def _warn_of_other_files(origin: str, folder: Path, source: Source) -> None:
    """Warn if files are not the official ones. They may be a repacked copy, or part of the data."""
    if source.sha256 and (found := sha256_of_all(folder, source.files)) != source.sha256:
        logging.warning(
            f"{origin} does not hold the official files: their SHA-256 is {found}, expected {source.sha256}"
        )


def _fill(workplace: Path, source: Source) -> None:
    mirror = os.environ.get(MIRROR, "")
    if not mirror:
        if source.archive:
            _take_archive(source.archive.url, workplace, source)
        elif source.url:
            _take_files(source.url, workplace, source)
        else:
            raise DownloadError(
                f"{source.folder} has no public download: set {MIRROR} to a folder that holds {source.on_mirror}"
            )
    elif folder := mirror_folder():
        _take_from_folder(folder / source.folder, workplace, source)
    else:
        _take_from_url(mirror.rstrip("/") + "/" + source.folder, workplace, source)


def mirror_folder() -> Path | None:
    """Return the folder that ``EMPATHY_MIRROR`` names; None if it is not set, or a URL."""
    mirror = os.environ.get(MIRROR, "")
    if not mirror or mirror.lower().startswith(("http://", "https://")):
        return None
    return user_path(mirror)


def _take_from_folder(folder: Path, workplace: Path, source: Source) -> None:
    if source.archive and _is_readable(archive := folder / source.archive.file_name):
        _unpack(archive, str(archive), workplace, source)
        return
    for name, file in zip(source.file_names, source.files, strict=True):
        found = [path for path in (folder / name, folder / file) if _is_readable(path)]
        if not found:
            raise DownloadError(f"the mirror lacks {folder / name}: {MIRROR} must hold {source.on_mirror}")
        shutil.copyfile(found[0], _with_folder(workplace / file))
    _warn_of_other_files(str(folder), workplace, source)


def _is_readable(path: Path) -> bool:
    """Whether a mirror has the file. Raises :class:`DownloadError` if it cannot be read."""
    try:
        with path.open("rb"):
            return True
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    except OSError as error:
        raise DownloadError(
            f"{path} cannot be read ({error.strerror}): {MIRROR} must name a folder that you may read"
        ) from error


def _take_from_url(base: str, workplace: Path, source: Source) -> None:
    if source.archive:
        with contextlib.suppress(_NotThere):
            _take_archive(f"{base}/{source.archive.file_name}", workplace, source)
            return
    for name, file in zip(source.file_names, source.files, strict=True):
        target = _with_folder(workplace / file)
        try:
            _download(f"{base}/{name}", target, source)
        except _NotThere as error:
            try:
                _download(f"{base}/{file}", target, source)  # as in a folder on the mirror, it may be at its own place
            except _NotThere:
                raise error from None
    _warn_of_other_files(_without_password(base), workplace, source)


def _take_archive(url: str, workplace: Path, source: Source) -> None:
    assert source.archive is not None
    archive = workplace / source.archive.file_name
    _download(url, archive, source)
    _unpack(archive, _without_password(url), workplace, source)
    archive.unlink()


def _take_files(url: str, workplace: Path, source: Source) -> None:
    for file in source.files:
        _download(f"{url}{file}" if url.endswith("/") else url, _with_folder(workplace / file), source)
    found = sha256_of_all(workplace, source.files)
    if not source.sha256:
        logging.info(f"{url}: SHA-256 {found} (none is published to compare it with)")
    elif found != source.sha256:
        raise DownloadError(_other_file(url, found, source.sha256))


def _with_folder(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


# --- one file --------------------------------------------------------------------------------------------------------


class _NotThere(DownloadError):
    """The server responded that it does not provide the file."""


def _download(url: str, target: Path, source: Source) -> None:
    """Download ``url`` to ``target`` with a progress bar. Broken connections and 5xx responses are retried."""
    for attempt in range(1, _TRIES + 1):
        try:
            _download_once(url, target)
            return
        except requests.RequestException as error:
            response = error.response
            if response is not None and response.status_code < 500:
                raise _NotThere(_no_download(url, _reason(error), source)) from error
            if attempt == _TRIES:
                raise DownloadError(_no_download(url, _reason(error), source)) from error
            logging.warning(_without_password(f"{url}: {_reason(error)}; trying again"))
            time.sleep(attempt)


def _download_once(url: str, target: Path) -> None:
    with requests.get(url, stream=True, timeout=_TIMEOUT) as response:
        response.raise_for_status()
        size = int(response.headers.get("Content-Length", 0))
        with tqdm(total=size or None, unit="B", unit_scale=True, desc=target.name) as bar, target.open("wb") as out:
            for piece in response.iter_content(1 << 16):
                out.write(piece)
                bar.update(len(piece))
    if response.raw.tell() < size:
        raise requests.ConnectionError(f"it ended after {response.raw.tell():,} of {size:,} bytes")


def _reason(error: requests.RequestException) -> str:
    """Return a one-line reason for the error: the messages of requests are often nested."""
    if error.response is not None:
        return f"the server says {error.response.status_code}"
    if isinstance(error, requests.exceptions.SSLError):
        return "no secure connection"
    if isinstance(error, requests.Timeout):
        return "no response in time"
    text = str(error)
    if "ended after" in text or "IncompleteRead" in text or "Connection broken" in text:
        return "the connection was lost"
    return "no connection" if isinstance(error, requests.ConnectionError) else text.split("\n")[0]


def _no_download(url: str, reason: str, source: Source) -> str:
    return _without_password(
        f"cannot download {url} ({reason}). Without a network, set {MIRROR} to a folder that holds {source.on_mirror}"
    )


def _without_password(text: str) -> str:
    """Return the text without the user's name and password in its URLs: messages end up in logs."""
    return re.sub(r"(?<=://)[^/\s]*@", "", text)


def _unpack(archive: Path, origin: str, workplace: Path, source: Source) -> None:
    """Verify ``archive``, which came from ``origin``, and extract the files that ``source`` names, but no others."""
    assert source.archive is not None
    _verify(archive, origin, source.archive.hashcode)
    try:
        with _members(archive) as members:
            for file in source.files:
                if file not in members:
                    raise DownloadError(
                        f"{origin} lacks {file}: it is not the archive of {source.folder} {source.version}"
                    )
                with _with_folder(workplace / file).open("wb") as out, members[file]() as content:
                    shutil.copyfileobj(content, out)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, gzip.BadGzipFile, zlib.error) as error:
        reason = str(error).split("\n")[0].rstrip(":")  # tarfile adds a line for each compression that it tried
        raise DownloadError(f"{origin} cannot be unpacked ({reason}): it is damaged, fetch it again") from error


@contextlib.contextmanager
def _members(archive: Path) -> Iterator[Mapping[str, Callable[[], IO[bytes]]]]:
    """Yield a mapping from the names of an archive's regular files to functions that open them."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            yield {info.filename: partial(packed.open, info) for info in packed.infolist() if not info.is_dir()}
        return
    with tarfile.open(archive) as tar:
        files = {str(PurePosixPath(member.name)): member for member in tar if member.isfile()}
        yield {name: partial(_content, tar, member) for name, member in files.items()}


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = tar.extractfile(member)
    assert content is not None  # it is None only for other kinds of members
    return content


def _verify(path: Path, origin: str, expected: str) -> None:
    """Raise :class:`DownloadError` unless the file, which came from ``origin``, has the expected SHA-256."""
    if (found := sha256_of(path)) != expected:
        raise DownloadError(_other_file(origin, found, expected))


def _other_file(origin: str, found: str, expected: str) -> str:
    return (
        f"{origin} is not the expected file: its SHA-256 is {found}, expected {expected}. Fetch it again, or put "
        "the right one there"
    )


def sha256_of_all(folder: Path, files: Sequence[str]) -> str:
    """Return the SHA-256 of the only file; for several files that of ``sha256sum``'s output, in the given order."""
    digests = [sha256_of(folder / file) for file in files]
    if len(files) == 1:
        return digests[0]
    lines = (f"{digest}  {file}\n" for digest, file in zip(digests, files, strict=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _move_into_place(workplace: Path, home: Path, source: Source) -> None:
    """Rename the finished folder. An unfinished ``home`` is put aside; another process's finished build is kept."""
    for attempt in range(1, _TRIES + 1):
        if _is_built(home, source):
            return
        try:
            workplace.rename(home)
            return
        except OSError:  # ``home`` exists: another process may just have moved its own folder there
            if attempt == _TRIES:
                raise
        if not _is_built(home, source):
            with contextlib.suppress(OSError):  # another process may have done so
                _put_aside(home, source)


def _put_aside(home: Path, source: Source) -> None:
    aside = next(path for n in range(1, 1000) if not (path := home.with_name(f"{home.name}.unfinished-{n}")).exists())
    home.rename(aside)
    if _is_built(aside, source):  # another process has finished it since the check
        aside.rename(home)
    else:
        logging.warning(f"{home} was incomplete or of another version: it has been renamed to {aside.name}")
