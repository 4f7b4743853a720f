"""The base class of teachers of small data sets, which are loaded completely."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher
from parlai.utils.data import DatatypeHelper

from parlai_empathy.errors import DataError
from parlai_empathy.task_kit.builder import how_to_fetch_again
from parlai_empathy.task_kit.edition import add_edition


class InMemoryTeacher(DialogTeacher):
    """A teacher with the option ``--edition``. Each message is an episode, and a fold without any is an error.

    :cvar title: the data set's name, used as the title of its options in ``--help``.
    """

    title: ClassVar[str]

    @staticmethod
    @abstractmethod
    def build(opt: dict[str, Any]) -> Path:
        """Return the path of the data of the datatype's fold, and build them if necessary."""

    @abstractmethod
    def messages(self, path: Path) -> Iterable[dict[str, Any]]:
        """Yield the messages of :attr:`fold`, with at least ``text`` and ``labels``.

        :param path: that of the data, from :meth:`build`.
        """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options of the task."""
        super().add_cmdline_args(parser, partial_opt)
        cls.add_options(parser.add_argument_group(cls.title))
        return parser

    @classmethod
    def add_options(cls, group: Any) -> None:
        """Add ``--edition``; a subclass may add more."""
        add_edition(group)

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        opt = copy.deepcopy(opt)
        self.fold: str = DatatypeHelper.fold(opt["datatype"])
        # In streaming mode, ParlAI would cache counts in a file beside the data: that folder may be read-only, and the
        # counts would be wrong for other teachers. The data are small enough not to need streaming.
        opt["datatype"] = DatatypeHelper.strip_stream(opt["datatype"])
        # A copy, one for each position in a batch, has the data of the root teacher.
        path = Path(shared["opt"]["datafile"]) if shared else self.build(opt)
        opt["datafile"] = str(path)
        try:
            super().__init__(opt, shared)
        except DataError as error:
            raise DataError(f"{error}{how_to_fetch_again(path, error)}") from error

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield the messages, each the start of a new episode."""
        given = 0
        for message in self.messages(Path(datafile)):
            given += 1
            yield Message({"fold": self.fold, **message}), True
        if not given:
            raise DataError(f"{datafile}: its {self.fold} fold has no example for {type(self).__name__}")
