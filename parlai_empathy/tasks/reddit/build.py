"""Locate the dumps: those that an option names, those in the data folder or on a mirror, or the sample.

Nothing is downloaded or copied: the dumps are available only by BitTorrent, and a single month may take 30 GB.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.task_kit.builder import mirror_folder
from parlai_empathy.task_kit.edition import is_sample

FOLDER = "reddit"
SAMPLE = Path(__file__).parent / "sample"
_DUMP = re.compile(r"R[CS]_[\w-]+|.+\.(jsonl|ndjson|zst|bz2|gz|xz)")


def build(opt: Mapping[str, Any], option: str = "--reddit-file") -> list[Path]:
    """Return the files to read: those of ``opt["reddit_file"]``, or of ``opt["edition"]`` (``full`` or ``sample``).

    :param option: option that names dumps on the command line, for error messages.
    :raises DataError: if there is no dump, or a given one does not exist.
    """
    if opt.get("reddit_file"):
        # ParlAI makes a number of a name such as 2006 that follows a colon in -t.
        named = [user_path(part.strip()) for part in str(opt["reddit_file"]).split(",") if part.strip()]
        if not named:
            raise DataError(f"{option} {opt['reddit_file']}: it names no dump: name one, several or a folder")
    elif is_sample(opt):
        named = [SAMPLE]
    else:
        named = [folder for folder in _folders(opt) if os.path.isdir(folder)][:1]
        if not named:
            raise DataError(
                f"no dump of Reddit: name one, several or a folder with {option}, or put them into "
                f"{' or '.join(map(str, _folders(opt)))}"
            )
    return [file for path in named for file in files_of(path, option)]


def _folders(opt: Mapping[str, Any]) -> list[Path]:
    folders = [Path(opt["datapath"]) / FOLDER]
    if mirror := mirror_folder():
        folders.append(mirror / FOLDER)
    return folders


def files_of(path: Path, option: str = "--reddit-file") -> list[Path]:
    """Return the dumps in a folder, sorted by name; or the dump itself if ``path`` is a file.

    :raises DataError: if there is no dump, or they may not be looked for there.
    """
    try:
        if path.is_file():
            return [path]
        if not path.is_dir():
            raise DataError(f"{path} does not exist: name dumps, or a folder of them, with {option}")
        found = sorted(file for file in path.iterdir() if file.is_file() and _DUMP.fullmatch(file.name))
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): name others with {option}") from error
    if not found:
        raise DataError(f"{path} holds no dump: expected files such as RC_2006-01.bz2, RS_2006-01.zst or any.jsonl")
    return found
