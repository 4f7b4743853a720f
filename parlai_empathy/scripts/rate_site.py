"""``parlai rate_site``: let people rate or compare replies in a browser."""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.rating.names import ON_SITE
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.study_options import add_address, add_id_parameter, add_study


@register_script("rate_site")
class RateSite(ParlaiScript):
    """Serve a study's pages, for raters and for the administrator."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the study, the store, the address."""
        parser = command_parser("Let people rate replies or pairs of replies in a browser")
        group = parser.add_argument_group("Rating")
        add_study(group, ON_SITE)
        _add_site_args(parser)
        parser.set_defaults(loglevel="warning")  # ParlAI's log of options would hide the site's address
        return parser

    def run(self) -> None:
        """Serve until stopped."""
        from parlai_empathy.scripts.runs import rate_site

        rate_site.run(self.opt)


def _add_site_args(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Site")
    add_address(group)
    group.add_argument(
        "--mturk",
        type="bool",
        default=False,
        help="Let Amazon Mechanical Turk show the site inside its pages; it must be reached over https.",
    )
    add_id_parameter(group, known="Mechanical Turk and Prolific")


if __name__ == "__main__":
    RateSite.main()
