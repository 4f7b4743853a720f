"""``parlai emotion "text"``: predict the emotion of a text, with probabilities.

From Python: ``Classifier("model/emotion").top(["I passed the test!"], 3)``, of
:class:`parlai_empathy.scoring.classifier.Classifier`.
"""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.scripts.parts.command_parser import command_parser

_MODEL = "zoo:empathy/text_classifier_emotion/model"


@register_script("emotion")
class Emotion(ParlaiScript):
    """Print the most probable emotions of texts."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the texts, the model, how many emotions to print."""
        parser = command_parser("Predict the emotion of a text")
        parser.add_argument(
            "texts",
            nargs="*",
            metavar="TEXT",
            help="Texts in quotes. Without any, the lines of standard input.",
        )
        parser.add_argument(
            "-mf",
            "--model-file",
            default=None,  # not _MODEL: ParlAI would look for it even for --help
            help=f"A trained classifier, such as empathy:text_classifier. By default {_MODEL}.",
        )
        parser.add_argument("--top", type=int, default=3, help="How many emotions to name.")
        parser.set_defaults(loglevel="warning")  # ParlAI's log of options would hide the answer
        return parser

    def run(self) -> None:
        """Print one line per text."""
        from parlai_empathy.scripts.runs import emotion

        emotion.run(self.opt, self.opt["model_file"] or _MODEL)


if __name__ == "__main__":
    Emotion.main()
