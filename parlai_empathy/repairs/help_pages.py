"""What ``parlai <command> --help`` shows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def list_options_once(script: Any) -> None:
    """List each option only in its group: ParlAI also lists them all at the top, which doubles the page."""
    parser = script._SubcommandParser
    show = parser.format_help

    @functools.wraps(show)
    def format_help(self: Any) -> str:
        with _in_one_group_each(self._action_groups):
            return str(show(self))

    parser.format_help = format_help


@contextmanager
def _in_one_group_each(groups: list[Any]) -> Iterator[None]:
    """Keep each option in the last group that has it: the command's own groups come last."""
    every = [group._group_actions for group in groups]
    shown: set[int] = set()
    for group in reversed(groups):
        own = [action for action in group._group_actions if id(action) not in shown]
        shown.update(map(id, own))
        group._group_actions = own
    try:
        yield
    finally:
        for group, actions in zip(groups, every, strict=True):
            group._group_actions = actions
