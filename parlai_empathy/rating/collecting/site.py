"""The site for collecting dialogues as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from parlai_empathy.rating.collecting.admin import CollectAdminPages
from parlai_empathy.rating.collecting.collection import Collection
from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.collecting.pages import CollectPages
from parlai_empathy.rating.collecting.settings import CollectSettings
from parlai_empathy.rating.collecting.text_rules import LONGEST
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.admin_access import AdminDoor
from parlai_empathy.rating.site.fields import longest_form
from parlai_empathy.rating.site.parts import Parts
from parlai_empathy.rating.site.welcome import WelcomePages
from parlai_empathy.rating.web.app import Site
from parlai_empathy.rating.web.limits import LIMITS, Limits
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_HERE = Path(__file__).parent


def collect_site(
    desk: Desk,
    secret: bytes,
    settings: CollectSettings,
    token: str = "",
    limits: Limits = LIMITS,
    id_parameter: str | None = None,
) -> Site:
    """Build the site of a collection.

    :param secret: see :func:`~parlai_empathy.rating.web.secret.site_secret`.
    :param token: the administrator's token; without one there is no administration page.
    :param limits: rate limits for clients.
    :param id_parameter: the query parameter that names people in links of marketplaces other than Prolific.
    :raises OptionError: if the study is not of kind ``collect``.
    :raises MissingDependencyError: if Starlette, uvicorn or Jinja2 is not installed.
    """
    lobby = Lobby(Collection(desk), settings.patience)
    site = Site(
        desk.study.title,
        secret,
        folders=[_HERE, _HERE.parent / "talking", _HERE.parent / "site"],
        limits=limits,
        longest_form=longest_form(desk.study.questions, text=LONGEST),
    )
    parts = Parts(desk)
    parts.texts["has_keys"] = False  # no hint about keys: the instructions mention no questions
    _add_entrance(site, WelcomePages(parts, id_parameter))
    _add_pages(site, CollectPages(lobby, parts, settings))
    if token:
        CollectAdminPages(lobby, AdminDoor(token)).add_to(site)
    return site


def _add_entrance(site: Site, welcome: WelcomePages) -> None:
    """Add the rating site's pages for consent and instructions, which lead on to ``/rate``."""
    site.add("/", welcome.begin)
    site.add("/consent", welcome.consent, method="POST")
    site.add("/instructions", welcome.instructions)
    site.add("/rate", _go_on)


async def _go_on(visit: Visit) -> Response:
    return visit.redirect("/talk")


def _add_pages(site: Site, pages: CollectPages) -> None:
    site.add("/talk", pages.show)
    site.add("/events", pages.events)
    for name in ("prompt", "wait", "leave", "again", "say", "end", "judge"):
        site.add(f"/{name}", getattr(pages, name), method="POST")
