"""Replies under way: models answer in threads, and pages follow what there is of an answer."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import parlai.utils.logging as logging

from parlai_empathy.errors import EmpathyError
from parlai_empathy.rating.chat.partner import Partner
from parlai_empathy.rating.desk import Desk
from parlai_empathy.rating.handed import Assignment
from parlai_empathy.rating.web.refusals import Refusal
from parlai_empathy.rating.worlds.chat import RATER

Emotions = Callable[[Sequence[str]], Sequence[tuple[str, float]]]
"""The most probable emotion of each text, and how probable it is."""

_REMEMBERED = 10_000
"""How many conversations are remembered whose last answer has failed."""


class Reply:
    """A reply on its way. It belongs to the event loop; the thread that makes it tells the loop."""

    def __init__(self) -> None:
        self.text = ""
        self.is_done = False
        self.has_failed = False
        self._changed = asyncio.Event()

    def change(self, text: str | None = None, is_done: bool = False, has_failed: bool = False) -> None:
        """Note what there is now, and tell those who follow."""
        self.text = self.text if text is None else text
        self.is_done, self.has_failed = is_done, has_failed
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def follow(self, every: float = 15.0) -> AsyncIterator[str]:
        """What there is so far, again and again until the reply is done.

        :param every: seconds after which it is said again even if nothing has changed.
        """
        while not self.is_done:
            changed = self._changed
            yield self.text
            try:
                await asyncio.wait_for(changed.wait(), every)
            except (asyncio.TimeoutError, TimeoutError):
                continue


class Replies:
    """Lets models answer.

    :param desk: where messages are read and written.
    :param partners: by the study's names for the models.
    :param emotions: recognises emotions; None for none.
    :param workers: how many replies are made at the same time: one for a model on this machine, more for models behind
        a server.
    :param most: how many may wait at the same time.
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
        self._most = most
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="reply")
        self._under_way: dict[str, Reply] = {}
        self._failed: OrderedDict[str, None] = OrderedDict()  # conversations, who failed last at the end

    def start(self, found: Assignment) -> Reply:
        """Let the last message of a conversation be answered, unless that is under way. To be called in the loop.

        :raises Refusal: if too many are waiting.
        """
        if found.id in self._under_way:
            return self._under_way[found.id]
        if len(self._under_way) >= self._most:
            raise Refusal(503, "Too many people are talking", "Wait a minute, then load the page again.")
        self._failed.pop(found.id, None)
        reply = self._under_way[found.id] = Reply()
        self._pool.submit(self._work, asyncio.get_running_loop(), reply, found)
        return reply

    def is_under_way(self, id: str) -> bool:
        """Whether a conversation is being answered."""
        return id in self._under_way

    def has_failed(self, id: str) -> bool:
        """Whether the last attempt to answer a conversation has failed: it is not to be made again unasked."""
        return id in self._failed

    def close(self) -> None:
        """Stop. What is not answered yet is answered when its page is looked at again."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, loop: asyncio.AbstractEventLoop, reply: Reply, found: Assignment) -> None:
        has_failed = False
        try:
            self._answer(found, lambda text: _tell(loop, reply.change, text))
        except Exception as error:
            has_failed = True
            # Never the error's own words, unless they are ours: they may repeat what somebody has written.
            what = str(error) if isinstance(error, EmpathyError) else type(error).__name__
            logging.error("conversation %s: no reply: %s", found.id[:8], what)
            logging.debug("the reply failed", exc_info=error)
        _tell(loop, self._finish, found.id, reply, has_failed)

    def _finish(self, id: str, reply: Reply, has_failed: bool) -> None:
        self._under_way.pop(id, None)
        if has_failed:
            self._failed[id] = None
            if len(self._failed) > _REMEMBERED:
                self._failed.popitem(last=False)  # its model is asked once more when somebody looks at it again
        reply.change(is_done=True, has_failed=has_failed)

    def _answer(self, found: Assignment, say: Callable[[str], None]) -> None:
        said = self._desk.messages(found.id, found.rater)
        if not said or said[-1].speaker != RATER:
            return  # it was answered in the meantime
        text = self._partners[found.item.system].reply(found.id, said, say)
        details = self._recognised(said[-1].text, text)
        self._desk.say(found.id, found.rater, said[-1].turn + 1, found.item.system, text, details)

    def _recognised(self, message: str, reply: str) -> dict[str, object]:
        """The emotions of the two, both with the reply: a message must be stored before anybody reads it closely."""
        if self._emotions is None:
            return {}
        try:
            heard, own = self._emotions([message, reply or message])
        except Exception as error:  # a reply is worth more than its emotion
            logging.error("emotions cannot be recognised (%s)", type(error).__name__)
            return {}
        return {"emotion_before": list(heard), **({"emotion": list(own)} if reply else {})}


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[..., None], *arguments: object) -> None:
    try:
        loop.call_soon_threadsafe(what, *arguments)
    except RuntimeError:  # the loop has stopped: nobody follows any more, and what was said is stored
        logging.debug("a reply came after the server had stopped")
