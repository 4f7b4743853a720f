"""``parlai collect_site``: strangers meet in pairs in the browser to write dialogues for a data set.

::

    parlai collect_site --study collect_ed
    parlai collect_site --study collect_ed --export collected.csv    the complete conversations, as CSV
"""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.rating.names import STORE
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.distress_options import add_distress
from parlai_empathy.scripts.parts.study_options import add_address, add_id_parameter, add_turn_minutes


@register_script("collect_site")
class CollectSite(ParlaiScript):
    """Serve the site on which pairs of people write dialogues, or export the dialogues."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the study, the store, the help notice, the address."""
        parser = command_parser("Serve a site on which people meet in pairs to collect dialogues")
        _add_collecting(parser)
        add_distress(parser, before="the other one answers")
        group = parser.add_argument_group("Site")
        add_address(group)
        add_id_parameter(group)
        parser.set_defaults(loglevel="warning")  # ParlAI's log of options would hide the site's address
        return parser

    def run(self) -> None:
        """Serve until stopped, or export."""
        from parlai_empathy.scripts.runs import collect_site

        collect_site.run(self.opt)


def _add_collecting(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Collecting")
    group.add_argument("--study", default=None, metavar="STUDY", help="File of a study of kind collect, or collect_ed.")
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
        help="Accept a study that has changed since it was last used with this store.",
    )
    add_turn_minutes(group, "Minutes after which somebody who keeps the other waiting counts as having left.")
    group.add_argument(
        "--export",
        default=None,
        metavar="FILE",
        help="Write the complete conversations to this file, in EmpatheticDialogues' CSV layout, and exit.",
    )


if __name__ == "__main__":
    CollectSite.main()
