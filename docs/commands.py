"""Writes docs/commands.md from the code: ``make docs``. A test fails while the page says something else."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from parlai.core import script
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agents.deepmoji.deepmoji import DeepmojiAgent
from parlai_empathy.agents.ensemble.ensemble import EnsembleAgent
from parlai_empathy.agents.epitome.epitome import EpitomeAgent
from parlai_empathy.agents.fasttext.fasttext import FasttextAgent
from parlai_empathy.agents.generative.generative import GenerativeAgent
from parlai_empathy.agents.han.han import HanAgent
from parlai_empathy.agents.in_context.in_context import InContextAgent
from parlai_empathy.agents.multitask.multitask import MultitaskAgent
from parlai_empathy.agents.prepend.prepend import PrependAgent
from parlai_empathy.agents.rerank.rerank import RerankAgent
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.agents.text_classifier.text_classifier import TextClassifierAgent
from parlai_empathy.tasks.daily_dialog.agents import DailyDialogTeacher
from parlai_empathy.tasks.empathetic_dialogues.agents import EmpatheticDialoguesTeacher
from parlai_empathy.tasks.empathetic_intents.agents import EmpatheticIntentsTeacher
from parlai_empathy.tasks.epitome.agents import DefaultTeacher as DefaultEpitomeTeacher
from parlai_empathy.tasks.humod.agents import ExtendedTeacher, HumodTeacher
from parlai_empathy.tasks.newsgroups.agents import NewsgroupsTeacher
from parlai_empathy.tasks.reddit.agents import RedditTeacher

PAGE = Path(__file__).with_name("commands.md")
# Whose options stand under which title in ParlAI's help.
OWNERS = {
    "-t empathy:empathetic_dialogues": (EmpatheticDialoguesTeacher, "EmpatheticDialogues"),
    "-t empathy:humod": (HumodTeacher, "HUMOD"),
    "-t empathy:humod:Extended": (ExtendedTeacher, "HUMOD, extended"),
    "-t empathy:daily_dialog": (DailyDialogTeacher, "DailyDialog"),
    "-t empathy:reddit": (RedditTeacher, "Reddit"),
    "-t empathy:newsgroups": (NewsgroupsTeacher, "20 Newsgroups"),
    "-t empathy:empathetic_intents": (EmpatheticIntentsTeacher, "EmpatheticIntents"),
    "-t empathy:epitome": (DefaultEpitomeTeacher, "EPITOME"),
    "-m empathy:retrieval": (RetrievalAgent, "Retrieval (empathy:retrieval)"),
    "-m empathy:generative": (GenerativeAgent, "Generative (empathy:generative)"),
    "-m empathy:prepend": (PrependAgent, "Prepend (empathy:prepend)"),
    "-m empathy:multitask": (MultitaskAgent, "Multitask (empathy:multitask)"),
    "-m empathy:ensemble": (EnsembleAgent, "Ensemble (empathy:ensemble)"),
    "-m empathy:rerank": (RerankAgent, "Rerank (empathy:rerank)"),
    "-m empathy:in_context": (InContextAgent, "In context (empathy:in_context)"),
    "-m empathy:epitome": (EpitomeAgent, "EPITOME (empathy:epitome)"),
    "-m empathy:text_classifier": (TextClassifierAgent, "Text classifier (empathy:text_classifier)"),
    "-m empathy:han": (HanAgent, "Hierarchical attention network (empathy:han)"),
    "-m empathy:fasttext": (FasttextAgent, "fastText (empathy:fasttext)"),
    "-m empathy:deepmoji": (DeepmojiAgent, "DeepMoji (empathy:deepmoji)"),
    "-m empathy:text_classifier, han, fasttext, deepmoji and rerank, as judges": (JudgeAgent, "Judges"),
}


def page() -> str:
    """The page's text."""
    return "\n".join(
        [
            "# Commands and options",
            "",
            "Made from the code by `make docs`. Everything else that `parlai` takes is ParlAI's own: "
            "`parlai --helpall`, and `parlai train_model --help -m empathy:retrieval`.",
            *commands(),
            *options(),
            "",
        ]
    )


def commands() -> Iterator[str]:
    """A section for each sub-command of ours, without the options that ParlAI gives to every command."""
    script.setup_script_registry()
    parlais = {group.title for group in ParlaiParser(True, False)._action_groups} - {"options", "positional arguments"}
    for name, entry in sorted(script.SCRIPT_REGISTRY.items()):
        if entry.klass.__module__.startswith("parlai_empathy."):
            parser = entry.klass.setup_args()
            groups = [group for group in parser._action_groups if group.title not in parlais]
            actions = [action for group in groups for action in group._group_actions]
            yield from ("", f"## `parlai {name}`", "", f"{parser.description}.", "", *table(actions))


def options() -> Iterator[str]:
    """A section for the options of each task and agent of ours."""
    for name, (owner, title) in OWNERS.items():
        parser = ParlaiParser(False, False)
        owner.add_cmdline_args(parser, {})
        groups = [group for group in parser._action_groups if group.title == title]
        yield from ("", f"## Options of `{name}`", "", *table(groups[0]._group_actions))


def table(actions: list[argparse.Action]) -> list[str]:
    """A table of options, without ``--help``."""
    rows = [
        f"| `{_names(action)}`{_choices(action)} | {_default(action)} | {_escaped(action.help)} |"
        for action in actions
        if not isinstance(action, argparse._HelpAction)
    ]
    return ["| option | default | |", "|---|---|---|", *rows]


def _names(action: argparse.Action) -> str:
    """An option's names, or what stands for a text without one."""
    return " ".join(action.option_strings) or str(action.metavar)


def _choices(action: argparse.Action) -> str:
    return " " + ", ".join(f"`{choice}`" for choice in action.choices) if action.choices else ""


def _default(action: argparse.Action) -> str:
    return "" if action.default is None else f"`{action.default}`"


def _escaped(text: str | None) -> str:
    return (text or "").replace("<", "&lt;").replace("|", "&#124;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
