"""Pages that wait for something: for somebody to talk with, for the other one's message or judgement."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.chat.events import REST, event
from parlai_empathy.rating.collecting.bells import Bells
from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.collecting.place import Place, Stage
from parlai_empathy.rating.web.threads import in_thread

_EVERY = 5.0
"""Seconds between two looks at the store, if no bell rings; who waits gives a sign of life with each of them."""

_LONGEST = 8.0
"""Seconds after which a page is to ask anew: no longer than a server that is stopped waits for what is under way."""

_AGAIN = "retry: 200\n\n"
"""Tells the browser to ask anew at once, in milliseconds."""

_MOST_PAGES = 6
"""How many pages may listen in one name."""

_LIVE = (Stage.WAITING, Stage.TALK, Stage.PAUSE)


class Listening:
    """Tells pages what changes.

    :param lobby: where it is looked up.
    :param bells: which say when.
    """

    def __init__(self, lobby: Lobby, bells: Bells) -> None:
        self._lobby = lobby
        self._bells = bells

    async def look(self, rater: str) -> Place:
        """Where somebody stands. Who waits is seen to wait, and may meet somebody."""
        place = await in_thread(self._lobby.place, rater)
        if place.stage is not Stage.WAITING:
            return place
        other = await in_thread(self._lobby.wait, rater, enter=False)
        if other is None:
            return place
        self._bells.ring(other)
        return await in_thread(self._lobby.place, rater)

    def has_enough(self, rater: str) -> bool:
        """Whether as many pages listen in somebody's name as may."""
        return self._bells.listeners(rater) >= _MOST_PAGES

    async def events(self, rater: str, live: Callable[[Place], str]) -> AsyncIterator[str]:
        """What a page is told: where somebody stands, at first and whenever it changes.

        It ends where nothing is waited for any more.

        :param live: the part of the page that changes.
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
            finally:
                # Where somebody stood before the first look nobody knows; who does not wait, has no seat to lose.
                may_wait = place is None or place.stage is Stage.WAITING
                if is_left and may_wait and self._bells.listeners(rater) == 1:
                    # The page was closed. Nothing can be awaited here any more.
                    asyncio.get_running_loop().run_in_executor(None, self._unseen, rater)

    def _unseen(self, rater: str) -> None:
        with suppress(StoreError):  # it will show soon enough, when nobody gives a sign
            self._lobby.unseen(rater)
