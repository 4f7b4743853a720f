"""Finding a data set's files: already built, on a mirror, or at its official address, in this order.

``EMPATHY_MIRROR`` names a folder or a base URL that holds one folder a data set, with either the official archive (its
checksum is verified) or the files that the archive holds. A data set is built in a temporary folder and then moved into
place, so that an interrupted build leaves nothing half-made, and several processes can build at once.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
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
from urllib.parse import urlparse

import parlai.utils.logging as logging
import requests
from parlai.core import build_data
from parlai.core.build_data import DownloadableFile
from tqdm import tqdm

from parlai_empathy.errors import DownloadError
from parlai_empathy.files.unfinished import own_folder

MIRROR = "EMPATHY_MIRROR"
_TIMEOUT = (10, 60)  # seconds to connect, and between two pieces of the answer
_TRIES = 3


@dataclass(frozen=True)
class Source:
    """Where a data set comes from and what it consists of.

    :param folder: its folder below ParlAI's data path and on a mirror, ParlAI's own where both can share it.
    :param version: the version mark that is written beside it.
    :param archive: the official archive, a tar or zip file: address, name and SHA-256; None if there is none.
    :param files: its files, in the archive and here, relative to ``folder``.
    :param url: for a data set that is not to be unpacked, the official address: of its only file, or, with a ``/`` at
        its end, of the folder that holds its files.
    :param sha256: the only file's SHA-256; of several files, see :func:`sha256_of_all`. Where none is published, the
        SHA-256 of what came is logged, and the reader has to say whether it can be read.
    :param home: its folder below ParlAI's data path, where ``folder`` is taken there: ParlAI's builtin task of that
        name deletes what it has not built.
    :param option: what names a file of one's own in place of its only file, for errors.
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
        """The files as a mirror may hold them: by their bare names, if no two have the same."""
        bare = [PurePosixPath(file).name for file in self.files]
        return bare if len(set(bare)) == len(bare) else list(self.files)

    @property
    def on_mirror(self) -> str:
        """What a mirror has to hold, in words."""
        names = ",".join(self.file_names)
        files = f"{self.folder}/{names}" if len(self.files) == 1 else f"{self.folder}/{{{names}}}"
        return f"{self.folder}/{self.archive.file_name} or {files}" if self.archive else files


def obtain(datapath: str, source: Source) -> Path:
    """The folder below ``datapath`` that holds ``source``, built if need be.

    :raises DownloadError: if the data can be found nowhere, are not what they should be, or cannot be written.
    """
    home = Path(datapath) / (source.home or source.folder)
    if _is_built(home, source):
        return home
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
            "name a folder that you may write to with --datapath"
        ) from error
    return home


def _is_built(home: Path, source: Source) -> bool:
    try:
        marked = build_data.built(str(home), version_string=source.version)
    except OSError:  # another process moved it in the middle of that look
        return False
    return bool(marked) and all((home / file).is_file() for file in source.files)


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
    elif urlparse(mirror).scheme in ("http", "https"):
        _take_from_url(mirror.rstrip("/") + "/" + source.folder, workplace, source)
    else:
        _take_from_folder(Path(mirror).expanduser() / source.folder, workplace, source)


def _take_from_folder(folder: Path, workplace: Path, source: Source) -> None:
    if source.archive and (archive := folder / source.archive.file_name).is_file():
        _unpack(archive, str(archive), workplace, source)
        return
    for name, file in zip(source.file_names, source.files, strict=True):
        found = [path for path in (folder / name, folder / file) if path.is_file()]
        if not found:
            raise DownloadError(f"the mirror lacks {folder / name}: {MIRROR} must hold {source.on_mirror}")
        shutil.copyfile(found[0], _with_folder(workplace / file))


def _take_from_url(base: str, workplace: Path, source: Source) -> None:
    if source.archive:
        with contextlib.suppress(_NotThere):
            _take_archive(f"{base}/{source.archive.file_name}", workplace, source)
            return
    for name, file in zip(source.file_names, source.files, strict=True):
        _download(f"{base}/{name}", _with_folder(workplace / file), source)


def _take_archive(url: str, workplace: Path, source: Source) -> None:
    assert source.archive is not None
    archive = workplace / source.archive.file_name
    _download(url, archive, source)
    _unpack(archive, url, workplace, source)
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
    """The server answered, and does not have the file."""


def _download(url: str, target: Path, source: Source) -> None:
    """Bring ``url`` to ``target``, with a progress bar. A broken connection is tried again, a plain no is not."""
    for attempt in range(1, _TRIES + 1):
        try:
            _download_once(url, target)
            return
        except requests.RequestException as error:
            response = error.response
            if response is not None and response.status_code < 500:
                raise _NotThere(_no_download(url, f"the server says {response.status_code}", source)) from error
            if attempt == _TRIES:
                raise DownloadError(_no_download(url, _reason(error), source)) from error
            logging.warning(f"{url}: {_reason(error)}; trying again")
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


def _reason(error: Exception) -> str:
    """The heart of requests' often nested message, in one line."""
    if isinstance(error, requests.exceptions.SSLError):
        return "no secure connection"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    text = str(error)
    if "ended after" in text or "IncompleteRead" in text or "Connection broken" in text:
        return "the connection broke off"
    return "no connection" if isinstance(error, requests.ConnectionError) else text.split("\n")[0]


def _no_download(url: str, reason: str, source: Source) -> str:
    return (
        f"cannot download {url} ({reason}). Without a network, set {MIRROR} to a folder that holds {source.on_mirror}"
    )


def _unpack(archive: Path, origin: str, workplace: Path, source: Source) -> None:
    """Verify ``archive``, which came from ``origin``, and take the files that ``source`` names, and nothing else."""
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
        reason = str(error).split("\n")[0].rstrip(":")  # tarfile goes on with a line for each compression it tried
        raise DownloadError(f"{origin} cannot be unpacked ({reason}): it is broken, fetch it again") from error


@contextlib.contextmanager
def _members(archive: Path) -> Iterator[Mapping[str, Callable[[], IO[bytes]]]]:
    """The names of an archive's regular files, each with what opens it."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            yield {info.filename: partial(packed.open, info) for info in packed.infolist() if not info.is_dir()}
        return
    with tarfile.open(archive) as tar:
        files = {str(PurePosixPath(member.name)): member for member in tar if member.isfile()}
        yield {name: partial(_content, tar, member) for name, member in files.items()}


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = tar.extractfile(member)
    assert content is not None  # of regular files it never is
    return content


def _verify(path: Path, origin: str, expected: str) -> None:
    """Raise :class:`DownloadError` if the file, which came from ``origin``, has another SHA-256."""
    if (found := sha256_of(path)) != expected:
        raise DownloadError(_other_file(origin, found, expected))


def _other_file(origin: str, found: str, expected: str) -> str:
    return (
        f"{origin} is not the file it should be: its SHA-256 is {found}, expected {expected}. Fetch it again, or put "
        "the right one there"
    )


def sha256_of_all(folder: Path, files: Sequence[str]) -> str:
    """The SHA-256 of the only file; of several that of the list that ``sha256sum`` prints of them, in their order."""
    digests = [sha256_of(folder / file) for file in files]
    if len(files) == 1:
        return digests[0]
    lines = (f"{digest}  {file}\n" for digest, file in zip(digests, files, strict=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _move_into_place(workplace: Path, home: Path, source: Source) -> None:
    """Rename the finished folder. What stood there unfinished is kept aside; another process' finished build stays."""
    for attempt in range(1, _TRIES + 1):
        if _is_built(home, source):
            return
        try:
            workplace.rename(home)
            return
        except OSError:  # something stands there: perhaps another process moved its own at this moment
            if attempt == _TRIES:
                raise
        if not _is_built(home, source):
            with contextlib.suppress(OSError):  # perhaps another process has done so
                _put_aside(home, source)


def _put_aside(home: Path, source: Source) -> None:
    aside = next(path for n in range(1, 1000) if not (path := home.with_name(f"{home.name}.unfinished-{n}")).exists())
    home.rename(aside)
    if _is_built(aside, source):  # another process finished it since it was looked at
        aside.rename(home)
    else:
        logging.warning(f"{home} was unfinished or of another version: it is now {aside.name}")
