"""``parlai collect_site``: people who do not know each other meet in the browser, in pairs, and collect dialogues.

::

    parlai collect_site --study collect_ed
    parlai collect_site --study collect_ed --export collected.csv    the whole conversations, as CSV
"""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.rating.names import STORE
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.distress_options import add_distress
from parlai_empathy.scripts.parts.study_options import add_address


@register_script("collect_site")
class CollectSite(ParlaiScript):
    """Serve a collection of dialogues to people who meet in pairs; or export what they said."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The study, where conversations are kept, what is shown, and where the site is reached."""
        parser = command_parser("A site on which people meet in pairs and collect dialogues")
        _add_collecting(parser)
        add_distress(parser, before="the other one answers")
        group = parser.add_argument_group("Site")
        add_address(group)
        group.add_argument(
            "--id-parameter",
            default=None,
            metavar="NAME",
            help="The parameter that names people in links of marketplaces other than Prolific.",
        )
        parser.set_defaults(loglevel="warning")  # ParlAI's log of options would bury the site's address
        return parser

    def run(self) -> None:
        """Serve until stopped, or export."""
        from parlai_empathy.scripts.runs import collect_site

        collect_site.run(self.opt)


def _add_collecting(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Collecting")
    group.add_argument("--study", default=None, metavar="STUDY", help="A study's file of kind collect, or collect_ed.")
    group.add_argument(
        "--store",
        default=STORE,
        metavar="URL",
        help="Where conversations are kept: a file, or postgresql://user@host/name.",
    )
    group.add_argument(
        "--new-version",
        type="bool",
        default=False,
        help="Go on with a study that was changed since the store knew it.",
    )
    group.add_argument(
        "--turn-minutes",
        type=float,
        default=5.0,
        help="After which somebody who does not do what the other one waits for has left.",
    )
    group.add_argument(
        "--export",
        default=None,
        metavar="FILE",
        help="Write the whole conversations to this file, as EmpatheticDialogues' CSV, and stop.",
    )


if __name__ == "__main__":
    CollectSite.main()
