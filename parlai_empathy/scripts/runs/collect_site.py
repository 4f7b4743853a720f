"""Implementation of ``parlai collect_site``: serves the site, or exports the conversations."""

from __future__ import annotations

import time
from contextlib import closing

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collecting.settings import CollectSettings
from parlai_empathy.rating.collecting.site import collect_site
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.admin_access import admin_token
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.rating.talking.notices import between_people
from parlai_empathy.rating.web.requirements import check_installed
from parlai_empathy.rating.web.secret import site_secret
from parlai_empathy.rating.web.serving import check_address, serve
from parlai_empathy.scripts.parts.distress_options import notice_of
from parlai_empathy.scripts.parts.study_options import address_of, announce, id_parameter_of, patience_of
from parlai_empathy.scripts.runs.export_collected import export_collected


def run(opt: Opt) -> None:
    """Serve until stopped, or export. A new version of the study replaces the store's: the rest is checked before."""
    study, settings = _study(opt), _settings(opt)
    if opt["export"]:
        _export(opt, study, settings.patience)
        return
    check_installed()
    check_address(address_of(opt))
    token, secret = admin_token(), site_secret(opt["store"])
    id_parameter = id_parameter_of(opt)
    with closing(open_store(opt["store"])) as store:
        desk = Desk(store, study, new_version=opt["new_version"])
        site = collect_site(desk, secret, settings, token, id_parameter=id_parameter)
        if settings.notice is None:
            logging.warning("--distress-notice is off: people who mention self-harm are not shown where to find help")
        serve(site.app(), address_of(opt), lambda url: announce(f"Collecting {study.name}", url, bool(token)))


def _export(opt: Opt, study: Study, patience: float) -> None:
    with closing(open_store(opt["store"], may_make=False)) as store:
        export_collected(store, study, opt["export"], silent_since=time.time() - patience)


def _study(opt: Opt) -> Study:
    if not opt["study"]:
        raise OptionError("--study: name the study to run: a file of kind collect, or collect_ed")
    study = read_study(opt["study"])
    if study.kind != "collect":
        raise OptionError(f"{study.where}: kind is {study.kind}: this site is for kind collect; see parlai rate_site")
    return study


def _settings(opt: Opt) -> CollectSettings:
    patience, notice = patience_of(opt), notice_of(opt)
    return CollectSettings(between_people(notice) if notice else None, patience=patience)
