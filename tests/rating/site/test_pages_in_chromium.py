"""The rating site in a real browser: whole studies, the keyboard, reloads, tabs, restarts and accessibility."""

from __future__ import annotations

import csv
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chromium_browser import accessibility_problems
from rating_site_server import TOKEN, SiteServer

from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.storage.store import open_store

Make = Callable[..., Path]
Serve = Callable[..., SiteServer]
DESK, PHONE = (1280, 900), (360, 740)


@pytest.fixture
def serve(make_study: Make, tmp_path: Path) -> Iterator[Serve]:
    """Serves a study: ``serve("ed", systems="ABC")``."""
    servers: list[SiteServer] = []

    def start(base: str, **keys: Any) -> SiteServer:
        servers.append(SiteServer(make_study(base, **keys), tmp_path / "ratings.db"))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """The ratings in the store."""

    def read() -> list[dict[str, Any]]:
        store = open_store(str(tmp_path / "ratings.db"))
        try:
            return list(rating_rows(store, "herons"))
        finally:
            store.close()

    return read


@contextmanager
def visiting(browser: Any, server: SiteServer, size: tuple[int, int] = DESK, script: bool = True) -> Iterator[Any]:
    """Yield a page of a new browser; then check for script errors, dialogs and requests to other hosts."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, base_url=server.url, java_script_enabled=script
    )
    page = context.new_page()
    page.set_default_timeout(15_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
    page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("request", lambda sent: None if sent.url.startswith(server.url) else wrong.append(sent.url))
    try:
        yield page
    finally:
        context.close()
    assert wrong == []


def begin(page: Any) -> None:
    page.goto("/")
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("link", name="Start").click()
    page.wait_for_selector("form.questions")


def choose(page: Any, place: int = -1, text: str = "I like them.") -> None:
    """Answer each question of a page with the choice at index ``place``, or with the text."""
    for question in page.locator(".question").all():
        if question.locator("textarea").count():
            question.locator("textarea").fill(text)
        else:
            question.locator("input[type=radio]").nth(place).check()


def send(page: Any, name: str = "Next") -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def progress(page: Any) -> str:
    return str(page.locator("label[for=progress]").inner_text())


def test_ed_study_is_completed_by_five_raters(browser: Any, serve: Serve, stored: Any) -> None:
    server = serve("ed", systems="ABC", items=20, ratings_per_item=2, ratings_per_system=12, completion={"code": "C7"})
    for number in range(5):
        with visiting(browser, server, PHONE if number % 2 else DESK) as page:
            begin(page)
            for item in range(10):
                assert progress(page) == f"{item + 1} of 10"
                if item < 2:
                    assert accessibility_problems(page) == []
                page.locator("input[type=radio]").first.focus()
                for _ in range(3):
                    page.keyboard.press(str((number + item) % 5 + 1))
                with page.expect_navigation():
                    page.keyboard.press("Enter")
            assert "C7" in page.locator("main").inner_text()
            assert accessibility_problems(page) == []
    rows = stored()
    # Five raters, ten items, three questions; each rater meets each of the four systems two or three times.
    assert Counter(row["rater"] for row in rows) == dict.fromkeys({row["rater"] for row in rows}, 30)
    assert len(rows) == 150
    per_rater = Counter((row["rater"], row["system"]) for row in rows if row["question"] == "empathy")
    assert set(per_rater.values()) == {2, 3}
    # Rater n chose point (n + item) % 5 + 1: over ten items, each point twice.
    assert Counter(row["rating"] for row in rows) == dict.fromkeys(range(1, 6), 30)


def test_pairwise_study_on_desktop_and_phone(browser: Any, serve: Serve, stored: Any) -> None:
    server = serve("empgpt3_ab", items_per_rater=4)
    for size in (DESK, PHONE):
        with visiting(browser, server, size) as page:
            begin(page)
            for _ in range(4):
                assert accessibility_problems(page) == []
                left, right = (page.get_by_role("heading", name=f"Reply {place}").bounding_box() for place in (1, 2))
                assert (left["y"] == right["y"]) == (size == DESK)
                assert (left["x"] == right["x"]) == (size == PHONE)
                choose(page, place=0)
                send(page)
    rows = stored()
    # Everybody chose left, and the sides are balanced: A as often as B, for each of three questions.
    assert Counter(row["rating"] for row in rows) == {1: 12, -1: 12}
    assert {(row["side"], row["rating"]) for row in rows} == {("left", 1), ("right", -1)}


def test_humod_study_with_free_text_and_input_errors(browser: Any, serve: Serve, stored: Any) -> None:
    server = serve("humod", items_per_rater=2)
    with visiting(browser, server, PHONE) as page:
        begin(page)
        assert accessibility_problems(page) == []
        page.locator("details.help summary").click()
        assert "We were held up by the storm." in page.locator("details.help").inner_text()
        assert accessibility_problems(page) == []
        area = page.get_by_label("What would you say here?")
        area.fill("  🐦🐦 ")
        assert page.locator(".count").inner_text() == "2 of at most 500 characters"
        send(page)
        summary = page.get_by_role("alert")
        assert summary.evaluate("(one) => one === document.activeElement")
        assert page.title().startswith("Error: 1 of 2")
        assert accessibility_problems(page) == []
        page.get_by_role("link", name="What would you say here?").click()
        assert page.get_by_label("What would you say here?").evaluate("(one) => one === document.activeElement")
        choose(page, text="<b>Oh</b>,\nhow 'nice'!")
        send(page)
        choose(page, text="Second.")
        send(page)
        assert "Thank you" in page.locator("main").inner_text()
    assert [row["text"] for row in stored() if row["text"]] == ["<b>Oh</b>,\nhow 'nice'!", "Second."]


def test_study_works_without_javascript(browser: Any, serve: Serve, stored: Any) -> None:
    with visiting(browser, serve("humod", items_per_rater=1), script=False) as page:
        begin(page)
        choose(page)
        send(page)
        assert "Thank you" in page.locator("main").inner_text()
    assert len(stored()) == 2


@pytest.mark.parametrize("script", [True, False])
def test_hint_about_number_keys_is_shown_only_where_they_work(browser: Any, serve: Serve, script: bool) -> None:
    with visiting(browser, serve("humod"), script=script) as page:
        begin(page)
        page.goto("/instructions")
        assert page.get_by_text("a number key answers one").is_visible() == script


def test_item_can_be_rated_by_keyboard_alone(browser: Any, serve: Serve, stored: Any) -> None:
    with visiting(browser, serve("ed", systems="AB", gold=False, ratings_per_system=6)) as page:
        begin(page)
        keys = page.keyboard
        keys.press("4")  # nothing has the focus: the page ignores keys
        assert page.locator("input:checked").count() == 0
        keys.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Go to the questions"
        keys.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement.closest('label')).outlineWidth")
        assert outline == "3px"
        keys.press("4")
        keys.press("2")
        keys.press("ArrowRight")  # native radio buttons: from the first to the second
        keys.press("5")
        assert page.evaluate("document.activeElement.textContent.trim()") == "Next"
        with page.expect_navigation():
            keys.press("Enter")
        assert progress(page) == "2 of 10"
        keys.press("Tab")
        keys.press("Enter")  # the skip link
        assert page.evaluate("document.activeElement.name") == "q-empathy"
    ratings = {row["question"]: row["rating"] for row in stored()}
    assert ratings == {"empathy": 4, "relevance": 2, "fluency": 5}


def test_reload_keeps_item_and_draft_answers(browser: Any, serve: Serve) -> None:
    with visiting(browser, serve("humod")) as page:
        begin(page)
        shown = page.locator(".material").inner_text()
        choose(page, place=2, text="Half a thou")
        page.reload()
        assert page.locator(".material").inner_text() == shown
        assert page.get_by_label("What would you say here?").input_value() == "Half a thou"
        assert page.locator("input:checked").get_attribute("value") == "3"
        send(page)
        assert page.get_by_label("What would you say here?").input_value() == ""
        assert page.evaluate("Object.keys(sessionStorage).length") == 0


def test_draft_answers_survive_a_look_at_the_item_before(browser: Any, serve: Serve) -> None:
    with visiting(browser, serve("humod")) as page:
        begin(page)
        choose(page, text="The first.")
        send(page)
        choose(page, place=2, text="Half a thou")
        page.get_by_role("link", name="Back").click()
        assert page.get_by_label("What would you say here?").input_value() == "The first."
        page.goto("/rate")
        assert page.get_by_label("What would you say here?").input_value() == "Half a thou"
        assert page.locator("input:checked").get_attribute("value") == "3"


def test_second_tab_asks_before_overwriting_answers(browser: Any, serve: Serve, stored: Any) -> None:
    with visiting(browser, serve("humod")) as page:
        begin(page)
        other = page.context.new_page()
        other.goto("/rate")
        assert other.url == page.url
        choose(page, text="From the first tab.")
        send(page)
        choose(other, text="From the second tab.")
        send(other)
        assert "You have answered this one before" in other.locator("main").inner_text()
        assert [row["text"] for row in stored() if row["text"]] == ["From the first tab."]
        send(other, "Save")
        assert other.url == page.url  # both tabs show the second item
    assert [row["text"] for row in stored() if row["text"]] == ["From the second tab."]


def test_answers_can_be_changed_with_browser_back_button(browser: Any, serve: Serve, stored: Any) -> None:
    with visiting(browser, serve("humod")) as page:
        begin(page)
        choose(page, place=0, text="Before.")
        send(page)
        second = page.url
        page.go_back()
        choose(page, place=4, text="After.")
        with page.expect_navigation():
            page.locator("form.questions button[type=submit]").click()
        if "before, and those answers are kept" in page.locator("main").inner_text():  # from the cache
            send(page, "Save")
        assert page.url == second
    assert {row["text"] or row["rating"] for row in stored()} == {5, "After."}


def test_answers_can_be_changed_with_back_link(browser: Any, serve: Serve, stored: Any) -> None:
    with visiting(browser, serve("humod")) as page:
        begin(page)
        choose(page, text="Before.")
        send(page)
        page.get_by_role("link", name="Back").click()
        assert progress(page) == "1 of 12"
        assert page.get_by_label("What would you say here?").input_value() == "Before."
        assert accessibility_problems(page) == []
        choose(page, text="After.")
        send(page, "Save")
        assert progress(page) == "2 of 12"
    assert [row["text"] for row in stored() if row["text"]] == ["After."]


def test_number_keys_move_to_the_chosen_answer_of_the_next_question(browser: Any, serve: Serve) -> None:
    with visiting(browser, serve("ed", systems="AB", gold=False, ratings_per_system=6)) as page:
        begin(page)
        page.get_by_role("radio").first.focus()
        for key in ("4", "3", "5", "Enter"):
            page.keyboard.press(key)
        page.get_by_role("link", name="Back").click()
        page.get_by_role("radio").first.focus()
        page.keyboard.press("2")
        assert page.evaluate("[document.activeElement.name, document.activeElement.value]") == ["q-relevance", "3"]


def test_double_click_on_next_stores_answers_once(browser: Any, serve: Serve, stored: Any) -> None:
    with visiting(browser, serve("humod")) as page:
        begin(page)
        choose(page)
        page.get_by_role("button", name="Next").dblclick()
        end = time.monotonic() + 30
        while not stored() and time.monotonic() < end:
            time.sleep(0.1)
        # In another tab, because the first one's two submissions may still be in flight.
        other = page.context.new_page()
        other.goto("/rate")
        assert progress(other) == "2 of 12"
    assert len(stored()) == 2


def test_draft_answers_survive_a_killed_server(browser: Any, serve: Serve, stored: Any) -> None:
    server = serve("humod")
    with visiting(browser, server) as page:
        begin(page)
        choose(page, text="Before it.")
        send(page)
        choose(page, text="After it.")
        server.kill()
        page.get_by_role("button", name="Next").click()
        page.wait_for_url("chrome-error://**")
        server.start()
        page.goto("/rate")
        assert page.get_by_label("What would you say here?").input_value() == "After it."
        send(page)
        assert progress(page) == "3 of 12"
    assert [row["text"] for row in stored() if row["text"]] == ["Before it.", "After it."]


def test_unavailable_item_and_error_pages_are_accessible(browser: Any, serve: Serve, tmp_path: Path) -> None:
    """No free item, an item that was given to somebody else, a study that is full, an address that does not exist."""
    server = serve("humod", systems="A", items=1, ratings_per_item=1)
    with visiting(browser, server, PHONE) as ann, visiting(browser, server, PHONE) as bob:
        begin(ann)
        bob.goto("/")
        bob.get_by_label("I have read this").check()
        bob.get_by_role("button", name="Begin").click()
        bob.get_by_role("link", name="Start").click()
        assert "Nothing to do at the moment" in bob.locator("h1").inner_text()
        assert accessibility_problems(bob) == []
        with sqlite3.connect(tmp_path / "ratings.db") as database:
            database.execute("UPDATE rating_assignments SET deadline = 0")
        database.close()
        bob.get_by_role("link", name="Try again").click()
        bob.wait_for_selector("form.questions")
        choose(ann)
        send(ann)
        assert "This one is no longer open" in ann.locator("h1").inner_text()
        assert accessibility_problems(ann) == []
        choose(bob)
        send(bob)
        ann.get_by_role("link", name="Go to the beginning").click()
        assert "This study is full" in ann.locator("h1").inner_text()
        ann.goto("/nowhere")
        assert "There is no such page" in ann.locator("h1").inner_text()
        assert accessibility_problems(ann) == []


def test_admin_workflow_from_login_to_logout(browser: Any, serve: Serve, tmp_path: Path) -> None:
    server = serve("ed", systems="ABC", ratings_per_system=5)
    with visiting(browser, server) as ann:
        begin(ann)
        choose(ann)
        send(ann)
        with visiting(browser, server, PHONE) as boss:
            boss.goto("/admin")
            assert accessibility_problems(boss) == []
            boss.get_by_label("The administrator's token").fill("a wrong token")
            boss.get_by_role("button", name="Log in").click()
            assert "This is not the right token." in boss.locator("main").inner_text()
            assert accessibility_problems(boss) == []
            boss.get_by_label("The administrator's token").fill(TOKEN)
            boss.get_by_role("button", name="Log in").click()
            boss.wait_for_selector("h1:has-text('Administration')")
            assert "1 of 10" in boss.locator(".cards").inner_text()
            assert accessibility_problems(boss) == []
            with boss.expect_download() as download:
                boss.get_by_role("link", name="CSV", exact=True).click()
            with Path(download.value.path()).open(newline="") as file:
                assert [row["rating"] for row in csv.DictReader(file)] == ["5", "5", "5"]
            boss.get_by_label("Reason to exclude").fill("all the same")
            boss.get_by_role("button", name="Exclude").click()
            assert "Excluded: all the same" in boss.locator(".cards").inner_text()
            ann.goto("/rate")
            assert "You cannot continue here" in ann.locator("h1").inner_text()
            assert accessibility_problems(ann) == []
            boss.get_by_role("button", name="Include").click()
            boss.wait_for_selector("text=0 excluded")
            ann.goto("/rate")
            assert progress(ann) == "2 of 10"
            boss.get_by_role("button", name="Log out").click()
            boss.wait_for_selector("h1:has-text('Log in')")


@pytest.mark.parametrize("study", ["ed", "empgpt3_ab", "empgpt3_likert", "humod", "endex", "acute"])
def test_every_study_is_accessible_on_a_phone(browser: Any, serve: Serve, study: str) -> None:
    with visiting(browser, serve(study, ratings_per_system="any", ratings_per_item=3), PHONE) as page:
        page.goto("/")
        assert accessibility_problems(page) == []
        page.get_by_role("button", name="Begin").click()
        assert "Something is missing" in page.get_by_role("alert").inner_text()
        assert accessibility_problems(page) == []
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("link", name="Start").wait_for()
        assert accessibility_problems(page) == []
        page.goto("/rate")
        page.locator("details.help summary").click()
        assert accessibility_problems(page) == []


def test_accessibility_check_finds_known_problems(browser: Any) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 700})
    page.set_content(
        "<h1>One</h1><h3>Three</h3><input name=a><p style='color: #999; background: #fff'>pale</p><a href='#no'>x</a>"
        "<fieldset><input type=radio id=b></fieldset><button></button><div style='width: 500px'>wide</div><i id=b></i>"
        "<p aria-describedby=none>y</p>"
    )
    found = "\n".join(accessibility_problems(page))
    page.close()
    for problem in (
        *(
            "no language",
            "no title",
            "not one main",
            "h3 after h1",
            "no label",
            "no legend",
            "no name",
            "leads nowhere",
        ),
        *("twice: b", "of nothing", "pixels too wide", "contrast 2.85"),  # WebAIM's checker has 2.84 or 2.85 for #999
    ):
        assert problem in found
