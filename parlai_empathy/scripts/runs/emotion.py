"""What ``parlai emotion`` does: a line for each text, with its most probable emotions."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence

from parlai.core.opt import Opt

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.scoring.classifier import Classifier

_LINES = 256  # of the standard input, read at once


def run(opt: Opt, model_file: str) -> None:
    """Print a line a text: emotions and probabilities, the most probable first, then the text.

    :param model_file: of a classifier; a name in the zoo will do.
    :raises OptionError: for an empty text.
    :raises DataError: for a text that is no UTF-8.
    """
    for place, text in enumerate(opt["texts"], start=1):
        _check_characters(text, f"TEXT {place}")
        if not text.strip():
            raise OptionError("TEXT: an empty text has no emotion")
    classifier = Classifier(model_file, opt["datapath"])
    try:
        for texts in [opt["texts"]] if opt["texts"] else _blocks():
            _print(texts, classifier.top(texts, opt["top"]))
    except BrokenPipeError:  # whoever reads what is printed has had enough; nor can Python flush the rest at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(texts: Sequence[str], emotions: Sequence[Sequence[tuple[str, float]]]) -> None:
    for text, found in zip(texts, emotions, strict=True):
        shares = "  ".join(f"{label} {probability:.3f}" for label, probability in found)
        print(f"{shares}\t{text}", flush=True)


def _check_characters(text: str, where: str) -> None:
    """See that a text is whole: bytes that are no UTF-8 come as halves of characters, which no model can read."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: not UTF-8: write the text as UTF-8") from error


def _lines() -> Iterator[str]:
    """The lines of the standard input."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # else what is wrong further on ends it here, without its line
    for number, line in enumerate(sys.stdin, start=1):
        _check_characters(line, f"standard input, line {number}")
        yield line


def _blocks() -> Iterator[list[str]]:
    """The lines of the standard input that say something: one by one from a keyboard, else many at once."""
    size = 1 if sys.stdin.isatty() else _LINES
    block: list[str] = []
    for line in _lines():
        block += [line.strip()] if line.strip() else []
        if len(block) >= size:
            yield block
            block = []
    if block:
        yield block
