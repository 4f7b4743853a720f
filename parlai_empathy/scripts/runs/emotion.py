"""Implementation of ``parlai emotion``: prints one line per text, with its most probable emotions."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence

from parlai.core.opt import Opt

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.files.closed_pipe import pipe_may_close
from parlai_empathy.files.text_file import has_half_characters
from parlai_empathy.reports.cells import one_line
from parlai_empathy.scoring.classifier import Classifier

_LINES = 256  # lines of standard input per batch


def run(opt: Opt, model_file: str) -> None:
    """Print one line per text: emotions and probabilities, the most probable first, then the text.

    :param model_file: of a classifier; may be the name of a zoo model.
    :raises OptionError: for an empty text.
    :raises DataError: for a text that is not valid UTF-8.
    """
    for place, text in enumerate(opt["texts"], start=1):
        _check_characters(text, f"TEXT {place}")
        if not text.strip():
            raise OptionError("TEXT: the text is empty: write at least one word")
    classifier = Classifier(model_file, opt["datapath"])
    with pipe_may_close():
        for texts in [opt["texts"]] if opt["texts"] else _blocks():
            _print(texts, classifier.top(texts, opt["top"]))


def _print(texts: Sequence[str], emotions: Sequence[Sequence[tuple[str, float]]]) -> None:
    for text, found in zip(texts, emotions, strict=True):
        shares = "  ".join(f"{label} {probability:.3f}" for label, probability in found)
        print(f"{shares}\t{one_line(text)}", flush=True)


def _check_characters(text: str, where: str) -> None:
    """Raise :class:`DataError` for a text with surrogates, which stand for bytes that are not UTF-8."""
    if has_half_characters(text):
        raise DataError(f"{where}: not UTF-8: write the text as UTF-8")


def _lines() -> Iterator[str]:
    """Yield the lines of standard input."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # _check_characters names the line, a decoding error would not
    for number, line in enumerate(sys.stdin, start=1):
        _check_characters(line, f"standard input, line {number}")
        yield line


def _blocks() -> Iterator[list[str]]:
    """Yield the non-blank lines of standard input: one at a time from a terminal, otherwise in batches."""
    size = 1 if sys.stdin.isatty() else _LINES
    block: list[str] = []
    for line in _lines():
        block += [line.strip()] if line.strip() else []
        if len(block) >= size:
            yield block
            block = []
    if block:
        yield block
