"""Teachers of EmpatheticDialogues.

Each example is an episode of its own. Its text contains the true turns before the label, one per line, so that
examples can be shuffled and each agent sees the same context.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.utils.data import DatatypeHelper

from parlai_empathy.errors import DataError
from parlai_empathy.task_kit.candidates import sample_candidates
from parlai_empathy.task_kit.history import DEFAULT, check_history, last_turns
from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.task_kit.is_true import is_true
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.quick_metrics import QuickMetrics
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS, Dialogue, Turn, read_empathetic_dialogues

POLITICAL = "<POLITICAL>"


class EmpatheticDialoguesTeacher(InMemoryTeacher):
    """Base class: options, files and common fields of the messages. Subclasses implement :meth:`examples`."""

    title = "EmpatheticDialogues"
    default_history = DEFAULT

    @classmethod
    def add_options(cls, group: Any) -> None:
        """Add the options of the task."""
        super().add_options(group)
        group.add_argument(
            "--ed-history",
            type=int,
            default=None,  # not the class's: ParlAI has one parser for all tasks of a union
            help="How many turns before the reply the text holds, both roles counted; -1 for all. Without it, the "
            f"paper's {DEFAULT}, and all for :LastReply.",
        )
        group.add_argument(
            "--ed-drop-political",
            type="bool",
            default=False,
            help=f"Leave out the conversations that the file tags {POLITICAL}.",
        )

    @staticmethod
    def build(opt: dict[str, Any]) -> Path:
        """Return the fold's file."""
        return build(opt) / f"{DatatypeHelper.fold(opt['datatype'])}.csv"

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        size = opt.get("ed_history")
        self.history_size = check_history("--ed-history", self.default_history if size is None else size)
        super().__init__(opt, shared)
        self.metrics = QuickMetrics(opt.get("metrics", "default"), shared["metrics"] if shared else None)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield the examples of all dialogues, without those whose reply is empty."""
        empty = 0
        for dialogue in self._dialogues(path):
            for example in self.examples(dialogue):
                if example["labels"] and not example["labels"][0]:
                    empty += 1
                else:
                    yield {**_about(dialogue), **example}
        if empty:
            logging.warning(f"{path}: left out {empty} example(s) whose reply is empty")

    def _dialogues(self, path: Path) -> list[Dialogue]:
        dialogues = list(read_empathetic_dialogues(path))
        if not dialogues:
            raise DataError(f"{path} holds no conversation")
        if is_true("--ed-drop-political", self.opt):
            kept = [dialogue for dialogue in dialogues if POLITICAL not in dialogue.tags]
            logging.info(f"{path}: left out {len(dialogues) - len(kept)} conversation(s) tagged {POLITICAL}")
            if not kept:
                raise DataError(
                    f"{path}: --ed-drop-political leaves no conversation: all of them are tagged {POLITICAL}"
                )
            return kept
        return dialogues

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield the examples of a dialogue: messages with at least ``text`` and ``labels``."""
        raise NotImplementedError

    def context(self, turns: tuple[Turn, ...]) -> str:
        """Return the last ``--ed-history`` turns of ``turns``, one per line."""
        return last_turns([turn.text for turn in turns], self.history_size)


def _about(dialogue: Dialogue) -> dict[str, Any]:
    """Return the fields about the conversation that each message has. They are never part of a model's input."""
    about: dict[str, Any] = {
        "conv_id": dialogue.conv_id,
        "emotion": dialogue.emotion,
        "situation": dialogue.situation,
    }
    if dialogue.self_evaluations:
        about["self_evaluations"] = [astuple(evaluation) for evaluation in dialogue.self_evaluations]
    if dialogue.tags:
        about["tags"] = list(dialogue.tags)
    return about


class DefaultTeacher(EmpatheticDialoguesTeacher):
    """The Listener's replies, given the turns before.

    In valid and test, each message has 100 candidates: those in the file if there are any, otherwise the true reply and
    99 others sampled from the same fold (the same in every run). ``candidates_source`` says which.
    """

    def _dialogues(self, path: Path) -> list[Dialogue]:
        dialogues = super()._dialogues(path)
        replies = (turn.text for dialogue in dialogues for turn in dialogue.turns if turn.is_listener and turn.text)
        self._replies = list(dict.fromkeys(replies))
        return dialogues

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example per Listener turn."""
        for turn in dialogue.turns[1:]:
            if self.is_label(turn):
                yield self._reply_example(dialogue, turn)

    def is_label(self, turn: Turn) -> bool:
        """Whether this turn is a label."""
        return turn.is_listener

    def _reply_example(self, dialogue: Dialogue, turn: Turn) -> dict[str, Any]:
        example: dict[str, Any] = {
            "text": self.context(dialogue.turns[: turn.index - 1]),
            "labels": [turn.text],
            "turn": turn.index,
        }
        if self.fold != "train":
            from_file = turn.text in turn.candidates
            example["candidates_source"] = "file" if from_file else "sampled"
            example["label_candidates"] = (
                list(turn.candidates)
                if from_file
                else sample_candidates(turn.text, self._replies, f"{dialogue.conv_id} {turn.index}")
            )
        return example


class BothRolesTeacher(DefaultTeacher):
    """The paper's training set: replies of both roles in training, and only the Listener's in valid and test."""

    def is_label(self, turn: Turn) -> bool:
        """Whether this turn is a label: in training each turn but the first, otherwise the Listener's turns."""
        return self.fold == "train" or turn.is_listener


class LastReplyTeacher(DefaultTeacher):
    """The last Listener turn of each conversation, given all turns before it: the test prompts of Lee et al. (2022).

    ``--ed-history 1`` gives only the turn before it: the paper's single-turn mode.
    """

    default_history = -1

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example if the conversation has a reply."""
        yield from deque(super().examples(dialogue), maxlen=1)


class SpeakerTeacher(EmpatheticDialoguesTeacher):
    """The Speaker's turns, given the situation (the first line) and the turns before: future work in the paper."""

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example per Speaker turn, including the first."""
        for turn in dialogue.turns:
            if not turn.is_listener:
                before = self.context(dialogue.turns[: turn.index - 1])
                text = f"{dialogue.situation}\n{before}" if before else dialogue.situation
                yield {"text": text, "labels": [turn.text], "turn": turn.index}


class SituationEmotionTeacher(EmpatheticDialoguesTeacher):
    """The emotion of a situation, one of 32 (Rashkin et al. 2019, Table 10)."""

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example per conversation."""
        yield {"text": dialogue.situation, "labels": [dialogue.emotion], "label_candidates": list(EMOTIONS)}


class SituationEmotionCutTeacher(SituationEmotionTeacher):
    """The same, without situations that contain the name of their emotion (Table 10's *cut*)."""

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example if the situation does not contain the label."""
        if not re.search(rf"\b{dialogue.emotion}\b", dialogue.situation, re.IGNORECASE):
            yield from super().examples(dialogue)


class ContextEmotionTeacher(EmpatheticDialoguesTeacher):
    """The conversation's emotion, given the turns before a Listener turn: MoEL and CEM report its accuracy."""

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example per Listener turn."""
        for turn in dialogue.turns:
            if turn.is_listener:
                yield {
                    "text": self.context(dialogue.turns[: turn.index - 1]),
                    "labels": [dialogue.emotion],
                    "label_candidates": list(EMOTIONS),
                    "turn": turn.index,
                }
