"""The pages of the documentation, and the commands in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "parlai_empathy").glob("*/*/README.md"))
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands() -> list[str]:
    """Return the different commands of all pages."""
    return list(dict.fromkeys(command for page in PAGES for command in commands_of(page)))


def commands_of(page: Path) -> list[str]:
    """Return the commands after ``$`` in the page's console blocks; a trailing backslash continues a line."""
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [line[2:] for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.startswith("$ ")]


def without_environment(command: str) -> list[str]:
    words = shlex.split(command, comments=True)
    while re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    return words[: words.index("|")] if "|" in words else words
