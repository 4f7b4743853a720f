"""What ``parlai emotion`` does: a line for each text, with its most probable emotions."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.scoring.classifier import Classifier

_LINES = 256  # of the standard input, read at once


def run(opt: Opt, model_file: str) -> None:
    """Print a line a text: emotions and probabilities, the most probable first, then the text.

    :param model_file: of a classifier; a name in the zoo will do.
    :raises OptionError: for an empty text.
    """
    if any(not text.strip() for text in opt["texts"]):
        raise OptionError("TEXT: an empty text has no emotion")
    classifier = Classifier(model_file, opt["datapath"])
    for texts in [opt["texts"]] if opt["texts"] else _blocks():
        for text, found in zip(texts, classifier.top(texts, opt["top"]), strict=True):
            shares = "  ".join(f"{label} {probability:.3f}" for label, probability in found)
            print(f"{shares}\t{text}", flush=True)


def _blocks() -> Iterator[list[str]]:
    """The lines of the standard input that say something: one by one from a keyboard, else many at once."""
    size = 1 if sys.stdin.isatty() else _LINES
    block: list[str] = []
    for line in sys.stdin:
        block += [line.strip()] if line.strip() else []
        if len(block) >= size:
            yield block
            block = []
    if block:
        yield block
