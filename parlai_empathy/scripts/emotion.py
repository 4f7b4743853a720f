"""``parlai emotion "text"``: which emotion a text has, with probabilities.

From Python: ``Classifier("model/emotion").top(["I passed the test!"], 3)``, of
:class:`parlai_empathy.scoring.classifier.Classifier`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.scoring.classifier import Classifier

_MODEL = "zoo:empathy/text_classifier_emotion/model"
_LINES = 256  # of the standard input, read at once


@register_script("emotion")
class Emotion(ParlaiScript):
    """Name the most probable emotions of texts."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Texts, a model, and how much to say."""
        parser = ParlaiParser(True, False, "Name the emotion of a text")
        parser.add_argument(
            "texts",
            nargs="*",
            metavar="TEXT",
            help="Texts in quotes. Without any, each line of the standard input is one.",
        )
        parser.add_argument(
            "-mf",
            "--model-file",
            default=None,  # ParlAI looks for a model that is named, even where help alone is asked for
            help=f"A trained classifier, such as empathy:text_classifier. Left out, {_MODEL}.",
        )
        parser.add_argument("--top", type=int, default=3, help="How many emotions to name.")
        # The answer shall not be buried in ParlAI's log of options.
        parser.set_defaults(loglevel="warning")
        return parser

    def run(self) -> None:
        """Print a line a text: emotions and probabilities, the most probable first, then the text."""
        if any(not text.strip() for text in self.opt["texts"]):
            raise OptionError("TEXT: an empty text has no emotion")
        classifier = Classifier(self.opt["model_file"] or _MODEL, self.opt["datapath"])
        for texts in [self.opt["texts"]] if self.opt["texts"] else _blocks():
            for text, found in zip(texts, classifier.top(texts, self.opt["top"]), strict=True):
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


if __name__ == "__main__":
    Emotion.main()
