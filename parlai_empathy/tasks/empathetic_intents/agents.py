"""The teacher of EmpatheticIntents: which of nine intents does an utterance have?"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher
from parlai.utils.data import DatatypeHelper

from parlai_empathy.tasks.edition import add_edition
from parlai_empathy.tasks.empathetic_intents.build import build
from parlai_empathy.tasks.empathetic_intents.reader import INTENTS, read_empathetic_intents


class EmpatheticIntentsTeacher(DialogTeacher):
    """An utterance in, its intent out: the classifier behind IntentAcc (Lee et al. 2022)."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the option of the task."""
        super().add_cmdline_args(parser, partial_opt)
        add_edition(parser.add_argument_group("EmpatheticIntents"))
        return parser

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        opt = copy.deepcopy(opt)
        self.fold: str = DatatypeHelper.fold(opt["datatype"])
        opt["datatype"] = DatatypeHelper.strip_stream(opt["datatype"])  # small enough, and ParlAI would count wrongly
        opt["datafile"] = str(build(opt))
        super().__init__(opt, shared)

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield one message an utterance, each the start of a new episode."""
        for one in read_empathetic_intents(datafile, self.fold):
            yield (
                Message(
                    {
                        "text": one.text,
                        "labels": [one.intent],
                        "label_candidates": list(INTENTS),
                        "fold": self.fold,
                    }
                ),
                True,
            )


class DefaultTeacher(EmpatheticIntentsTeacher):
    """What ``-t empathy:empathetic_intents`` asks for."""
