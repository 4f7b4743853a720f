"""Pages that wait: for somebody to talk with, or for the partner's message or judgement."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.collecting.notifications import Bells
from parlai_empathy.rating.collecting.place import Place, Stage
from parlai_empathy.rating.web.events import REST, event
from parlai_empathy.rating.web.threads import in_thread

_LOG = logging.getLogger(__name__)

_EVERY = 5.0
"""Seconds between two polls of the store, if no bell rings. Each poll marks somebody in the waiting room as present."""

_LONGEST = 8.0
"""Seconds after which a page has to reconnect: less than a stopping server waits for running requests."""

_AGAIN = "retry: 200\n\n"
"""Tells the browser to reconnect after 200 milliseconds."""

_LATER = "retry: 5000\n\n"
"""Tells it to reconnect after 5 seconds, when the store fails."""

_MOST_PAGES = 6
"""How many pages may listen in one person's name."""

_LIVE = (Stage.WAITING, Stage.TALK, Stage.PAUSE)


class Listening:
    """Sends changes to pages.

    :param lobby: looks up the current state.
    :param bells: say when to look.
    """

    def __init__(self, lobby: Lobby, bells: Bells) -> None:
        self._lobby = lobby
        self._bells = bells

    async def look(self, rater: str) -> Place:
        """Return somebody's place. If they are waiting, this marks them as present and may pair them with somebody."""
        place = await in_thread(self._lobby.place, rater)
        if place.stage is not Stage.WAITING:
            return place
        other = await in_thread(self._lobby.wait, rater, enter=False)
        if other is None:
            return place
        self._bells.ring(other)
        return await in_thread(self._lobby.place, rater)

    def has_enough(self, rater: str) -> bool:
        """Whether no more pages may listen in somebody's name."""
        return self._bells.listeners(rater) >= _MOST_PAGES

    async def events(self, rater: str, live: Callable[[Place], str]) -> AsyncIterator[str]:
        """Yield the events for a page: somebody's place, at first and whenever it changes.

        The events end when there is nothing left to wait for, or when the page has to reconnect: at once, or in a few
        seconds if the store fails.

        :param live: renders the part of the page that changes.
        """
        until, told, place, is_left = time.monotonic() + _LONGEST, None, None, True
        with self._bells.heard(rater) as bell:
            try:
                yield _AGAIN
                while (rest := until - time.monotonic()) > 0:
                    place = await self.look(rater)
                    now = {"key": place.key, "live": live(place)}
                    yield REST if now == told else event("place", now)
                    if place.stage not in _LIVE:
                        break
                    told = now
                    await bell.wait(min(_EVERY, rest))
                is_left = False
            except StoreError as error:
                is_left = False
                _LOG.error("%s", error)
                yield _LATER
            finally:
                # Before the first poll the place is unknown; after it, only somebody who waits has a seat to lose.
                may_wait = place is None or place.stage is Stage.WAITING
                if is_left and may_wait and self._bells.listeners(rater) == 1:
                    # The page was closed, so nothing can be awaited here any more.
                    asyncio.get_running_loop().run_in_executor(None, self._unseen, rater)

    def _unseen(self, rater: str) -> None:
        with suppress(StoreError):  # without further polls they soon count as away anyway
            self._lobby.unseen(rater)
