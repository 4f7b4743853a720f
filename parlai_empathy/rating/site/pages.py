"""The rating site as a whole."""

from __future__ import annotations

from pathlib import Path

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.framing import form_targets, frame_ancestors
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.admin import AdminPages
from parlai_empathy.rating.site.admin_access import AdminDoor
from parlai_empathy.rating.site.fields import longest_form
from parlai_empathy.rating.site.item import ItemPages
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.site.welcome import WelcomePages
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.web.app import Site
from parlai_empathy.rating.web.limits import LIMITS, Limits

KINDS = ("likert", "pairwise")
"""The kinds of study that the site serves."""


def check_kind(study: Study) -> None:
    """Check that the site serves studies of this kind.

    :raises OptionError: if it does not.
    """
    if study.kind not in KINDS:
        other = f"parlai {study.kind}_site or parlai rate"
        raise OptionError(
            f"{study.where}: kind is {study.kind}: the rating site serves {' and '.join(KINDS)}; use {other}"
        )


def rating_site(
    desk: Desk,
    secret: bytes,
    token: str = "",
    limits: Limits = LIMITS,
    mturk: bool = False,
    id_parameter: str | None = None,
) -> Site:
    """Build the site of a study.

    :param secret: see :func:`~parlai_empathy.rating.web.secret.site_secret`.
    :param token: the administrator's token; without one there is no administration page.
    :param mturk: whether Mechanical Turk may show the site in its frames and receive the last form.
    :param id_parameter: the query parameter that names raters in links of other marketplaces.
    :raises OptionError: if the site does not serve studies of this kind.
    :raises MissingDependencyError: if Starlette, uvicorn or Jinja2 is not installed.
    """
    check_kind(desk.study)
    site = Site(
        desk.study.title,
        secret,
        folders=[Path(__file__).parent],
        limits=limits,
        framed_by=frame_ancestors().split() if mturk else (),
        forms_to=form_targets().split() if mturk else (),
        longest_form=longest_form(desk.study.page_questions),
    )
    parts = Parts(desk)
    _add_raters_pages(site, WelcomePages(parts, id_parameter), ItemPages(parts))
    if token:
        AdminPages(desk, AdminDoor(token)).add_to(site)
    return site


def _add_raters_pages(site: Site, welcome: WelcomePages, items: ItemPages) -> None:
    site.add("/", welcome.begin)
    site.add("/consent", welcome.consent, method="POST")
    site.add("/instructions", welcome.instructions)
    site.add("/rate", items.next)
    site.add("/item/{id}", items.show)
    site.add("/item/{id}", items.take, method="POST")
