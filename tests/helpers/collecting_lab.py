"""A site for collecting dialogues, without a server: its store, its visitors, and the forms that they send."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from web_visitor import Page, Visitor

from parlai_empathy.rating.collecting.collection import Collection
from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.collecting.settings import CollectSettings
from parlai_empathy.rating.collecting.site import collect_site
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.rating.talking.help_lines import notice_for
from parlai_empathy.rating.talking.notices import between_people
from parlai_empathy.rating.web.limits import Limits, Rate

SECRET = b"a secret for the tests, of some length"
TOKEN = "a token for the tests"
EVIL = "<script>alert('heron')</script> & <b>bold</b>"
OFTEN = Rate(100_000, 100_000)
JUDGED = {"q-empathy": "5", "q-relevance": "4", "q-understandability": "3"}


class Lab:
    """A site and its visitors. A second ``Lab`` with the same store is the site after a restart."""

    def __init__(self, store: Path | str, clock: Any, study: str = "collect_ed", **settings: Any) -> None:
        self.clock = clock
        self.store = open_store(str(store))
        self.desk = Desk(self.store, read_study(study), clock)
        self.lobby = Lobby(Collection(self.desk))
        notice = between_people(notice_for("US"))
        self.settings = CollectSettings(**{"notice": notice, "messages": OFTEN, **settings})
        self.app = collect_site(self.desk, SECRET, self.settings, TOKEN, Limits(OFTEN, OFTEN)).app()

    def visitor(self, **options: Any) -> Visitor:
        return Visitor(self.app, **options)

    def person(self) -> Visitor:
        """Return a visitor who has given consent and sees the form of the prompt."""
        found = self.visitor()
        found.get("/")
        found.post("/consent", {"agree": "yes"})
        found.get("/rate")
        return found

    def waiting(self, situation: str = "A heron stood in my garden.") -> Visitor:
        """Return a visitor who has described a situation, and is waiting or already in a conversation."""
        found = self.person()
        describe(found, situation)
        return found

    def pair(self) -> tuple[Visitor, Visitor]:
        """Return two visitors in their first conversation; the first one is the Speaker."""
        first = self.waiting("A heron stood in my garden.")
        self.clock.now += 1
        second = self.waiting("I fell into the pond.")
        first.get("/talk")
        return first, second

    def admin(self) -> Visitor:
        found = self.visitor()
        found.get("/admin")
        found.post("/admin/login", {"admin_token": TOKEN})
        return found


def describe(visitor: Visitor, situation: str, place: int = 0) -> Page:
    """Choose one of the emotions, and describe a situation."""
    emotions = re.findall(r'name="q-emotion" id="[^"]*" value="([^"]+)"', visitor.page.text)
    return visitor.post("/prompt", prompt_form(visitor, emotions[place], situation))


def prompt_form(visitor: Visitor, emotion: str, situation: str) -> dict[str, str]:
    """Return the fields of the prompt's form on the visitor's page."""
    return {"prompt": visitor.page.hidden("prompt"), "q-emotion": emotion, "q-situation": situation}


def say(visitor: Visitor, text: str) -> Page:
    """Send the next message of the visitor's current conversation."""
    visitor.get("/talk")
    turn = re.search(r'name="turn" id="turn" value="(\d+)"', visitor.page.text)
    return visitor.post("/say", {"talk": visitor.page.hidden("talk"), "turn": turn[1] if turn else "", "text": text})


def talk(speaker: Visitor, listener: Visitor, turns: int = 4, end: bool = True) -> None:
    """Exchange messages, and end the conversation."""
    for turn in range(1, turns + 1):
        say(speaker if turn % 2 else listener, f"Message {turn}, well.")
    if end:
        speaker.get("/talk")
        speaker.post("/end", {"talk": speaker.page.hidden("talk")})


def judge(visitor: Visitor, **answers: str) -> Page:
    visitor.get("/talk")
    return visitor.post("/judge", {"talk": visitor.page.hidden("talk"), **JUDGED, **answers})


def meet(lab: Lab) -> tuple[Visitor, Visitor]:
    """Return two visitors who have had two conversations, and have judged both."""
    first, second = lab.pair()
    talk(first, second)
    judge(first)
    judge(second)
    talk(second, first)
    judge(first)
    judge(second)
    return first, second


def said(visitor: Visitor) -> list[str]:
    """Return the texts of the page's speech bubbles."""
    found = re.findall(
        r'<p class="words-said" dir="auto"><span class="hidden">[^<]*</span>(.*?)</p>', visitor.page.text
    )
    return [text.strip() for text in found]
