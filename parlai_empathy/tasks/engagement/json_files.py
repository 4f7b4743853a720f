"""Files that contain one JSON list of objects: FED, GRADE and ConvAI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError, shown
from parlai_empathy.tasks.engagement.records import whole


def read_objects(path: str | Path) -> list[dict[str, Any]]:
    """Return the objects of a file.

    :raises DataError: naming the file, if it cannot be read or contains anything else.
    """
    path = Path(path)
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): check its name") from error
    except (ValueError, RecursionError) as error:  # also raised if it is not UTF-8
        raise DataError(f"{path}: it is not JSON ({str(error).splitlines()[0]}): fetch it again") from error
    if not isinstance(found, list):
        raise DataError(f"{path}: it holds {shown(found)} where a list of objects was expected")
    for place, one in enumerate(found):
        if not isinstance(one, dict):
            raise DataError(f"{path}, entry {place}: {shown(one)} is not an object")
    return found


def text_of(one: dict[str, Any], field: str, where: str) -> str:
    """Return a field that must be a text, which may be empty.

    :raises DataError: if it is missing or of another type, or has an unpaired surrogate.
    """
    if not isinstance(one.get(field), str):
        raise DataError(f"{where}: its field {field} is {shown(one.get(field))} where a text was expected")
    return whole(one[field], f"{where}, its field {field}")
