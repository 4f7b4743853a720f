"""Replies in progress: models reply in threads, and pages follow the reply so far."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import parlai.utils.logging as logging

from parlai_empathy.errors import EmpathyError
from parlai_empathy.rating.chat.partner import Partner
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.study.study import RATER
from parlai_empathy.rating.web.error_pages import Refusal

Emotions = Callable[[Sequence[str]], Sequence[tuple[str, float]]]
"""Returns the most probable emotion of each text, with its probability."""

_REMEMBERED = 10_000
"""How many conversations are remembered as having a failed reply."""


class Reply:
    """A reply in progress. It belongs to the event loop; the thread that generates the reply changes it there."""

    def __init__(self) -> None:
        self.text = ""
        self.is_done = False
        self.has_failed = False
        self._changed = asyncio.Event()

    def change(self, text: str | None = None, is_done: bool = False, has_failed: bool = False) -> None:
        """Set the current state and notify the followers."""
        self.text = self.text if text is None else text
        self.is_done, self.has_failed = is_done, has_failed
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def follow(self, every: float = 15.0) -> AsyncIterator[str]:
        """Yield the reply so far, whenever it changes, until it is done.

        :param every: seconds after which it is yielded again even if nothing has changed.
        """
        while not self.is_done:
            changed = self._changed
            yield self.text
            try:
                await asyncio.wait_for(changed.wait(), every)
            except (asyncio.TimeoutError, TimeoutError):
                continue


class Replies:
    """Lets models reply.

    :param desk: reads and stores messages.
    :param partners: by the models' names in the study.
    :param emotions: classifies emotions; None for no emotions.
    :param workers: number of replies generated at the same time: one for a model on this machine, more for models
        behind a server.
    :param most: maximum number of replies in progress, including waiting ones.
    """

    def __init__(
        self,
        desk: Desk,
        partners: Mapping[str, Partner],
        emotions: Emotions | None = None,
        workers: int = 1,
        most: int = 500,
    ) -> None:
        self._desk = desk
        self._partners = partners
        self._emotions = emotions
        self._limit = most
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="reply")
        self._under_way: dict[str, Reply] = {}
        self._failed: OrderedDict[str, None] = OrderedDict()  # ids of conversations, latest failure last

    def start(self, found: Assignment) -> Reply:
        """Start a reply to the last message of a conversation, unless one is in progress. Call this in the event loop.

        :raises Refusal: if too many replies are in progress.
        """
        if found.id in self._under_way:
            return self._under_way[found.id]
        if len(self._under_way) >= self._limit:
            raise Refusal(503, "Too many people are talking", "Wait a minute, then load the page again.")
        self._failed.pop(found.id, None)
        reply = self._under_way[found.id] = Reply()
        self._pool.submit(self._work, asyncio.get_running_loop(), reply, found)
        return reply

    def is_under_way(self, id: str) -> bool:
        """Whether a reply in a conversation is in progress."""
        return id in self._under_way

    def has_failed(self, id: str) -> bool:
        """Whether the last reply in a conversation failed; it is then retried only on request."""
        return id in self._failed

    def close(self) -> None:
        """Stop, and close the partners. Replies that have not started are generated when their page is opened again."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for partner in set(self._partners.values()):
            partner.close()

    def _work(self, loop: asyncio.AbstractEventLoop, reply: Reply, found: Assignment) -> None:
        has_failed = False
        try:
            self._answer(found, lambda text: _tell(loop, reply.change, text))
        except Exception as error:
            has_failed = True
            # Log the message of our own errors only: others may quote what somebody has written.
            what = str(error) if isinstance(error, EmpathyError) else type(error).__name__
            logging.error("conversation %s: no reply: %s", found.id[:8], what)
            logging.debug("the reply failed", exc_info=error)
        _tell(loop, self._finish, found.id, reply, has_failed)

    def _finish(self, id: str, reply: Reply, has_failed: bool) -> None:
        self._under_way.pop(id, None)
        if has_failed:
            self._failed[id] = None
            if len(self._failed) > _REMEMBERED:
                self._failed.popitem(last=False)  # retried when its page is opened again
        reply.change(is_done=True, has_failed=has_failed)

    def _answer(self, found: Assignment, say: Callable[[str], None]) -> None:
        said = self._desk.messages(found.id, found.rater)
        if not said or said[-1].speaker != RATER:
            return  # it was answered in the meantime
        partner = self._partners[found.item.system]
        text = partner.reply(found.id, said, say)
        details = self._recognised(said[-1].text, text)
        outcome = self._desk.say(found.id, found.rater, said[-1].turn + 1, found.item.system, text, details)
        if not outcome.is_kept:  # another server of the same store was faster
            partner.forget(found.id)

    def _recognised(self, message: str, reply: str) -> dict[str, object]:
        """Return both emotions, to be stored with the reply: messages are stored before they are classified."""
        if self._emotions is None:
            return {}
        try:
            heard, own = self._emotions([message, reply or message])
        except Exception as error:  # keep the reply, even without emotions
            logging.error("emotions cannot be recognised (%s)", type(error).__name__)
            return {}
        return {"emotion_before": list(heard), **({"emotion": list(own)} if reply else {})}


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[..., None], *arguments: object) -> None:
    try:
        loop.call_soon_threadsafe(what, *arguments)
    except RuntimeError:  # the loop has stopped: nobody follows the reply any more
        logging.debug("a reply came after the server had stopped")
