"""Generate docs/commands.md from the code: ``make docs``. A test fails if the page is out of date."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlai.core import script
from parlai.core.loader import load_agent_module, load_teacher_module
from parlai.core.params import ParlaiParser

import parlai_empathy
from parlai_empathy.agent_kit.judging.judge import JudgeAgent

PACKAGE = Path(parlai_empathy.__file__).parent
PAGE = Path(__file__).with_name("commands.md")


def page() -> str:
    """Return the text of the page."""
    return "\n".join(
        [
            "# Commands and options",
            "",
            "Generated from the code by `make docs`. All other commands and options of `parlai` are ParlAI's own: "
            "`parlai --helpall`, and `parlai train_model --help -m empathy:retrieval`.",
            *commands(),
            *options(),
            "",
        ]
    )


def commands() -> Iterator[str]:
    """Yield the lines of a section for each of our sub-commands, without ParlAI's general options."""
    script.setup_script_registry()
    parlais = {group.title for group in ParlaiParser(True, False)._action_groups} - {"options", "positional arguments"}
    for name, entry in sorted(script.SCRIPT_REGISTRY.items()):
        if entry.klass.__module__.startswith("parlai_empathy."):
            parser = entry.klass.setup_args()
            groups = [group for group in parser._action_groups if group.title not in parlais]
            actions = [action for group in groups for action in group._group_actions]
            yield from ("", f"## `parlai {name}`", "", f"{parser.description}.", "", *table(actions))


def options() -> Iterator[str]:
    """Yield the lines of a section for each of our tasks and agents that adds options."""
    shown: set[str | None] = set()
    for name, owner in owners():
        groups = {group.title: group for group in groups_of(owner)}
        parlais = {group.title for base in owner.__mro__ if _is_parlais(base) for group in groups_of(base)}
        if own := groups.keys() - parlais - shown:
            actions = [action for title in groups if title in own for action in groups[title]._group_actions]
            yield from ("", f"## Options of `{name}`", "", *table(actions))
        shown |= own


def owners() -> Iterator[tuple[str, Any]]:
    """Yield every teacher and agent with the option that selects it; subclasses follow their base classes."""
    for path in sorted(PACKAGE.glob("tasks/*/agents.py")):
        task = f"empathy:{path.parent.name}"
        module = importlib.import_module(f"parlai_empathy.tasks.{path.parent.name}.agents")
        yield f"-t {task}", load_teacher_module(task)
        for name, kind in vars(module).items():
            if name.endswith("Teacher") and kind.__module__ == module.__name__:
                yield f"-t {task}:{name.removesuffix('Teacher')}", kind
    yield "-m empathy:text_classifier, han, fasttext, deepmoji and rerank, as judges", JudgeAgent
    names = sorted(f"empathy:{path.parent.name}" for path in PACKAGE.glob("agents/*/__init__.py"))
    for name in sorted(names, key=lambda name: len(load_agent_module(name).__mro__)):
        yield f"-m {name}", load_agent_module(name)


def groups_of(owner: Any) -> list[Any]:
    """Return the option groups that a teacher or an agent adds."""
    parser = ParlaiParser(False, False)
    owner.add_cmdline_args(parser, {})
    return list(parser._action_groups)


def _is_parlais(kind: type) -> bool:
    return not kind.__module__.startswith("parlai_empathy.") and hasattr(kind, "add_cmdline_args")


def table(actions: list[argparse.Action]) -> list[str]:
    """Return the lines of a table of options, without ``--help``."""
    rows = [
        f"| `{_names(action)}`{_choices(action)} | {_default(action)} | {_escaped(action.help)} |"
        for action in actions
        if not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS
    ]
    return ["| option | default | |", "|---|---|---|", *rows]


def _names(action: argparse.Action) -> str:
    """Return an option's names, or the metavar of a positional argument."""
    return " ".join(action.option_strings) or str(action.metavar)


def _choices(action: argparse.Action) -> str:
    return " " + ", ".join(f"`{choice}`" for choice in action.choices) if action.choices else ""


def _default(action: argparse.Action) -> str:
    return "" if action.default is None else f"`{action.default}`"


def _escaped(text: str | None) -> str:
    return (text or "").replace("<", "&lt;").replace("|", "&#124;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
