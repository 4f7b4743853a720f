"""The events that waiting pages receive, and when."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from collecting_lab import Lab, say
from web_visitor import Visitor

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.collecting import waiting
from parlai_empathy.rating.collecting.notifications import Bells
from parlai_empathy.rating.collecting.waiting import Listening
from parlai_empathy.rating.web import serving
from parlai_empathy.rating.web.events import REST

Make = Callable[..., Lab]


@pytest.fixture
def rater_of() -> Callable[[Lab, int], str]:
    return lambda site, number: site.desk.raters()[number].id


def key(told: str) -> str:
    return str(json.loads(told.partition("data: ")[2])["key"]).partition("-")[0]


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine in another thread: Playwright keeps an event loop in the tests' thread."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: asyncio.run(work())).result(60)


async def soon(events: AsyncIterator[str]) -> str:
    """Return the next event, ignoring the one that sets the browser's retry interval."""
    told = await asyncio.wait_for(anext(events), 20)
    return told if not told.startswith("retry:") else await soon(events)


def test_waiting_page_receives_each_change(lab: Make, rater_of: Callable[[Lab, int], str]) -> None:
    site = lab()
    first = site.waiting()
    rater, bells = rater_of(site, 0), Bells()
    lines = Listening(site.lobby, bells)
    second: list[Visitor] = []

    async def work() -> None:
        events = lines.events(rater, lambda place: str(len(place.talk.messages)) if place.talk else "")
        assert key(await soon(events)) == "WAITING"
        bells.ring(rater)
        assert await soon(events) == REST  # nothing has changed
        await asyncio.to_thread(lambda: second.append(site.waiting("I fell into the pond.")))
        bells.ring(rater)
        assert key(await soon(events)) == "TALK"
        await asyncio.to_thread(say, first, "Hello")
        bells.ring(rater)
        assert json.loads((await soon(events)).partition("data: ")[2])["live"] == "1"
        await asyncio.to_thread(site.lobby.leave, rater)
        bells.ring(rater)
        assert key(await soon(events)) == "BROKEN"
        with pytest.raises(StopAsyncIteration):  # the stream has ended: there is nothing to wait for
            await soon(events)
        assert bells.listeners(rater) == 0

    run(work)


def test_changes_by_other_processes_are_polled(
    lab: Make, rater_of: Callable[[Lab, int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_EVERY", 0.02)
    site = lab()
    site.waiting()
    rater = rater_of(site, 0)

    async def work() -> None:
        events = Listening(site.lobby, Bells()).events(rater, lambda place: "")
        assert key(await soon(events)) == "WAITING"
        assert await soon(events) == REST
        await asyncio.to_thread(site.waiting, "I fell into the pond.")
        while (told := await soon(events)) == REST:
            pass
        assert key(told) == "TALK"

    run(work)


def seen(site: Lab) -> float:
    """Return when the waiting person was last seen."""
    with site.store.reading() as t:
        return float(t.rows("SELECT seen FROM rating_seats")[0]["seen"])


def test_open_page_refreshes_last_seen_and_closed_page_backdates_it(
    lab: Make, rater_of: Callable[[Lab, int], str]
) -> None:
    site = lab()
    site.waiting()
    rater, bells = rater_of(site, 0), Bells()

    async def work() -> None:
        events = Listening(site.lobby, bells).events(rater, lambda place: "")
        await soon(events)
        site.clock.now += 19
        bells.ring(rater)
        await soon(events)
        assert seen(site) == site.clock.now
        await events.aclose()  # type: ignore[attr-defined]

    run(work)  # also waits for the thread that records the closing
    assert seen(site) == site.clock.now - 17


def test_page_closed_before_first_event_is_marked_absent(lab: Make, rater_of: Callable[[Lab, int], str]) -> None:
    site = lab()
    site.waiting()

    async def work() -> None:
        events = Listening(site.lobby, Bells()).events(rater_of(site, 0), lambda place: "")
        assert (await anext(events)).startswith("retry:")
        await events.aclose()  # type: ignore[attr-defined]

    run(work)
    assert seen(site) == site.clock.now - 17


def test_failing_store_is_logged_in_one_line_and_tried_again_later(
    lab: Make, rater_of: Callable[[Lab, int], str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    site = lab()
    site.waiting()
    rater = rater_of(site, 0)

    def fail(rater: str) -> Any:
        raise StoreError("the store is gone")

    monkeypatch.setattr(site.lobby, "place", fail)

    async def work() -> None:
        events = Listening(site.lobby, Bells()).events(rater, lambda place: "")
        assert [told async for told in events] == ["retry: 200\n\n", "retry: 5000\n\n"]

    run(work)
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [("the store is gone", None)]
    assert seen(site) == site.clock.now  # they have not left


def test_stream_timeout_does_not_mark_page_as_closed(
    lab: Make, rater_of: Callable[[Lab, int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_LONGEST", 0.05)
    monkeypatch.setattr(waiting, "_EVERY", 0.02)
    site = lab()
    site.waiting()

    async def work() -> None:
        told = [one async for one in Listening(site.lobby, Bells()).events(rater_of(site, 0), lambda place: "")]
        assert told[0] == "retry: 200\n\n"
        assert key(told[1]) == "WAITING"
        assert set(told[2:]) <= {REST}

    run(work)
    assert seen(site) == site.clock.now  # the page is still open


def test_server_stop_timeout_exceeds_longest_stream() -> None:
    assert serving._STOP_AFTER > waiting._LONGEST


def test_open_streams_per_rater_are_limited(lab: Make, rater_of: Callable[[Lab, int], str]) -> None:
    site = lab()
    site.waiting()
    rater, bells = rater_of(site, 0), Bells()
    lines = Listening(site.lobby, bells)

    async def work() -> None:
        with bells.heard(rater), bells.heard(rater), bells.heard(rater), bells.heard(rater), bells.heard(rater):
            assert not lines.has_enough(rater)
            with bells.heard(rater):
                assert lines.has_enough(rater)
                assert not lines.has_enough("somebody else")

    run(work)


def test_events_response_is_an_unbuffered_event_stream(lab: Make) -> None:
    page = lab().waiting().get("/events")
    assert page.header("content-type").startswith("text/event-stream")
    assert page.header("x-accel-buffering") == "no"  # proxies must not buffer events
