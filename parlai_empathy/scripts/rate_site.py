"""``parlai rate_site``: let people judge replies or compare them in a browser."""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.entry import check_id_parameter
from parlai_empathy.rating.desk import Desk
from parlai_empathy.rating.site.admin_door import admin_token
from parlai_empathy.rating.site.pages import check_kind, rating_site
from parlai_empathy.rating.store import open_store
from parlai_empathy.rating.study_file import STUDIES, read_study
from parlai_empathy.rating.web.needed import check_installed
from parlai_empathy.rating.web.secret import site_secret
from parlai_empathy.rating.web.serving import serve
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.scripts.parts.study_options import add_address, add_study, address_of, announce


@register_script("rate_site")
class RateSite(ParlaiScript):
    """Serve a study's pages: for raters, and for who runs the study."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The study, where ratings are kept, and where the site is reached."""
        parser = ParlaiParser(True, False, "Let people rate replies or pairs of replies in a browser")
        group = parser.add_argument_group("Rating")
        add_study(group)
        _add_site_args(parser)
        parser.set_defaults(loglevel="warning")  # ParlAI's log of options would bury the site's address
        return parser

    def run(self) -> None:
        """Serve until stopped."""
        opt = self.opt
        if not opt["study"]:
            raise OptionError(f"--study: say what is to be rated: a study's file, or one of {', '.join(STUDIES)}")
        check_installed()
        token = admin_token()
        if opt["id_parameter"]:
            check_id_parameter(opt["id_parameter"])
        study = read_study(opt["study"], by_name("--logs", opt["logs"]))
        check_kind(study)
        store = open_store(opt["store"])
        try:
            desk = Desk(store, study, new_version=opt["new_version"])
            site = rating_site(
                desk, site_secret(opt["store"]), token, mturk=opt["mturk"], id_parameter=opt["id_parameter"]
            )
            serve(site.app(), address_of(opt), lambda url: announce(f"Raters of {study.name}", url, bool(token)))
        finally:
            store.close()


def _add_site_args(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Site")
    add_address(group)
    group.add_argument(
        "--mturk",
        type="bool",
        default=False,
        help="Let Amazon Mechanical Turk show the site inside its pages; it must be reached over https.",
    )
    group.add_argument(
        "--id-parameter",
        default=None,
        metavar="NAME",
        help="The parameter that names raters in links of marketplaces other than Mechanical Turk and Prolific.",
    )


if __name__ == "__main__":
    RateSite.main()
