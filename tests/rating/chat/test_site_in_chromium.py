"""The chat page in a real browser: four people at once, marks, reloads, on a phone, and by keyboard."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from chromium_browser import accessibility_problems
from model_server import ModelServer, piece
from remembering_agent import StreamingAgent
from tiny_studies import LIKERT

from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.study.study import Study

Serve = Callable[..., Any]
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@contextmanager
def visiting(browser: Any, served: Any, size: Any = DESK, script: bool = True) -> Iterator[Any]:
    """Yield a page of a new visitor who has agreed; then check for script errors and requests to other hosts."""
    context = browser.new_context(viewport=size, base_url=served.url, java_script_enabled=script)
    page = context.new_page()
    page.set_default_timeout(15_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if request.url.startswith(served.url) else wrong.append(request.url))
    page.goto("/")
    page.check("#agree")
    page.click("button[type=submit]")
    page.wait_for_selector("#text")
    page.wait_for_load_state()
    yield page
    context.close()
    assert wrong == []


def say(page: Any, text: str) -> None:
    """Write a message and send it with Enter, which the page's script handles: so wait until it has loaded."""
    page.wait_for_load_state()
    page.fill("#text", text)
    page.press("#text", "Enter")


def said(page: Any, count: int) -> list[str]:
    """Wait until there are ``count`` messages and return them."""
    page.wait_for_selector(f"#turn-{count}")
    texts = page.locator(".words-said").all_inner_texts()
    return [text.partition(":")[2].strip() for text in texts]


def test_four_visitors_chat_at_once_in_separate_conversations(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat(emotions=lambda texts: [("hopeful", 0.5)] * len(texts))
    with (
        visiting(browser, served) as a,
        visiting(browser, served, PHONE) as b,
        visiting(browser, served) as c,
        visiting(browser, served, PHONE) as d,
    ):
        pages = {"ann": a, "bob": b, "cid": c, "dot": d}
        for turn in (1, 2):
            for name, page in pages.items():
                say(page, f"{name} {turn}")
            for name, page in pages.items():
                last = said(page, 2 * turn)[-1]
                assert name in last
                assert not any(other in last for other in pages if other != name)
                page.wait_for_selector("#typing", state="hidden")
        for name, page in pages.items():
            page.reload()
            assert said(page, 4) == [f"{name} 1", f"{name} 1", f"{name} 2", f"{name} 1 / ({name}) / {name} 2"]
            assert page.locator(".feeling").count() == 4
            assert accessibility_problems(page) == []


def test_message_lost_in_transit_can_be_resent(browser: Any, serve_chat: Serve) -> None:
    """First the request is lost, then the response."""
    served = serve_chat()
    context = browser.new_context(viewport=DESK, base_url=served.url)
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto("/")
    page.check("#agree")
    page.click("button[type=submit]")
    page.wait_for_selector("#text")
    ways = [lambda route: route.abort(), lambda route: (route.fetch(), route.abort())]
    page.route("**/say", lambda route: ways.pop(0)(route) if ways else route.continue_())
    say(page, "Hello")
    for left in (1, 0):
        page.wait_for_selector("#problem:has-text('Send it again: nothing is stored twice.')")
        page.wait_for_selector("#typing", state="hidden")
        assert (page.input_value("#text"), len(ways)) == ("Hello", left)
        page.click("#write button")
    assert said(page, 2) == ["Hello", "Hello"]
    context.close()


def test_partial_answer_is_shown_while_generated(browser: Any, serve_chat: Serve) -> None:
    class Slowly(StreamingAgent):
        def act_streaming(self, say: Any) -> dict[str, Any]:
            say("<b>Once")
            assert self.go_on.wait(20)
            return {"text": "<b>Once upon"}

    served = serve_chat(agent=Slowly())
    with visiting(browser, served) as page:
        colour = "getComputedStyle(document.querySelector('#write button')).backgroundColor"
        enabled = page.evaluate(colour)
        say(page, "A story")
        page.wait_for_selector("#part:not([hidden])")
        assert page.inner_text("#part") == "<b>Once"
        assert page.is_visible("#typing")
        assert page.is_disabled("button:has-text('Send')")
        assert page.evaluate(colour) != enabled
        assert accessibility_problems(page) == []
        served.agent.go_on.set()
        assert said(page, 2)[-1] == "<b>Once upon"
        page.wait_for_selector("#part", state="hidden")
        assert page.inner_text("#heard") or page.locator("#heard").text_content()


# --- a language model that streams, behind a real server ----------------------------------------------------------


def part(page: Any, text: str) -> None:
    """Wait until the answer is shown up to ``text``."""
    from playwright.sync_api import expect

    expect(page.locator("#part")).to_have_text(text, timeout=15_000)
    assert page.is_visible("#part")


@pytest.fixture
def go_on(model_server: ModelServer) -> Iterator[threading.Semaphore]:
    """Make the server wait for a release after each piece of an answer."""
    told = threading.Semaphore(0)
    model_server.pause = lambda: told.acquire(timeout=20)
    yield told
    told.release(100)


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_streamed_answer_grows_on_the_page(
    browser: Any, serve_chat: Serve, writing_agent: Any, go_on: threading.Semaphore, size: Any
) -> None:
    served = serve_chat(agent=writing_agent)
    with visiting(browser, served, size) as page:
        say(page, "<b>My dog is ill")
        for text in ("<b>My", "<b>My dog", "<b>My dog is"):
            part(page, text)
            assert page.is_visible("#typing")
            assert page.locator("#turn-2").count() == 0
            assert accessibility_problems(page) == []
            go_on.release()
        go_on.release(10)
        assert said(page, 2) == ["<b>My dog is ill"] * 2
        page.wait_for_selector("#part", state="hidden")
        page.wait_for_selector("#typing", state="hidden")
        say(page, "And old")
        assert said(page, 4)[-1] == "And old"


def test_growing_answer_is_followed_unless_somebody_has_scrolled_up(
    browser: Any, serve_chat: Serve, writing_agent: Any, go_on: threading.Semaphore
) -> None:
    words = [f"heron{number}" for number in range(100)]
    with visiting(browser, serve_chat(agent=writing_agent), PHONE) as page:
        say(page, " ".join(words))
        go_on.release(59)
        part(page, " ".join(words[:60]))
        below = "document.documentElement.scrollHeight - window.scrollY - window.innerHeight"
        assert page.evaluate(below) <= 1
        page.evaluate("window.scrollTo(0, 0)")
        go_on.release(20)
        part(page, " ".join(words[:80]))
        go_on.release(100)
        said(page, 2)
        page.wait_for_selector("#typing", state="hidden")
        assert page.evaluate("window.scrollY") == 0


def test_reloaded_page_shows_partial_answer(
    browser: Any, serve_chat: Serve, writing_agent: Any, model_server: ModelServer, go_on: threading.Semaphore
) -> None:
    with visiting(browser, serve_chat(agent=writing_agent)) as page:
        say(page, "My dog is ill")
        part(page, "My")
        go_on.release()
        page.reload()
        part(page, "My dog")
        go_on.release(10)
        assert said(page, 2)[-1] == "My dog is ill"
    assert len(model_server.requests) == 1


def test_help_lines_precede_streamed_answer(
    browser: Any, serve_chat: Serve, writing_agent: Any, model_server: ModelServer, go_on: threading.Semaphore
) -> None:
    begins = threading.Event()

    def later(handler: Any) -> None:
        assert begins.wait(20)
        handler.send_events(lambda send: model_server.stream(handler.asked, send))

    model_server.next(later)
    with visiting(browser, serve_chat(agent=writing_agent), PHONE) as page:
        say(page, "I want to die")
        page.wait_for_selector(".help-lines")
        assert page.is_hidden("#part")
        begins.set()
        part(page, "I")
        help_lines, answer = page.locator(".help-lines").bounding_box(), page.locator("#part").bounding_box()
        assert help_lines["y"] + help_lines["height"] <= answer["y"]
        go_on.release(10)
        said(page, 2)
        assert page.locator(".help-lines").count() == 1


def test_interrupted_answer_is_withdrawn_with_one_notice(
    browser: Any, serve_chat: Serve, writing_agent: Any, model_server: ModelServer
) -> None:
    breaks = threading.Event()

    def work(handler: Any, send: Callable[[Any], None]) -> None:
        send(piece("I am so"))
        assert breaks.wait(20)
        handler.connection.shutdown(2)

    model_server.next(lambda handler: handler.send_events(lambda send: work(handler, send), b""))
    with visiting(browser, serve_chat(agent=writing_agent)) as page:
        say(page, "My dog is ill")
        part(page, "I am so")
        breaks.set()
        page.wait_for_selector("#failed:not([hidden])")
        page.wait_for_selector("#typing", state="hidden")
        assert page.is_hidden("#part")
        assert page.is_hidden("#problem")
        assert "There is no answer yet. What you wrote is kept." in page.inner_text("#failed")
        assert "I am so" not in page.inner_text("main")
        assert accessibility_problems(page) == []
        page.click("#failed button")
        assert said(page, 2) == ["My dog is ill"] * 2
        page.reload()
        assert said(page, 2) == ["My dog is ill"] * 2


def said_after_reload(served: Any, page: Any) -> list[str]:
    """Write a message, reload the page while the model answers, and return both texts."""
    say(page, "SLOW")
    page.wait_for_selector("#turn-1")
    page.reload()
    page.wait_for_selector("#typing")
    served.agent.go_on.set()
    return said(page, 2)


def test_reload_while_model_answers(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served) as page:
        assert said_after_reload(served, page) == ["SLOW", "SLOW"]


def test_marks_and_comments_are_saved_without_reload(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served) as page:
        say(page, "Hello")
        said(page, 2)
        page.wait_for_selector("#typing", state="hidden")
        with page.expect_response("**/mark"):
            page.click("#turn-2 button[value=yes]")
        page.wait_for_selector("#turn-2 button[value=yes][aria-pressed=true]")
        with page.expect_response("**/mark"):
            page.click("#turn-2 button[value=no]")
        page.click("#turn-2 summary")
        page.fill("#turn-2 textarea", "It repeats me.")
        with page.expect_response("**/mark"):
            page.click("#turn-2 .words button")
        page.wait_for_selector("#turn-2 summary:has-text('Your comment')")
        page.reload()
        assert page.get_attribute("#turn-2 button[value=no]", "aria-pressed") == "true"
        assert page.input_value("#turn-2 textarea") == "It repeats me."
    rows = {row["question"]: row["text"] for row in rating_rows(served.desk.store, "free")}
    assert rows == {"good": "no", "comment": "It repeats me."}


@contextmanager
def answer_arriving(page: Any, served: Any) -> Iterator[None]:
    """Have a conversation of three messages; the answer to the third arrives when the block ends."""
    say(page, "Hello")
    said(page, 2)
    page.wait_for_selector("#typing", state="hidden")
    say(page, "SLOW")
    page.wait_for_selector("#turn-3")
    yield
    served.agent.go_on.set()
    said(page, 4)
    page.wait_for_selector("#typing", state="hidden")


def test_comment_can_be_written_while_an_answer_arrives(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served) as page:
        with answer_arriving(page, served):
            page.click("#turn-2 summary")
            page.click("#turn-2 textarea")
            page.keyboard.type("It repeats")
        page.keyboard.type(" me.")
        assert page.input_value("#turn-2 textarea") == "It repeats me."
        assert page.input_value("#text") == ""
        page.click("#turn-2 .words button")
        page.wait_for_selector("#turn-2 details:not([open])")
        page.click("#turn-4 summary")
        page.fill("#turn-4 textarea", "Again.")
        page.click("#turn-4 summary")
        say(page, "Hello?")
        said(page, 6)
        for turn, comment in ((2, "It repeats me."), (4, "Again.")):  # one is saved, the other is not
            assert page.locator(f"#turn-{turn} details:not([open])").count() == 1
            assert page.input_value(f"#turn-{turn} textarea") == comment


def test_keyboard_stays_at_the_mark_while_an_answer_arrives(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served) as page:
        with answer_arriving(page, served):
            page.focus("#turn-2 button[value=no]")
        with page.expect_response("**/mark"):
            page.keyboard.press("Enter")
        page.wait_for_selector("#turn-2 button[value=no][aria-pressed=true]:focus")


def test_help_lines_precede_pending_answer(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served, PHONE) as page:
        say(page, "SLOW I want to die")
        page.wait_for_selector(".help-lines")
        assert page.locator("#turn-2").count() == 0
        assert "988" in page.inner_text(".help-lines")
        assert "988" in page.locator("#heard").text_content()  # screen readers announce it, too
        served.agent.go_on.set()
        said(page, 2)
        help_lines, answer = page.locator(".help-lines").bounding_box(), page.locator("#turn-2").bounding_box()
        assert help_lines["y"] < answer["y"]
        assert accessibility_problems(page) == []


def test_failed_answer_can_be_retried(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served) as page:
        say(page, "FAIL")
        page.wait_for_selector("#failed:not([hidden])")
        served.agent.go_on.set()
        page.click("#failed button")
        assert said(page, 2) == ["FAIL", "FAIL"]


@pytest.mark.parametrize("most", [1, 2])
def test_conversation_of_maximum_length_can_be_judged(
    browser: Any, serve_chat: Serve, study_of: Callable[..., Study], most: int
) -> None:
    """With a maximum of one message, the answer to it still comes, also after a reload."""
    turns = {"least": 1, "most": most}
    study = study_of({**LIKERT, "kind": "chat"}, models={"M": "m"}, turns=turns, consent="You may stop at any time.")
    served = serve_chat(study=study)
    with visiting(browser, served) as page:
        assert said_after_reload(served, page) == ["SLOW", "SLOW"]
        page.wait_for_selector(".notice:has-text('has reached its maximum length')")
        assert page.is_hidden("#typing")
        assert page.locator("#text").count() == 0
        page.click("button:has-text('End and judge')")
        page.wait_for_selector("h1:has-text('How was this conversation?')")


def test_second_tab_shows_what_was_said_in_the_first(browser: Any, serve_chat: Serve) -> None:
    with visiting(browser, serve_chat()) as page:
        other = page.context.new_page()
        other.set_default_timeout(15_000)
        other.goto("/")
        say(page, "Hello")
        said(page, 2)
        say(other, "Hi")
        other.wait_for_selector("#problem:has-text('Read it, then write again.')")
        assert said(other, 2) == ["Hello", "Hello"]
        assert other.input_value("#text") == "Hi"
        other.press("#text", "Enter")
        assert said(other, 4)[2] == "Hi"
        assert other.is_hidden("#problem")


def test_second_tab_shows_what_became_of_the_answer(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served) as page:
        other = page.context.new_page()
        other.set_default_timeout(15_000)
        other.goto("/")
        say(page, "FAIL")
        page.wait_for_selector("#failed:not([hidden])")
        say(other, "Hi")
        other.wait_for_selector("#problem:has-text('Choose “Ask again” first.')")
        served.agent.go_on.set()
        other.click("#failed button")
        assert said(other, 2) == ["FAIL", "FAIL"]
        served.agent.go_on.clear()
        page.reload()
        say(page, "SLOW")
        page.wait_for_selector("#turn-3")
        other.press("#text", "Enter")
        other.wait_for_selector("#turn-3")
        other.wait_for_selector("#typing")
        served.agent.go_on.set()
        said(other, 4)
        assert other.input_value("#text") == "Hi"  # not sent yet


def test_new_conversation_starts_empty(browser: Any, serve_chat: Serve) -> None:
    with visiting(browser, serve_chat()) as page:
        say(page, "Hello")
        said(page, 2)
        page.click("button:has-text('New')")
        page.wait_for_selector(".opening")
        assert page.locator(".message").count() == 0


def test_chat_works_without_scripts(browser: Any, serve_chat: Serve) -> None:
    with visiting(browser, serve_chat(), PHONE, script=False) as page:
        page.fill("#text", "Hello")
        page.click("button:has-text('Send')")
        assert said(page, 2) == ["Hello", "Hello"]  # the page reloads itself
        page.click("#turn-2 button[value=yes]")
        page.wait_for_selector("#turn-2 button[value=yes][aria-pressed=true]")
        assert accessibility_problems(page) == []


def test_page_without_scripts_refreshes_until_answered(browser: Any, serve_chat: Serve) -> None:
    served = serve_chat()
    with visiting(browser, served, PHONE, script=False) as page:
        page.fill("#text", "SLOW")
        page.click("button:has-text('Send')")
        page.wait_for_url("**/?again#end")
        assert said(page, 1) == ["SLOW"]
        served.agent.go_on.set()
        assert said(page, 2) == ["SLOW", "SLOW"]


def test_chat_works_by_keyboard_alone(browser: Any, serve_chat: Serve) -> None:
    with visiting(browser, serve_chat()) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # the first link jumps to the message box
        page.keyboard.type("Hello")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("there")
        page.keyboard.press("Enter")
        assert said(page, 2)[0] == "Hello\nthere"
        page.wait_for_selector("#typing", state="hidden")
        page.wait_for_selector("#text:focus")  # ready for the next message
        for _ in range(4):
            page.keyboard.press("Shift+Tab")
        assert page.evaluate("document.activeElement.closest('.message, .top') !== null")  # a mark or the header


def test_message_box_covers_nothing_that_the_keyboard_reaches(browser: Any, serve_chat: Serve) -> None:
    with visiting(browser, serve_chat(), {"width": 360, "height": 600}) as page:
        for turn in (2, 4, 6, 8):
            say(page, f"I want to die, {turn}")
            said(page, turn)
            page.wait_for_selector("#typing", state="hidden")
        page.evaluate("window.scrollTo(0, 0)")
        page.focus("header button")
        for _ in range(4 * 4):  # of each turn: the link to the help line, two thumbs, the comment
            page.keyboard.press("Tab")
            covered = page.evaluate("""() => {
                const now = document.activeElement, box = now.getBoundingClientRect();
                return !now.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height - 4));
            }""")
            assert not covered


def test_empty_message_shows_a_hint(browser: Any, serve_chat: Serve) -> None:
    """The message box is marked, for eyes and for screen readers, until a message is sent."""
    from playwright.sync_api import expect

    with visiting(browser, serve_chat()) as page:
        page.press("#text", "Enter")
        assert page.inner_text("#problem") == "Write something first."
        box = page.get_by_role("textbox", name="Your message")
        expect(box).to_have_attribute("aria-invalid", "true")
        expect(box).to_have_accessible_description("Write something first.")
        say(page, "Hello")
        said(page, 1)
        expect(box).to_have_attribute("aria-invalid", "false")
        expect(box).to_have_accessible_description("")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_long_words_do_not_overflow(browser: Any, serve_chat: Serve, size: Any) -> None:
    with visiting(browser, serve_chat(), size) as page:
        say(page, "x" * 600)
        said(page, 2)
        assert accessibility_problems(page) == []


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_administrator_can_log_in_and_exclude_a_rater(browser: Any, serve_chat: Serve, size: Any) -> None:
    with visiting(browser, served := serve_chat(), size) as page:
        say(page, "I want to kill myself")
        said(page, 2)
        page.goto("/admin")
        page.get_by_label("The administrator's token").fill(served.token)
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("Messages that mention self-harm: 1.").wait_for()
        assert accessibility_problems(page) == []
        rater = served.desk.raters()[0].id
        page.get_by_label(f"Reason to exclude {rater}").fill("a test of ours")
        page.get_by_role("button", name=f"Exclude {rater}").click()
        page.get_by_text("Excluded: a test of ours").wait_for()
        assert accessibility_problems(page) == []
