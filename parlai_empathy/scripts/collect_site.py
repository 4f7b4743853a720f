"""``parlai collect_site``: people who do not know each other meet in the browser, in pairs, and collect dialogues.

::

    parlai collect_site --study collect_ed
    parlai collect_site --study collect_ed --export collected.csv    the whole conversations, as CSV
"""

from __future__ import annotations

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collected_file import write_collected
from parlai_empathy.rating.collecting.notice import between_people
from parlai_empathy.rating.collecting.settings import CollectSettings
from parlai_empathy.rating.collecting.site import collect_site
from parlai_empathy.rating.collection import Collection
from parlai_empathy.rating.crowd.entry import check_id_parameter
from parlai_empathy.rating.desk import Desk
from parlai_empathy.rating.site.admin_door import admin_token
from parlai_empathy.rating.store import STORE, open_store
from parlai_empathy.rating.study import Study
from parlai_empathy.rating.study_file import read_study
from parlai_empathy.rating.web.needed import check_installed
from parlai_empathy.rating.web.secret import site_secret
from parlai_empathy.rating.web.serving import serve
from parlai_empathy.scripts.parts.distress_options import add_distress, notice_of
from parlai_empathy.scripts.parts.study_options import add_address, address_of, announce

_LEAST_MINUTES, _MOST_MINUTES = 0.5, 120.0


@register_script("collect_site")
class CollectSite(ParlaiScript):
    """Serve a collection of dialogues to people who meet in pairs; or export what they said."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The study, where conversations are kept, what is shown, and where the site is reached."""
        parser = ParlaiParser(True, False, "A site on which people meet in pairs and collect dialogues")
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
        opt = self.opt
        study, settings = _study(opt), _settings(opt)
        if opt["export"]:
            self._export(study)
            return
        check_installed()
        token, secret = admin_token(), site_secret(opt["store"])
        if opt["id_parameter"]:
            check_id_parameter(opt["id_parameter"])
        store = open_store(opt["store"])
        try:
            desk = Desk(store, study, new_version=opt["new_version"])
            site = collect_site(desk, secret, settings, token, id_parameter=opt["id_parameter"])
            if settings.notice is None:
                logging.warning("--distress-notice is off: nobody who speaks of self-harm is told of help")
            serve(site.app(), address_of(opt), lambda url: announce(f"Collecting {study.name}", url, bool(token)))
        finally:
            store.close()

    def _export(self, study: Study) -> None:
        store = open_store(self.opt["store"])
        try:
            desk = Desk(store, study, new_version=self.opt["new_version"])
            count = write_collected(Collection(desk), self.opt["export"])
            print(f"{count:,} conversations: {self.opt['export']}")
        finally:
            store.close()


def _study(opt: Opt) -> Study:
    if not opt["study"]:
        raise OptionError("--study: say what is to be collected: a study's file of kind collect, or collect_ed")
    study = read_study(opt["study"])
    if study.kind != "collect":
        raise OptionError(f"{study.where}: kind is {study.kind}: this site is for kind collect; see parlai rate_site")
    return study


def _settings(opt: Opt) -> CollectSettings:
    minutes = opt["turn_minutes"]
    if not _LEAST_MINUTES <= minutes <= _MOST_MINUTES:
        raise OptionError(f"--turn-minutes {minutes:g}: expected a number from {_LEAST_MINUTES:g} to {_MOST_MINUTES:g}")
    notice = notice_of(opt)
    return CollectSettings(between_people(notice) if notice else None, patience=60 * minutes)


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
