"""The secret under which cookies are signed. It outlives a restart: nobody has to begin anew."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from parlai_empathy.errors import OptionError

VARIABLE = "EMPATHY_SITE_SECRET"
"""The environment variable that holds it."""

_LEAST = 32


def site_secret(store: str, environment: Mapping[str, str] = os.environ) -> bytes:
    """The secret: from the environment, or from a file beside the store, which is made if it is not there.

    :param store: what ``open_store`` was given; beside ``ratings.db`` lies ``ratings.db.secret``, for its owner alone.
    :raises OptionError: if the environment's is too short, the store's folder is missing, the file cannot be used, or
        the store is a server, beside which no file can lie, and the environment has none.
    """
    given = environment.get(VARIABLE, "")
    if given:
        if len(given) < _LEAST:
            raise OptionError(f"{VARIABLE} has {len(given)} characters: expected at least {_LEAST}; {_how()}")
        return given.encode()
    if "://" in store:
        raise OptionError(f"{VARIABLE} is not set, and a store on a server has no place for a secret: {_how()}")
    path = Path(store).expanduser()
    if not path.absolute().parent.is_dir():
        raise OptionError(f"--store {store}: expected a file in a folder that is there")
    return _kept(path.with_name(f"{path.name}.secret"))


def _kept(path: Path) -> bytes:
    try:
        _make(path)
        if path.stat().st_mode & 0o077:
            raise OptionError(f"{path} can be read by others: chmod 600 {path}")
        found = path.read_bytes().strip()
    except OSError as error:
        raise OptionError(f"{path} cannot be used ({error.strerror}): mend that, or set {VARIABLE}") from error
    if len(found) < _LEAST:
        raise OptionError(f"{path} has {len(found)} bytes: expected at least {_LEAST}; delete it, and it is made anew")
    return found


def _make(path: Path) -> None:
    """Make the file unless it is there, whole or not at all, even where two sites start at once."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # unlike a renaming, this leaves alone what another one has made meanwhile
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _how() -> str:
    return f'export {VARIABLE}="$(python3 -c "import secrets; print(secrets.token_hex(32))")"'
