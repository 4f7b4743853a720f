"""Teachers of DailyDialog.

Each example is an episode of its own. Its text contains the true turns before the label, one per line, so that
examples can be shuffled and each agent sees the same context.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from parlai_empathy.tasks.daily_dialog.build import build
from parlai_empathy.tasks.daily_dialog.overlap import without_overlap
from parlai_empathy.tasks.daily_dialog.reader import ACTS, EMOTIONS, Dialogue, read_daily_dialog


class DailyDialogTeacher(InMemoryTeacher):
    """Base class: options, files and common fields of the messages. Subclasses implement :meth:`examples`."""

    title = "DailyDialog"

    @classmethod
    def add_options(cls, group: Any) -> None:
        """Add the options of the task."""
        super().add_options(group)
        group.add_argument(
            "--dd-history",
            type=int,
            default=DEFAULT,
            help="How many turns before the reply, or before the classified turn, the text holds; -1 for all.",
        )
        group.add_argument(
            "--dd-drop-overlap",
            type="bool",
            default=False,
            help="Leave dialogues that share a turn and its answer with valid or test out of training.",
        )

    @staticmethod
    def build(opt: dict[str, Any]) -> Path:
        """Return the fold's zip file or folder."""
        return build(opt)[DatatypeHelper.fold(opt["datatype"])]

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        self.history_size = check_history("--dd-history", opt.get("dd_history", DEFAULT))
        super().__init__(opt, shared)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield the examples of all dialogues."""
        for dialogue in self._dialogues(path):
            for example in self.examples(dialogue):
                yield {"conv_id": dialogue.conv_id, **example}

    def _dialogues(self, path: Path) -> list[Dialogue]:
        dialogues = list(read_daily_dialog(path))
        if not is_true("--dd-drop-overlap", self.opt) or self.fold != "train":
            return dialogues
        files = build(self.opt)
        held_out = [dialogue for fold in ("valid", "test") for dialogue in read_daily_dialog(files[fold])]
        kept = without_overlap(dialogues, held_out)
        logging.info(f"{path}: left out {len(dialogues) - len(kept)} dialogue(s) that overlap with valid or test")
        if not kept:
            raise DataError(f"{path}: --dd-drop-overlap leaves no dialogue: all of them occur in valid or test")
        return kept

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield the examples of a dialogue: messages with at least ``text`` and ``labels``."""
        raise NotImplementedError

    def context(self, turns: tuple[str, ...]) -> str:
        """Return the last ``--dd-history`` turns of ``turns``, one per line."""
        return last_turns(turns, self.history_size)


class DefaultTeacher(DailyDialogTeacher):
    """Each turn but the first, given the turns before.

    In valid and test, each message has 100 candidates: the true reply and 99 others sampled from the same fold, the
    same in every run.
    """

    def _dialogues(self, path: Path) -> list[Dialogue]:
        dialogues = super()._dialogues(path)
        self._replies = list(dict.fromkeys(turn.text for dialogue in dialogues for turn in dialogue.turns[1:]))
        return dialogues

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example for each turn but the first; ``act`` and ``emotion`` are those of the reply."""
        texts = tuple(turn.text for turn in dialogue.turns)
        for place, turn in enumerate(dialogue.turns[1:], start=2):
            example: dict[str, Any] = {
                "text": self.context(texts[: place - 1]),
                "labels": [turn.text],
                "turn": place,
                "act": turn.act,
                "emotion": turn.emotion,
            }
            if self.fold != "train":
                example["candidates_source"] = "sampled"
                example["label_candidates"] = sample_candidates(turn.text, self._replies, f"{dialogue.conv_id} {place}")
            yield example


class _ClassesOfTurns(DailyDialogTeacher):
    """Base class: the label is the class of a turn, given the turn (the text's last line) and those before it."""

    classes: tuple[str, ...]
    attribute: str

    def examples(self, dialogue: Dialogue) -> Iterator[dict[str, Any]]:
        """Yield one example per turn."""
        texts = tuple(turn.text for turn in dialogue.turns)
        for place, turn in enumerate(dialogue.turns, start=1):
            before = [self.context(texts[: place - 1])] if place > 1 else []
            yield {
                "text": "\n".join([*before, turn.text]),
                "labels": [getattr(turn, self.attribute)],
                "label_candidates": list(self.classes),
                "turn": place,
            }


class EmotionTeacher(_ClassesOfTurns):
    """The emotion of the text's last line, one of seven (Li et al. 2017, section 3.3)."""

    classes, attribute = EMOTIONS, "emotion"


class ActTeacher(_ClassesOfTurns):
    """The act of the text's last line: inform, question, directive or commissive (Li et al. 2017, section 3.2)."""

    classes, attribute = ACTS, "act"
