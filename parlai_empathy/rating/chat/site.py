"""The chat site as a whole."""

from __future__ import annotations

from pathlib import Path

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.chat.admin import ChatAdminPages
from parlai_empathy.rating.chat.pages import ChatPages
from parlai_empathy.rating.chat.replies import Replies
from parlai_empathy.rating.chat.settings import ChatSettings
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.admin_access import AdminDoor
from parlai_empathy.rating.site.fields import longest_form
from parlai_empathy.rating.web.app import Site
from parlai_empathy.rating.web.limits import LIMITS, Limits

_HERE = Path(__file__).parent


def chat_site(
    desk: Desk,
    replies: Replies,
    secret: bytes,
    settings: ChatSettings,
    limits: Limits = LIMITS,
    token: str = "",
) -> Site:
    """Build the chat site.

    :param secret: see :func:`~parlai_empathy.rating.web.secret.site_secret`.
    :param limits: rate limits for clients.
    :param token: the administrator's token; without one there is no administration page.
    :raises OptionError: if the study is not of kind ``chat``.
    :raises MissingDependencyError: if Starlette, uvicorn or Jinja2 is not installed.
    """
    if desk.study.kind != "chat":
        raise OptionError(f"{desk.study.where}: kind is {desk.study.kind}: the chat page serves chat")
    marks = ([question] for question in desk.study.turn_questions)
    site = Site(
        desk.study.title,
        secret,
        folders=[_HERE, _HERE.parent / "talking", _HERE.parent / "site"],
        limits=limits,
        longest_form=longest_form(desk.study.page_questions, *marks, text=settings.longest),
    )
    pages = ChatPages(desk, replies, settings)
    site.add("/", pages.begin)
    site.add("/consent", pages.consent, method="POST")
    site.add("/say", pages.say, method="POST")
    site.add("/events", pages.events)
    site.add("/retry", pages.retry, method="POST")
    site.add("/mark", pages.mark, method="POST")
    site.add("/new", pages.new, method="POST")
    site.add("/judge", pages.judge)
    site.add("/judge", pages.judged, method="POST")
    site.add("/conversation.{suffix}", pages.export)
    if token:
        ChatAdminPages(desk, AdminDoor(token)).add_to(site)
    return site
