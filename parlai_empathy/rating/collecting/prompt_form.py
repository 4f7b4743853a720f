"""The form of a prompt: three emotions to choose from, and a situation to describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collecting.prompts import Prompt
from parlai_empathy.rating.collecting.text_rules import LONGEST, MOST_SENTENCES, checked_situation, sentences
from parlai_empathy.rating.site.fields import Field, fields_of, sent
from parlai_empathy.rating.study.questions import Choice, FreeText, Question

EMOTION, SITUATION = "emotion", "situation"


def prompt_fields(prompt: Prompt, said: Mapping[str, str], check: bool = False) -> list[Field]:
    """Return the fields of the form.

    :param said: the submitted texts, by :data:`EMOTION` and :data:`SITUATION`.
    :param check: whether to report what is wrong with them.
    """
    emotion, situation = fields_of(_questions(prompt), ("", ""), said, check)
    if check and not emotion.problem and said[EMOTION] not in prompt.offered:
        emotion = replace(emotion, problem="Choose one of the answers.")
    if check and not situation.problem:
        situation = replace(situation, problem=_problem(said[SITUATION]))
    return [emotion, situation]


def prompt_sent(prompt: Prompt, form: Mapping[str, str]) -> dict[str, str]:
    """Return the submitted texts, by :data:`EMOTION` and :data:`SITUATION`."""
    emotion, situation = sent(_questions(prompt), form).values()
    return {EMOTION: emotion, SITUATION: situation.strip()}


def _questions(prompt: Prompt) -> list[Question]:
    return [
        Choice(EMOTION, "Which of these feelings do you remember having had?", choices=prompt.offered),
        FreeText(
            SITUATION,
            f"Describe a situation in which you felt so, in 1 to {MOST_SENTENCES} sentences.",
            most=LONGEST,
        ),
    ]


def _problem(situation: str) -> str:
    """Return what is wrong with a situation of valid length; empty if nothing is."""
    try:
        checked_situation(situation)
    except OptionError:
        return f"Describe it in at most {MOST_SENTENCES} sentences; these are {sentences(situation)}."
    return ""
