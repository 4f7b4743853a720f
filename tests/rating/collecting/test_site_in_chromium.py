"""Two people in real browsers, on a desktop and a phone: they meet, talk twice and judge, or one of them leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chromium_browser import accessibility_problems

from parlai_empathy.rating.collecting.collection import finished

Serve = Callable[..., Any]
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@contextmanager
def visiting(browser: Any, url: str, size: Any = DESK, script: bool = True) -> Iterator[Any]:
    """Yield a page of a new visitor who has agreed; then check for script errors and requests to other hosts."""
    context = browser.new_context(viewport=size, base_url=url, java_script_enabled=script)
    page = context.new_page()
    page.set_default_timeout(15_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if request.url.startswith(url) else wrong.append(request.url))
    page.goto("/")
    page.check("#agree")
    page.click("button[type=submit]")
    page.click("text=Start")
    page.wait_for_selector("#q-situation")
    yield page
    context.close()
    assert wrong == []


def describe(page: Any, situation: str) -> None:
    page.click(".option >> nth=0")
    page.fill("#q-situation", situation)
    page.click("button[type=submit]")


def say(page: Any, text: str) -> None:
    """Write a message and send it with Enter, which the page's script handles: so wait until it has loaded."""
    page.wait_for_selector("#text:enabled")
    page.wait_for_load_state()
    page.fill("#text", text)
    page.press("#text", "Enter")


def talk(speaker: Any, listener: Any, turns: int = 4) -> None:
    for turn in range(1, turns + 1):
        say(speaker if turn % 2 else listener, f"Message {turn}")
        for page in (speaker, listener):
            page.wait_for_selector(f"#turn-{turn}" if turn < 8 else "text=How was conversation")


def judge(page: Any) -> None:
    page.wait_for_selector("form.questions")
    for question in page.locator("fieldset.question").all():
        question.locator(".option >> nth=3").click()
    page.click("button:has-text('Send')")


@pytest.mark.parametrize("sizes", [(DESK, PHONE), (PHONE, DESK)], ids=["desk-phone", "phone-desk"])
def test_two_people_meet_and_have_two_conversations(browser: Any, served: Serve, sizes: Any) -> None:
    lab, url = served()
    with visiting(browser, url, sizes[0]) as ann, visiting(browser, url, sizes[1]) as bob:
        assert accessibility_problems(ann) == []
        describe(ann, "A heron stood in my garden.")
        ann.wait_for_selector("text=You are in the waiting room")
        assert accessibility_problems(ann) == []
        describe(bob, "I fell into the pond.")
        ann.wait_for_selector("#text:enabled")  # without a manual reload
        assert ann.title().startswith("Your turn")
        bob.wait_for_selector("#text:disabled")
        assert "heron" not in bob.content()
        assert "heron" in ann.inner_text(".role")
        talk(ann, bob)
        ann.wait_for_selector("text=End this conversation")
        for page in (ann, bob):
            assert accessibility_problems(page) == []
        bob.click("text=End this conversation")
        for page in (ann, bob):
            page.wait_for_selector("text=How was conversation 1?")
            page.click("summary:has-text('Leave')")
            assert accessibility_problems(page) == []
        judge(ann)
        ann.wait_for_selector("text=One moment")
        assert accessibility_problems(ann) == []
        judge(bob)
        for page in (ann, bob):
            page.wait_for_selector("h1:has-text('Conversation 2 of 2')", state="attached")
        talk(bob, ann, turns=8)  # the last allowed message ends it
        assert bob.inner_text("blockquote") == "Message 8"
        for page in (ann, bob):
            judge(page)
            page.wait_for_selector("text=Thank you!")
            assert accessibility_problems(page) == []
    collection = lab.lobby.collection
    assert [len(one.messages) for one, _ in finished(collection.desk.store, collection.study)] == [4, 8]


def test_person_left_behind_can_meet_somebody_else(browser: Any, served: Serve) -> None:
    _, url = served()
    with (
        visiting(browser, url, PHONE) as ann,
        visiting(browser, url) as bob,
        visiting(browser, url) as cid,
    ):
        describe(ann, "A heron stood in my garden.")
        ann.wait_for_selector("text=You are in the waiting room")
        describe(bob, "I fell into the pond.")
        say(ann, "Hello")
        bob.wait_for_selector("#text:enabled")
        bob.click("summary:has-text('Leave')")
        assert accessibility_problems(bob) == []
        bob.click("text=Leave for good")
        ann.wait_for_selector("h1:has-text('The other person has left')")
        bob.wait_for_selector("h1:has-text('You have left this meeting')")
        assert accessibility_problems(ann) == []
        ann.click("text=Talk with somebody else")
        ann.wait_for_selector("text=A heron stood in my garden.")  # the same situation can be told again
        describe(cid, "I lost my keys.")
        ann.wait_for_selector("#text:enabled")


def test_draft_situation_survives_reload_but_not_its_conversation(browser: Any, served: Serve, tmp_path: Path) -> None:
    study = tmp_path / "own.yaml"
    study.write_text("extends: collect_ed\nquestions: []\n")
    lab, url = served(study=str(study))
    lobby, collection = lab.lobby, lab.lobby.collection
    with visiting(browser, url) as ann:
        ann.fill("#q-situation", "A heron stood")
        ann.reload()
        assert ann.input_value("#q-situation") == "A heron stood"
        describe(ann, "A heron stood in my garden.")
        ann.wait_for_selector("text=You are in the waiting room")
        lab.desk.enrol("bob", consented=True)
        offered = collection.offer("bob")
        collection.choose(offered.id, "bob", offered.offered[0], "I fell into the pond.")
        lobby.wait("bob")
        for _ in range(2):
            found = lobby.place("bob").talk
            for turn in range(1, 5):
                collection.say(found.id, found.speaker if turn % 2 else found.listener, turn, "Well.")
            collection.end(found.id, "bob")
        ann.goto("/talk")
        ann.click("text=Talk with somebody else")
        ann.wait_for_load_state()
        assert ann.input_value("#q-situation") == ""


def test_closed_tab_is_reported_to_the_waiting_room(browser: Any, served: Serve) -> None:
    lab, url = served()

    def seen() -> float:
        with lab.store.reading() as t:
            return float(t.rows("SELECT * FROM rating_seats")[0]["seen"])

    with visiting(browser, url) as bob:
        with visiting(browser, url) as ann:
            with ann.expect_response("**/events"):  # from here on the server knows that the tab is open
                describe(ann, "A heron stood in my garden.")
            ann.wait_for_selector("text=You are in the waiting room")
            before = seen()
        for _ in range(100):
            if seen() < before:  # the closing tab has told the server
                break
            bob.wait_for_timeout(50)
        assert seen() < before


def test_help_lines_are_shown_to_both_people(browser: Any, served: Serve) -> None:
    _, url = served()
    with visiting(browser, url, PHONE) as ann, visiting(browser, url) as bob:
        describe(ann, "A heron stood in my garden.")
        ann.wait_for_selector("text=You are in the waiting room")
        describe(bob, "I fell into the pond.")
        say(ann, "I want to die")
        for page in (ann, bob):
            page.wait_for_selector(".help-lines")
            assert "988" in page.inner_text(".help-lines")
            assert "988" in page.locator("#heard").text_content()  # screen readers announce it, too
            assert accessibility_problems(page) == []


def test_conversation_works_without_scripts(browser: Any, served: Serve) -> None:
    _, url = served(reload=1)
    with visiting(browser, url, PHONE, script=False) as ann, visiting(browser, url, script=False) as bob:
        describe(ann, "A heron stood in my garden.")
        describe(bob, "I fell into the pond.")
        ann.wait_for_selector("#text:enabled")  # the page reloads itself
        ann.fill("#text", "Hello")
        ann.click("button:has-text('Send')")
        bob.wait_for_selector("#turn-1")
        bob.fill("#text", "Hello yourself")
        bob.click("button:has-text('Send')")
        ann.wait_for_selector("#turn-2")
        assert accessibility_problems(ann) == []


def test_page_updates_do_not_disturb_typing_or_reading(browser: Any, served: Serve) -> None:
    from playwright.sync_api import expect

    _, url = served()
    with visiting(browser, url) as ann, visiting(browser, url) as bob:
        describe(ann, "A heron stood in my garden.")
        ann.wait_for_selector("text=You are in the waiting room")
        describe(bob, "I fell into the pond.")
        ann.wait_for_selector("#text:enabled")
        ann.press("#text", "Enter")
        assert ann.inner_text("#problem") == "Write something first."
        assert ann.get_attribute("#text", "aria-invalid") == "true"
        expect(ann.locator("#text")).to_have_accessible_description("Write something first.")
        say(ann, "Hello")
        bob.wait_for_selector("#text:focus")  # ready to type
        bob.keyboard.type("x" * 300)
        ann.set_viewport_size({"width": 360, "height": 400})
        ann.evaluate("window.scrollTo(0, 0)")
        bob.keyboard.press("Enter")
        ann.wait_for_selector("#turn-2")
        assert ann.evaluate("window.scrollY") == 0  # she is reading
        expect(bob.locator("#text")).to_have_value("", timeout=15_000)  # once the response has arrived
        assert accessibility_problems(ann) == []
