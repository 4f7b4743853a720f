"""The lobby: who waits meets who has waited longest; and who is left there by the other one may wait again.

Like a desk's, each method is one transaction, or two of which the first one only reads; it can be called by any thread
of any process at any time. Nothing is remembered outside the store.
"""

from __future__ import annotations

from parlai_empathy.rating import raters
from parlai_empathy.rating.collecting import meetings
from parlai_empathy.rating.collecting.meeting import TALKS, Duty
from parlai_empathy.rating.collecting.meetings import Met
from parlai_empathy.rating.collecting.place import Place, Stage
from parlai_empathy.rating.collecting.prompts import Prompt, untold
from parlai_empathy.rating.collection import Collection
from parlai_empathy.rating.database import Transaction

PATIENCE = 300.0
"""Seconds for which somebody waits for the other one's message or judgement, before the meeting breaks off."""

AWAY = 20.0
"""Seconds after which somebody who has given no sign is not in the waiting room any more."""

_COMING_BACK = 3.0

_STAGES = {
    Duty.BEGIN: Stage.PAUSE,  # only until the next look at it
    Duty.SPEAK: Stage.TALK,
    Duty.LISTEN: Stage.TALK,
    Duty.JUDGE: Stage.JUDGE,
    Duty.PAUSE: Stage.PAUSE,
}


class Lobby:
    """Brings people together, two at a time.

    :param collection: where prompts and conversations are kept.
    :param patience: seconds.
    :param away: seconds.
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
        """Where somebody stands.

        What is due is done first: the next conversation begins; a meeting breaks off that was silent for too long, or
        of which somebody is excluded.
        """
        with self._store.reading() as t:
            if not self._is_due(self._met(t, rater), rater):
                return self._place(t, rater)
        with self.collection.desk.writing() as t:
            self._move_on(t, rater)
            return self._place(t, rater)

    def wait(self, rater: str, enter: bool = True) -> str | None:
        """Note that somebody is in the waiting room; whoever has waited longest and is there, too, meets them.

        :param enter: whether they come in, if they are not there yet.
        :returns: whom they have met; None if they wait on, or are not waiting.
        """
        with self.collection.desk.writing() as t:
            now, seat = self._clock(), self._seat(t, rater)
            prompt = self._ready(t, rater)
            if prompt is None or not self._may_wait(t, rater) or (seat is None and not enter):
                return None
            # Who was away comes in anew: they are behind those who stayed.
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
            # Who has waited longer tells first.
            meetings.begin(t, self.collection, other, prompt)
            for one in (rater, other.rater):
                self._stand_up(t, one)
            return other.rater

    def unseen(self, rater: str) -> None:
        """Note that nobody looks at the waiting room in somebody's name any more.

        They keep their place for some seconds, in which they may come back: perhaps they only load the page anew.
        """
        with self.collection.desk.writing() as t:
            sql = "UPDATE rating_seats SET seen = :then WHERE study = :study AND rater = :rater AND seen > :then"
            t.run(sql, study=self._study.name, rater=rater, then=self._clock() - self.away + _COMING_BACK)

    def leave(self, rater: str) -> str | None:
        """Let somebody go out of the waiting room, or out of their meeting, which then breaks off.

        :returns: whom they have left; None if there was nobody.
        """
        with self.collection.desk.writing() as t:
            self._stand_up(t, rater)
            met = self._met(t, rater)
            if met is None or not met.is_open:
                return None
            meetings.break_off(t, self.collection, met, (rater,))
            return met.meeting.other(rater)

    def go_on(self, rater: str) -> bool:
        """Let somebody be done with a meeting that has ended; whether they may meet somebody else.

        What they could not tell to the end they can tell the next one.
        """
        with self.collection.desk.writing() as t:
            self._move_on(t, rater)
            place, met = self._place(t, rater), self._met(t, rater)
            if met is None or place.stage not in (Stage.BROKEN, Stage.DONE):
                return met is None
            if place.can_go_on:
                meetings.let_go(t, self.collection, met, rater)
            return place.can_go_on

    def close_deserted(self) -> None:
        """Break off all meetings that are due to, also those that nobody looks at any more."""
        with self.collection.desk.writing() as t:
            for met in meetings.under_way(t, self.collection):
                self._break_if_deserted(t, met)

    def waiting(self, t: Transaction) -> int:
        """How many are in the waiting room, inside a transaction."""
        return len(self._present(t, "", self._clock()))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _place(self, t: Transaction, rater: str) -> Place:
        known = next(iter(raters.found(t, self._study.name, rater)), None)
        if known is None or (self._study.consent and known.consented is None):
            return Place(Stage.NEW)
        if known.excluded is not None:
            return Place(Stage.EXCLUDED)
        if met := self._met(t, rater):
            return self._place_in(t, met, rater)
        prompt = self._ready(t, rater)
        if prompt is None:
            return Place(Stage.PROMPT)
        return Place(Stage.WAITING if self._seat(t, rater) else Stage.READY, prompt)

    def _place_in(self, t: Transaction, met: Met, rater: str) -> Place:
        meeting = met.meeting
        ended = Stage.BROKEN if meeting.is_broken else Stage.DONE
        stage = _STAGES.get(meeting.duty(rater), ended)
        can_go_on = meetings.whole(t, self._study.name, rater) < self._study.items_per_rater
        is_why = rater in met.left_by
        left, stopped = is_why and not met.is_stopped, is_why and met.is_stopped
        return Place(stage, None, meeting, meeting.talk_of(rater), left, stopped, can_go_on)

    def _is_due(self, met: Met | None, rater: str) -> bool:
        if met is None or not met.is_open:
            return False
        return bool(self._deserters(met)) or met.meeting.duty(rater) is Duty.BEGIN

    def _move_on(self, t: Transaction, rater: str) -> None:
        """Do what is due; somebody else may have done it meanwhile."""
        met = self._met(t, rater)
        if met is None or not met.is_open:
            return
        if met.meeting.duty(rater) is Duty.BEGIN and not self._deserters(met):
            meetings.begin_next(t, self.collection, met)
        else:
            self._break_if_deserted(t, met)

    def _break_if_deserted(self, t: Transaction, met: Met) -> None:
        if deserters := self._deserters(met):
            meetings.break_off(t, self.collection, met, deserters)

    def _deserters(self, met: Met) -> tuple[str, ...]:
        """Because of whom a meeting is to break off; nobody when both conversations are over."""
        if met.meeting.whole == TALKS:
            return ()
        # Nobody could do anything while there was no server.
        since = max(met.last_act, self._opened)
        is_silent = self._clock() - since > self.patience
        return met.excluded or (met.meeting.awaited if is_silent else ())

    def _met(self, t: Transaction, rater: str) -> Met | None:
        return meetings.of(t, self.collection, rater)

    def _ready(self, t: Transaction, rater: str) -> Prompt | None:
        """What somebody has described, and has not begun to tell."""
        return untold(t, self._study.name, rater)

    def _may_wait(self, t: Transaction, rater: str) -> bool:
        return self._place(t, rater).stage in (Stage.READY, Stage.WAITING)

    def _seat(self, t: Transaction, rater: str) -> tuple[float, float] | None:
        """Since when somebody waits, and when they were last seen."""
        sql = "SELECT since, seen FROM rating_seats WHERE study = :study AND rater = :rater"
        row = t.row(sql, study=self._study.name, rater=rater)
        return None if row is None else (row["since"], row["seen"])

    def _present(self, t: Transaction, rater: str, now: float) -> list[Prompt]:
        """What the others bring who are in the waiting room; first who has waited longest."""
        rows = t.rows(
            "SELECT rater FROM rating_seats WHERE study = :study AND rater <> :rater AND seen >= :least "
            "ORDER BY since, rater",
            study=self._study.name,
            rater=rater,
            least=now - self.away,
        )
        others = [row["rater"] for row in rows if self._may_wait(t, row["rater"])]
        return [prompt for prompt in (self._ready(t, other) for other in others) if prompt is not None]

    def _stand_up(self, t: Transaction, rater: str) -> None:
        sql = "DELETE FROM rating_seats WHERE study = :study AND rater = :rater"
        t.run(sql, study=self._study.name, rater=rater)
