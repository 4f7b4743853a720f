"""``parlai rate``: rate replies, compare them, or chat with models and rate them, in a terminal."""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.rating.names import STUDIES
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.study_options import add_study, add_turn_minutes


@register_script("rate")
class Rate(ParlaiScript):
    """Ask a rater one question after another and store the answers, or export the stored ratings."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the study, the rater, the store."""
        parser = command_parser("Rate replies, pairs of replies or conversations in a terminal")
        group = parser.add_argument_group("Rating")
        add_study(group, STUDIES)
        group.add_argument(
            "--models",
            nargs="*",
            default=[],
            metavar="[NAME=]FILE",
            help="Files of the models to talk with; instead of the study's own.",
        )
        group.add_argument(
            "--rater",
            nargs="+",
            default=None,
            metavar="NAME",
            help="The rater's name; by default, your user name. To collect dialogues, two names.",
        )
        group.add_argument(
            "--export",
            default=None,
            metavar="FILE",
            help="Write all ratings to this .csv or .jsonl file (conversations to another beside it, "
            "collected dialogues in EmpatheticDialogues' CSV layout), and exit.",
        )
        add_turn_minutes(
            group,
            "In an export of collected dialogues: the minutes of silence that parlai collect_site takes for leaving.",
        )
        parser.set_defaults(loglevel="warning")  # ParlAI's log of options would hide the instructions
        return parser

    def run(self) -> None:
        """Rate, or export."""
        from parlai_empathy.scripts.runs import rate

        rate.run(self.opt)


if __name__ == "__main__":
    Rate.main()
