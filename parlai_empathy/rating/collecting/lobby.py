"""The lobby: whoever arrives meets the person who has waited longest. People whose partner leaves may wait again.

Like a desk's methods, each method is one transaction, or two of which the first only reads; any thread of any process
may call it at any time. Nothing but the time at which the lobby was opened is kept outside the store.
"""

from __future__ import annotations

from dataclasses import replace

from parlai_empathy.rating.collecting import meetings
from parlai_empathy.rating.collecting.collection import OVER, Collection
from parlai_empathy.rating.collecting.meeting import TALKS, Duty
from parlai_empathy.rating.collecting.meetings import Met
from parlai_empathy.rating.collecting.place import Place, Stage
from parlai_empathy.rating.collecting.prompts import Prompt, found, untold
from parlai_empathy.rating.desk import raters
from parlai_empathy.rating.storage.database import Transaction

PATIENCE = 300.0
"""Seconds to wait for a partner's message or judgement before the meeting breaks off."""

AWAY = 20.0
"""Seconds without a poll after which somebody no longer counts as being in the waiting room."""

_COMING_BACK = 3.0

_EARNED = {"earned": "yes"}
"""The detail of people who have earned the study's code in a meeting that they have left since."""

_STAGES = {
    Duty.BEGIN: Stage.PAUSE,  # only until the next poll
    Duty.SPEAK: Stage.TALK,
    Duty.LISTEN: Stage.TALK,
    Duty.JUDGE: Stage.JUDGE,
    Duty.PAUSE: Stage.PAUSE,
}


class Lobby:
    """Pairs people.

    :param collection: stores prompts and conversations.
    :param patience: in seconds, as :data:`PATIENCE`.
    :param away: in seconds, as :data:`AWAY`.
    """

    def __init__(self, collection: Collection, patience: float = PATIENCE, away: float = AWAY) -> None:
        self.collection = collection
        self.patience = patience
        self.away = away
        self._store = collection.desk.store
        self._study = collection.study
        self._clock = collection.desk.clock
        self._opened = self._clock()

    def place(self, rater: str) -> Place:
        """Return somebody's place.

        Before that, whatever is due is done: a conversation that the study no longer allows to go on ends, the next one
        begins, or the meeting breaks off because it was silent for too long or one of the two is excluded.
        """
        with self._store.reading() as t:
            if not self._is_due(self._met(t, rater), rater):
                return self._place(t, rater)
        with self.collection.desk.writing() as t:
            self._move_on(t, rater)
            return self._place(t, rater)

    def wait(self, rater: str, enter: bool = True) -> str | None:
        """Mark somebody as present in the waiting room, and pair them with the present person who has waited longest.

        :param enter: whether they enter if they are not in the waiting room yet.
        :returns: their new partner; None if they still wait, or are not waiting.
        """
        with self.collection.desk.writing() as t:
            now, seat = self._clock(), self._seat(t, rater)
            prompt = self._ready(t, rater)
            if prompt is None or not self._may_wait(t, rater) or (seat is None and not enter):
                return None
            # Somebody who was away enters again, behind those who stayed.
            since = seat[0] if seat and seat[1] >= now - self.away else now
            other = next(iter(self._present(t, rater, now)), None)
            if other is None:
                t.run(
                    "INSERT INTO rating_seats VALUES (:study, :rater, :since, :now) "
                    "ON CONFLICT (study, rater) DO UPDATE SET since = excluded.since, seen = excluded.seen",
                    study=self._study.name,
                    rater=rater,
                    since=since,
                    now=now,
                )
                return None
            # The one who waited longer is the first Speaker.
            meetings.begin(t, self.collection, other, prompt)
            for one in (rater, other.rater):
                self._leave_seat(t, one)
            return other.rater

    def unseen(self, rater: str) -> None:
        """Record that somebody's last page of the waiting room was closed.

        They keep their place for a few seconds, since they may only be reloading the page.
        """
        with self.collection.desk.writing() as t:
            sql = "UPDATE rating_seats SET seen = :then WHERE study = :study AND rater = :rater AND seen > :then"
            t.run(sql, study=self._study.name, rater=rater, then=self._clock() - self.away + _COMING_BACK)

    def leave(self, rater: str) -> str | None:
        """Let somebody leave the waiting room or their meeting, which then breaks off.

        :returns: the partner they have left; None if there was none.
        """
        with self.collection.desk.writing() as t:
            self._leave_seat(t, rater)
            met = self._met(t, rater)
            if met is None or not met.is_open:
                return None
            meetings.break_off(t, self.collection, met, (rater,))
            return met.meeting.other(rater)

    def go_on(self, rater: str) -> bool:
        """Let somebody leave a meeting that has ended; return whether they may meet somebody else.

        If their own conversation broke off, they can tell their situation to the next partner.
        """
        with self.collection.desk.writing() as t:
            self._move_on(t, rater)
            place, met = self._place(t, rater), self._met(t, rater)
            if met is None or place.stage not in (Stage.BROKEN, Stage.DONE):
                return met is None
            if place.can_go_on:
                if place.has_earned:
                    raters.remember(t, raters.known(t, self._study.name, rater), None, _EARNED)
                meetings.leave_meeting(t, self.collection, met, rater)
            return place.can_go_on

    def close_deserted(self) -> None:
        """Break off all meetings whose time is over, even if nobody has their pages open."""
        with self.collection.desk.writing() as t:
            for met in meetings.under_way(t, self.collection):
                if deserters := self._deserters(met):
                    meetings.break_off(t, self.collection, met, deserters)

    @property
    def silent_since(self) -> float:
        """When somebody who is awaited must last have done something, in seconds since 1970; 0 for no time.

        Time during which no server was running does not count as silence.
        """
        since = self._clock() - self.patience
        return since if self._opened < since else 0.0

    def waiting(self, t: Transaction) -> int:
        """Return how many people are in the waiting room, within a transaction."""
        return len(self._present(t, "", self._clock()))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _place(self, t: Transaction, rater: str) -> Place:
        known = next(iter(raters.found(t, self._study.name, rater)), None)
        if known is None or (self._study.consent and known.consented is None):
            return Place(Stage.NEW)
        if known.excluded is not None:
            return Place(Stage.EXCLUDED)
        earned = _EARNED.items() <= known.details.items()
        if met := self._met(t, rater):
            return replace(self._place_in(t, met, rater), earned_before=earned)
        prompt = self._ready(t, rater)
        if prompt is None:
            return Place(Stage.PROMPT, earned_before=earned)
        return Place(Stage.WAITING if self._seat(t, rater) else Stage.READY, prompt, earned_before=earned)

    def _place_in(self, t: Transaction, met: Met, rater: str) -> Place:
        meeting = met.meeting
        ended = Stage.BROKEN if meeting.is_broken else Stage.DONE
        stage = _STAGES.get(meeting.duty(rater), ended)
        can_go_on = meetings.whole(t, self._study.name, rater) < self._study.items_per_rater
        is_why = rater in met.left_by
        left, stopped = is_why and not met.is_stopped, is_why and met.is_stopped
        own = found(t, self._study.name, met.prompts[meeting.people.index(rater)])
        return Place(stage, own, meeting, meeting.talk_of(rater), left, stopped, can_go_on)

    def _is_due(self, met: Met | None, rater: str) -> bool:
        if met is None or not met.is_open:
            return False
        return bool(self._deserters(met)) or met.meeting.full is not None or met.meeting.duty(rater) is Duty.BEGIN

    def _move_on(self, t: Transaction, rater: str) -> None:
        """Do what is due, unless it has been done meanwhile."""
        met = self._met(t, rater)
        if met is None or not met.is_open:
            return
        if deserters := self._deserters(met):
            meetings.break_off(t, self.collection, met, deserters)
        elif full := met.meeting.full:
            self.collection.close(t, full.id, OVER)
        elif met.meeting.duty(rater) is Duty.BEGIN:
            meetings.begin_next(t, self.collection, met)

    def _deserters(self, met: Met) -> tuple[str, ...]:
        """Return the people because of whom a meeting must break off; none when both conversations are complete."""
        if met.meeting.whole == TALKS:
            return ()
        is_silent = met.last_act < self.silent_since
        return met.excluded or (met.meeting.awaited if is_silent else ())

    def _met(self, t: Transaction, rater: str) -> Met | None:
        return meetings.of(t, self.collection, rater)

    def _ready(self, t: Transaction, rater: str) -> Prompt | None:
        """Return what somebody has described but not begun to tell."""
        return untold(t, self._study.name, rater)

    def _may_wait(self, t: Transaction, rater: str) -> bool:
        return self._place(t, rater).stage in (Stage.READY, Stage.WAITING)

    def _seat(self, t: Transaction, rater: str) -> tuple[float, float] | None:
        """Return since when somebody has waited and when they were last seen; None if they are not waiting."""
        sql = "SELECT since, seen FROM rating_seats WHERE study = :study AND rater = :rater"
        row = t.row(sql, study=self._study.name, rater=rater)
        return None if row is None else (row["since"], row["seen"])

    def _present(self, t: Transaction, rater: str, now: float) -> list[Prompt]:
        """Return the prompts of the other people in the waiting room, longest waiting first."""
        rows = t.rows(
            "SELECT rater FROM rating_seats WHERE study = :study AND rater <> :rater AND seen >= :least "
            "ORDER BY since, rater",
            study=self._study.name,
            rater=rater,
            least=now - self.away,
        )
        others = [row["rater"] for row in rows if self._may_wait(t, row["rater"])]
        return [prompt for prompt in (self._ready(t, other) for other in others) if prompt is not None]

    def _leave_seat(self, t: Transaction, rater: str) -> None:
        sql = "DELETE FROM rating_seats WHERE study = :study AND rater = :rater"
        t.run(sql, study=self._study.name, rater=rater)
