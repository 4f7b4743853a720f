"""Options whose values are ``FILE`` or ``NAME=FILE``; tables show NAME."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from parlai_empathy.errors import OptionError
from parlai_empathy.files.text_file import as_unicode, is_file
from parlai_empathy.scoring.names import judge_name


def by_name(option: str, named: Sequence[str], taken: Sequence[str] = ()) -> dict[str, str]:
    """Parse values of the form ``FILE`` or ``NAME=FILE``; return a dictionary from names to files.

    :param taken: names that are already in use.
    :raises OptionError: if a name occurs twice, or a value has no file.
    """
    pairs = [split_name(one) for one in named]
    for text, (_, file) in zip(named, pairs, strict=True):
        if not file:
            raise OptionError(f"{option} {text}: names no file: write NAME=FILE")
    for name, count in Counter([*taken, *(name for name, _ in pairs)]).items():
        if count > 1:
            raise OptionError(f"{option}: {name} is used twice: write NAME=FILE to tell them apart")
    return dict(pairs)


def split_name(text: str) -> tuple[str, str]:
    """Split ``[NAME=]FILE``. The path of an existing file may itself contain ``=``."""
    name, file = ("", text) if "=" not in text or is_file(text) else text.split("=", 1)
    return as_unicode(name or judge_name(file)), file  # tables and plots need valid Unicode
