"""A rating site without a server: its desk, its visitors, and the forms that they send."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tiny_studies import Clock
from web_visitor import Page, Visitor

from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.pages import rating_site
from parlai_empathy.rating.storage.store import Store, open_store
from parlai_empathy.rating.study.study_file import read_study

SECRET = b"a secret for the tests, of some length"
TOKEN = "a token for the tests"
EVIL = "<script>alert('heron')</script> & <b>bold</b>"


class Lab:
    """A site, its desk and its visitors."""

    def __init__(self, study: Path, store: Path | str, clock: Clock, **options: Any) -> None:
        self.clock = clock
        self.store: Store = open_store(str(store))
        self.desk = Desk(self.store, read_study(study), clock)
        self.app = rating_site(self.desk, SECRET, **{"token": TOKEN, **options}).app()

    def visitor(self, **options: Any) -> Visitor:
        return Visitor(self.app, **options)

    def rater(self, **options: Any) -> Visitor:
        """Return a visitor who has given consent and sees the first item."""
        found = self.visitor(**options)
        found.get("/")
        found.post("/consent", {"agree": "yes"})
        found.get("/rate")
        return found

    def admin(self) -> Visitor:
        found = self.visitor()
        found.get("/admin")
        found.post("/admin/login", {"admin_token": TOKEN})
        return found


def answers_of(page: Page, text: str = "I like them.") -> dict[str, str]:
    """Return an answer to each question of a page: the last choice, or ``text``."""
    radios = dict(re.findall(r'<input type="radio" name="([^"]+)" id="[^"]+" value="([^"]+)"', page.text))
    areas = re.findall(r'<textarea name="([^"]+)"', page.text)
    return {**radios, **dict.fromkeys(areas, text), "shown": page.hidden("shown")}


def item_of(page: Page) -> str:
    """Return the path of the item on a page."""
    found = re.search(r'action="(/item/[0-9a-f]+)"', page.text)
    assert found, page.words
    return found[1]
