"""Generate docs/commands.md from the code: ``make docs``. A test fails if the page is out of date."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from parlai.core import script
from parlai.core.loader import load_agent_module, load_teacher_module
from parlai.core.params import ParlaiParser

import parlai_empathy
from parlai_empathy.agent_kit.judging.judge import JudgeAgent

PACKAGE = Path(parlai_empathy.__file__).parent
PAGE = Path(__file__).with_name("commands.md")
_NOT_SHOWN = object()


def page() -> str:
    """Return the text of the page."""
    return "\n".join(
        [
            "# Commands and options",
            "",
            "Generated from the code by `make docs`. All other commands and options of `parlai` are ParlAI's own: "
            "`parlai --helpall`, and `parlai train_model --help -m empathy:retrieval`.",
            "",
            "An option that several tasks or agents share is listed once, and again where its default is another.",
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
    """Yield the lines of a section for each of our tasks and agents: the options that it adds, and those of an earlier
    section for which it has another default.
    """
    shown: dict[tuple[str, str], object] = {}  # the default by group and option
    for name, owner, chosen in owners():
        parlais = {group.title for base in owner.__mro__ if _is_parlais(base) for group in groups_of(base, {})}
        groups = [group for group in groups_of(owner, chosen) if group.title not in parlais]
        ours = {(group.title, action.dest): action for group in groups for action in group._group_actions}
        differ = [action for key, action in ours.items() if shown.get(key, _NOT_SHOWN) != action.default]
        if rows := [action for action in differ if action.dest not in chosen]:
            yield from ("", f"## Options of `{name}`", "", *table(rows))
        shown = {key: action.default for key, action in ours.items()} | shown


def owners() -> Iterator[tuple[str, Any, dict[str, str]]]:
    """Yield every teacher and agent with the option that selects it, and its options that set other defaults;
    subclasses follow their base classes.
    """
    for path in sorted(PACKAGE.glob("tasks/*/agents.py")):
        task = f"empathy:{path.parent.name}"
        module = importlib.import_module(f"parlai_empathy.tasks.{path.parent.name}.agents")
        yield f"-t {task}", load_teacher_module(task), {}
        for name, kind in vars(module).items():
            if name.endswith("Teacher") and kind.__module__ == module.__name__:
                yield f"-t {task}:{name.removesuffix('Teacher')}", kind, {}
    agents = {path.parent.name: load_agent_module(f"empathy:{path.parent.name}") for path in _agents()}
    judges = ", ".join(name for name, agent in agents.items() if issubclass(agent, JudgeAgent))
    yield f"-m empathy:{judges}", JudgeAgent, {}
    for name, agent in sorted(agents.items(), key=lambda item: (_extended(item[1], agents.values()), item[0])):
        yield f"-m empathy:{name}", agent, {}
        if name == "retrieval":
            yield "-m empathy:retrieval --encoder hf", agent, {"encoder": "hf"}


def _extended(agent: type, agents: Iterable[type]) -> int:
    """Return how many of the agents an agent extends."""
    return sum(issubclass(agent, other) for other in agents if other is not agent)


def _agents() -> list[Path]:
    return sorted(PACKAGE.glob("agents/*/__init__.py"))


def groups_of(owner: Any, chosen: dict[str, str]) -> list[Any]:
    """Return the option groups that a teacher or an agent adds, with the defaults that follow from chosen options."""
    parser = ParlaiParser(False, False)
    owner.add_cmdline_args(parser, dict(chosen))
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
