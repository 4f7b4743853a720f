"""The desk of a study: assigns items to raters and stores their answers, for the terminal, web pages and crowds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk import answering, assignment, messages, raters
from parlai_empathy.rating.desk.answering import Submission
from parlai_empathy.rating.desk.messages import Said
from parlai_empathy.rating.desk.outcomes import ArmCount, Assignment, Nothing, Outcome, Progress, Rater
from parlai_empathy.rating.desk.progress import arm_counts, no_item_reason
from parlai_empathy.rating.desk.registration import item_of, register
from parlai_empathy.rating.names import NOT_EXCLUDED
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.questions import clean
from parlai_empathy.rating.study.study import Study

_LONGEST_MESSAGE = 10_000
_MARGIN = 0.1  # an open item's deadline is only extended once this share of the study's time limit has passed

_OWN = f"{assignment.WITH_ITEM} WHERE a.study = :study AND a.rater = :rater"
_ASSIGNED = f"""SELECT own.*, r.excluded, r.consented FROM ({_OWN} AND a.id = :id) AS own
    JOIN rating_raters AS r ON r.study = own.study AND r.rater = own.rater"""

_SUBJECTS = """SELECT count(DISTINCT subject) AS many FROM rating_items
    WHERE study = :study AND version = :version AND is_check = 0"""
_FORMER_SUBJECTS = """SELECT rater, count(*) AS many FROM rating_assignments
    WHERE study = :study AND version <> :version AND is_check = 0 AND state = 'done' AND subject NOT IN
        (SELECT subject FROM rating_items WHERE study = :study AND version = :version) GROUP BY rater"""
_FORMER_CHECKS = """SELECT rater, count(*) AS many FROM rating_assignments
    WHERE study = :study AND version <> :version AND is_check = 1 AND state = 'done' GROUP BY rater"""


class Desk:
    """Assigns a study's items to raters and stores their answers.

    Each method writes in at most one transaction, and can be called from any thread of any process at any time. Every
    method raises ``StoreError`` if the store fails.

    :param clock: returns the time in seconds since 1970.
    :param new_version: whether this version of the study may replace another one that the store has.
    :raises OptionError: if the store has another version that may not be replaced, or the study has nothing to rate.
    :raises DataError: if a log cannot be read.
    :raises StoreError: if the store fails.
    """

    def __init__(
        self, store: Store, study: Study, clock: Callable[[], float] = time.time, new_version: bool = False
    ) -> None:
        self.store = store
        self.study = study
        self.clock = clock
        register(store, study, new_version, clock())
        self._subjects, self._met_before, self._checked_before = self._count_before()
        self._time = 60.0 * study.minutes

    def writing(self) -> AbstractContextManager[Transaction]:
        """A write transaction that holds the study's lock.

        :raises StoreError: at its end, with nothing written, if another version has replaced this one in the store.
        """
        return self.store.writing(self.study.name, self.study.version)

    # --- raters ------------------------------------------------------------------------------------------------------

    def enrol(self, rater: str, consented: bool = False, details: Mapping[str, str] | None = None) -> None:
        """Add a rater, and record their consent. A second call keeps the time of the first consent.

        :param details: anything else to store about the rater; merged into the details already stored.
        :raises OptionError: if ``rater`` is empty or too long.
        """
        rater, now = raters.checked(rater), self.clock()
        with self.writing() as t:
            row = raters.enrolled(t, self.study.name, rater, now)
            raters.remember(t, row, now if consented else None, details or {})

    def exclude(self, rater: str, reason: str) -> None:
        """Exclude a rater: their ratings no longer count, and their items go to others. Nothing is deleted.

        :raises OptionError: if the rater is unknown, or the reason is empty or would be read as "not excluded".
        """
        reason = clean(reason, "reason")
        if not reason:
            raise OptionError(f"rater {rater[:40]!r}: the reason for excluding them is empty: write one")
        if reason.lower() in NOT_EXCLUDED:
            raise OptionError(
                f"rater {rater[:40]!r}: the reason {reason} would be read as not excluded: write another one"
            )
        with self.writing() as t:
            raters.set_excluded(t, self.study.name, rater, reason, self.clock())

    def include(self, rater: str) -> None:
        """Include an excluded rater again. Items that others have rated meanwhile may then exceed their quotas.

        :raises OptionError: if the rater is unknown.
        """
        with self.writing() as t:
            raters.set_excluded(t, self.study.name, rater, None, self.clock())

    def raters(self) -> list[Rater]:
        """All raters, in order of enrolment."""
        with self.store.reading() as t:
            return raters.found(t, self.study.name)

    def rater(self, rater: str) -> Rater | None:
        """One rater; None if unknown."""
        with self.store.reading() as t:
            return next(iter(raters.found(t, self.study.name, rater)), None)

    # --- items -------------------------------------------------------------------------------------------------------

    def next_item(self, rater: str) -> Assignment | Nothing:
        """The rater's open item, or one of theirs that timed out and is still free, or a new one.

        :raises OptionError: if ``rater`` is empty or too long.
        """
        rater, now = raters.checked(rater), self.clock()
        if held := self._held(rater, now):
            return held
        with self.writing() as t:
            return self._next(t, raters.enrolled(t, self.study.name, rater, now), now)

    def give_back(self, id: str, rater: str) -> bool:
        """Give an open item back without an answer; it goes to other raters. Returns whether it was open.

        The rater does not get it again, with one exception: a rater who has given back all their chats and judged none
        gets new chats with the same models.
        """
        with self.writing() as t:
            row = self._assigned(t, id, rater)
            if row is None or row["state"] != assignment.OPEN:
                return False
            assignment.leave(t, row, assignment.BACK, self.clock())
            return True

    def assigned(self, id: str, rater: str) -> Assignment | None:
        """A rater's assignment, whatever its state; None if the rater has none with this id."""
        with self.store.reading() as t:
            row = self._assigned(t, id, rater)
            return None if row is None else handed(row)

    def answered(self, rater: str) -> list[Assignment]:
        """The assignments that a rater has answered in this version of the study, oldest first."""
        with self.store.reading() as t:
            rows = raters.assignments(t, self.study.name, rater, assignment.DONE)
            return [handed(row) for row in rows if row["version"] == self.study.version]

    def progress(self, rater: str) -> Progress:
        """A rater's progress."""
        with self.store.reading() as t:
            return self.progress_after(rater, raters.count_done(t, self.study.name, rater))

    def progress_after(self, rater: str, done: int) -> Progress:
        """The progress of a rater who has answered ``done`` items."""
        return Progress(done, max(done, self._total(rater)))

    def counts(self) -> list[ArmCount]:
        """How many ratings each system or pair has in this version of the study."""
        with self.store.reading() as t:
            return arm_counts(t, self.study, self.clock())

    # --- answers -----------------------------------------------------------------------------------------------------

    def answer(
        self,
        id: str,
        rater: str,
        answers: Mapping[str, object],
        seconds: float | None = None,
        key: str | None = None,
        revise: bool = False,
    ) -> Outcome:
        """Store a rater's answers to an item.

        :param id: of the assignment.
        :param answers: maps question ids to answers as the rater gave them.
        :param seconds: time spent on the item; None for the time since it was assigned.
        :param key: identifies the submission, to recognise a second copy of it; None for a digest of the answers.
        :param revise: whether different answers replace those already stored.
        :raises OptionError: if an answer is invalid; nothing is stored then.
        """
        sent = answering.submission(self.study.page_questions, answers, seconds, key)
        with self.writing() as t:
            return self._take(t, self._assigned(t, id, rater), sent, revise, self.clock())

    def answer_and_next(
        self,
        id: str,
        rater: str,
        answers: Mapping[str, object],
        seconds: float | None = None,
        key: str | None = None,
        revise: bool = False,
    ) -> tuple[Outcome, Assignment | Nothing | None]:
        """Store a rater's answers to an item and assign the next one, in one transaction.

        The parameters are those of :meth:`answer`.

        :returns: the outcome, and the result of :meth:`next_item`; None in its place if the answers were not stored
            (unless the rater is excluded), so that this item should be shown again.
        :raises OptionError: if an answer is invalid.
        """
        sent = answering.submission(self.study.page_questions, answers, seconds, key)
        with self.writing() as t:
            row, now = self._assigned(t, id, rater), self.clock()
            outcome = self._take(t, row, sent, revise, now)
            goes_on = row is not None and (outcome.is_kept or outcome is Outcome.EXCLUDED)
            return outcome, self._next(t, row, now) if row is not None and goes_on else None

    def mark(self, id: str, rater: str, turn: int, answers: Mapping[str, object]) -> Outcome:
        """Store a rater's answers about one turn of a chat; later answers replace earlier ones.

        :param turn: from 1.
        :param answers: to any of the questions asked per turn; the others can be answered later.
        :raises OptionError: if an answer is invalid.
        """
        asked = self.study.turn_questions
        sent = answering.submission([one for one in asked if one.id in answers] or asked, answers, None, None)
        with self.writing() as t:
            row, now = self._assigned(t, id, rater), self.clock()
            if row is None or row["excluded"] is not None:
                return Outcome.UNKNOWN if row is None else Outcome.EXCLUDED
            if row["state"] == assignment.DONE and row["version"] != self.study.version:
                return Outcome.ALREADY  # this version may ask other questions
            if row["state"] != assignment.DONE and not answering.hold(t, self.study, row, self._total(rater), now):
                return Outcome.TOO_LATE
            answering.put(t, self.study, row, sent.answers, _turn(turn), None, now)
            return Outcome.STORED

    def say(
        self, id: str, rater: str, turn: int, speaker: str, text: str, details: Mapping[str, object] | None = None
    ) -> Outcome:
        """Store a message of a chat, and restart the item's time limit. Stored messages are never overwritten.

        :param turn: from 1.
        :param speaker: ``rater``, or the name of the model.
        :param details: anything else to store with the message, as JSON: flags, the recognised emotion.
        :raises OptionError: if the text is too long or cannot be stored.
        """
        text = clean(text, "message")
        if len(text) > _LONGEST_MESSAGE:
            raise OptionError(f"message: it has {len(text):,} characters: expected at most {_LONGEST_MESSAGE:,}")
        said = Said(_turn(turn), clean(speaker, "speaker"), text, dict(details or {}), self.clock())
        with self.writing() as t:
            row = self._assigned(t, id, rater)
            if row is None or row["excluded"] is not None:
                return Outcome.UNKNOWN if row is None else Outcome.EXCLUDED
            is_held = answering.hold(t, self.study, row, self._total(rater), said.said)
            return messages.say(t, id, said) if is_held else Outcome.TOO_LATE

    def messages(self, id: str, rater: str) -> list[Said]:
        """The messages of a rater's chat, in order; empty if the chat is not theirs."""
        with self.store.reading() as t:
            return messages.messages(t, id) if self._assigned(t, id, rater) else []

    # --- inside ------------------------------------------------------------------------------------------------------

    def _count_before(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """The number of subjects without gold checks; by rater the number of those that they answered in earlier
        versions and that this version no longer has; and by rater the number of checks answered in earlier versions.
        """
        own = {"study": self.study.name, "version": self.study.version}
        with self.store.reading() as t:
            there, *before = t.ask(_SUBJECTS, **own), t.ask(_FORMER_SUBJECTS, **own), t.ask(_FORMER_CHECKS, **own)
            met, checked = ({row["rater"]: int(row["many"]) for row in rows()} for rows in before)
            return int(there()[0]["many"]), met, checked

    def _total(self, rater: str) -> int:
        """How many items a rater gets over all versions: a small study may have fewer than ``items_per_rater``. Checks
        come on top, also those of an earlier version that had more.
        """
        subjects = self._subjects + self._met_before.get(rater, 0)
        checks = max(self.study.checks_per_rater, self._checked_before.get(rater, 0))
        return min(self.study.items_per_rater, subjects) + checks

    def _held(self, rater: str, now: float) -> Assignment | None:
        """The rater's open item, if nearly all of its time is left, so that nothing needs to be written."""
        with self.store.reading() as t:
            row = t.row(f"{_OWN} AND a.state = 'open'", study=self.study.name, rater=rater)
        is_fresh = row is not None and row["deadline"] - now >= (1 - _MARGIN) * self._time
        return handed(row) if row is not None and is_fresh else None

    def _take(self, t: Transaction, row: Row | None, sent: Submission, revise: bool, now: float) -> Outcome:
        if row is None or row["excluded"] is not None:
            return Outcome.UNKNOWN if row is None else Outcome.EXCLUDED
        return answering.take(t, self.study, row, sent, revise, self._total(row["rater"]), now)

    def _next(self, t: Transaction, known: Row, now: float) -> Assignment | Nothing:
        """The next item of a rater.

        :param known: a row with the rater's ``rater``, ``excluded`` and ``consented``.
        """
        if known["excluded"] is not None:
            return Nothing.EXCLUDED
        if self.study.consent and known["consented"] is None:
            return Nothing.CONSENT
        rater = known["rater"]
        standing = assignment.standing(t, self.study, rater, now)
        if standing.count(assignment.OPEN):
            return self._again(t, raters.assignments(t, self.study.name, rater, assignment.OPEN)[0], now)
        number = standing.count(assignment.DONE) + 1
        total = self._total(rater)
        if number > total:
            return Nothing.DONE
        late = raters.assignments(t, self.study.name, rater, assignment.LATE) if standing.count(assignment.LATE) else []
        for row in late:
            if assignment.can_resume(t, self.study, row, total):
                assignment.resume(t, row, number, now, now + self._time)
                return handed({**row, "number": number, "deadline": now + self._time})
        new = assignment.assign(t, self.study, rater, standing, total, now)
        return no_item_reason(t, self.study, rater, number) if new is None else handed(new)

    def _again(self, t: Transaction, row: Row, now: float) -> Assignment:
        """The open item, with its time limit restarted."""
        t.send(
            "UPDATE rating_assignments SET deadline = :deadline WHERE id = :id", deadline=now + self._time, id=row["id"]
        )
        return handed({**row, "deadline": now + self._time})

    def _assigned(self, t: Transaction, id: str, rater: str) -> Row | None:
        """The row of an assignment, with its item and its rater's exclusion and consent; None if it is not theirs."""
        return t.row(_ASSIGNED, id=id, study=self.study.name, rater=rater)


def handed(row: Row) -> Assignment:
    """The assignment of a row.

    :param row: joins the assignment and its item.
    """
    swapped, deadline = bool(row["swapped"]), float(row["deadline"])
    return Assignment(row["id"], row["rater"], row["number"], item_of(row), swapped, deadline)


def _turn(turn: int) -> int:
    if not 1 <= turn <= 100_000:
        raise OptionError(f"turn {turn}: turns are counted from 1")
    return turn
