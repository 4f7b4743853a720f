"""Options given as one word, ``--option=value``.

ParlAI replaces each ``_`` in such a word by ``-``, in the value too, so that ``--out=my_report`` names another folder.
It also overlooks that the option was given, so that a saved model's value silently takes precedence.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from typing import Any


def keep_underscores(params: Any) -> None:
    """Replace ``_`` by ``-`` only in the names of options."""
    params.fix_underscores = _with_plain_names


def override_saved_value(params: Any) -> None:
    """Let a value given with ``=`` override a saved model's, as one given without ``=`` does."""
    process = params.ParlaiParser._process_args_to_opts

    @functools.wraps(process)
    def _process_args_to_opts(self: Any, args_that_override: Sequence[str] | None = None) -> None:
        typed = sys.argv[1:] if args_that_override is None else args_that_override
        self.overridable.update(_given_with_equals_sign(self, typed))
        process(self, args_that_override)

    params.ParlaiParser._process_args_to_opts = _process_args_to_opts


def _with_plain_names(words: Sequence[Any] | None) -> Sequence[Any] | None:
    return [_with_plain_name(word) for word in words] if words else words


def _with_plain_name(word: Any) -> Any:
    if not isinstance(word, str) or not word.startswith("-"):
        return word
    name, sign, value = word.partition("=")
    return name.replace("_", "-") + sign + value


def _given_with_equals_sign(parser: Any, words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the key and the parsed value of each option that was given as ``--option=value``."""
    read = vars(parser.args)
    command = read.get("_subparser")
    groups = [*parser._action_groups, *(command._action_groups if command else [])]
    keys = {name: action.dest for group in groups for action in group._group_actions for name in action.option_strings}
    for word in words:
        name, sign, _ = _with_plain_name(word).partition("=")
        if sign and name in keys and keys[name] in read:
            yield keys[name], read[keys[name]]
