"""Implementation of ``parlai rate_site``."""

from __future__ import annotations

from contextlib import closing

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.names import ON_SITE
from parlai_empathy.rating.site.admin_access import admin_token
from parlai_empathy.rating.site.pages import check_kind, rating_site
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.rating.web.requirements import check_installed
from parlai_empathy.rating.web.secret import site_secret
from parlai_empathy.rating.web.serving import check_address, serve
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.scripts.parts.study_options import address_of, announce, id_parameter_of


def run(opt: Opt) -> None:
    """Serve until stopped. A new version of the study replaces the store's: whatever can be wrong is checked before."""
    if not opt["study"]:
        raise OptionError(f"--study: name the study to run: a file, or one of {', '.join(ON_SITE)}")
    check_installed()
    token = admin_token()
    id_parameter = id_parameter_of(opt)
    study = read_study(opt["study"], by_name("--logs", opt["logs"]))
    check_kind(study)
    check_address(address_of(opt))
    secret = site_secret(opt["store"])
    with closing(open_store(opt["store"])) as store:
        desk = Desk(store, study, new_version=opt["new_version"])
        site = rating_site(desk, secret, token, mturk=opt["mturk"], id_parameter=id_parameter)
        serve(site.app(), address_of(opt), lambda url: announce(f"Raters of {study.name}", url, bool(token)))
