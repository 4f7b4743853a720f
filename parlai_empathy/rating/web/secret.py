"""The secret that signs cookies. It is kept across restarts, so that sessions stay valid."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from parlai_empathy.errors import OptionError
from parlai_empathy.files.user_path import user_path

VARIABLE = "EMPATHY_SITE_SECRET"
"""The environment variable that holds the secret."""

_LEAST = 32


def site_secret(store: str, environment: Mapping[str, str] = os.environ) -> bytes:
    """Return the secret: from the environment, or from a file beside the store, which is created if missing.

    :param store: as given to ``open_store``; the file for ``ratings.db`` is ``ratings.db.secret``, readable only by
        its owner.
    :raises OptionError: if the secret in the environment is too short, the store's folder is missing, the file cannot
        be used, or the store is on a server and the environment has no secret.
    """
    given = environment.get(VARIABLE, "")
    if given:
        if len(given) < _LEAST:
            raise OptionError(f"{VARIABLE} has {len(given)} characters: expected at least {_LEAST}; {_how()}")
        return os.fsencode(given)
    if "://" in store:
        raise OptionError(f"{VARIABLE} is not set, as it must be for a store on a server: {_how()}")
    path = user_path(store)
    if not path.absolute().parent.is_dir():
        raise OptionError(f"--store {store}: expected a file in an existing folder")
    return _kept(path.with_name(f"{path.name}.secret"))


def _kept(path: Path) -> bytes:
    try:
        _make(path)
        if path.stat().st_mode & 0o077:
            raise OptionError(f"{path} can be read by others: chmod 600 {path}")
        found = path.read_bytes().strip()
    except OSError as error:
        raise OptionError(f"{path} cannot be used ({error.strerror}): fix that, or set {VARIABLE}") from error
    if len(found) < _LEAST:
        raise OptionError(f"{path} has {len(found)} bytes: expected at least {_LEAST}; delete it to get a new one")
    return found


def _make(path: Path) -> None:
    """Create the file atomically unless it exists, even if two sites start at the same time."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # unlike a rename, this never overwrites a file created by another process meanwhile
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _how() -> str:
    return f'export {VARIABLE}="$(python3 -c "import secrets; print(secrets.token_hex(32))")"'
