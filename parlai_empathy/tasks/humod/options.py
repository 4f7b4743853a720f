"""The options that select the HUMOD file, for the task and for every command that reads it."""

from __future__ import annotations

from typing import Any

from parlai_empathy.task_kit.edition import add_edition


def add_file_options(group: Any) -> None:
    """Add the options to an argument group of ParlAI's parser."""
    add_edition(group)
    group.add_argument(
        "--humod-file",
        default=None,
        help="Read this file, the official one or a .jsonl copy, instead of an edition.",
    )
    group.add_argument(
        "--skip-bad-rows",
        type="bool",
        default=False,
        help="Report and count invalid rows and go on without them, instead of ending at the first one.",
    )
