"""Submitted work: listing it, and approving, rejecting or rewarding it exactly once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from parlai_empathy.errors import CrowdError, OptionError
from parlai_empathy.rating.crowd.batches import Batch
from parlai_empathy.rating.crowd.entry import MTURK
from parlai_empathy.rating.crowd.ledger import Ledger
from parlai_empathy.rating.crowd.mturk import asked, every
from parlai_empathy.rating.desk.outcomes import Rater

SUBMITTED, APPROVED, REJECTED = "Submitted", "Approved", "Rejected"


class Piece(NamedTuple):
    """A piece of work that was submitted.

    :param status: :data:`SUBMITTED`, :data:`APPROVED` or :data:`REJECTED`.
    :param done: the number of items that its worker has judged; None if the store does not know the worker.
    :param excluded: why the worker was excluded; None if not excluded.
    :param is_first: whether it is this worker's first in the batch. A worker who accepted two HITs before getting the
        qualification has judged only once, and should be paid once.
    """

    assignment: str
    worker: str
    hit: str
    status: str
    done: int | None
    excluded: str | None
    is_first: bool


class Work:
    """The work of a batch.

    :param mturk: boto3's client.
    :param raters: the study's raters.
    """

    def __init__(self, ledger: Ledger, mturk: Any, batch: Batch, raters: Sequence[Rater]) -> None:
        self._ledger = ledger
        self._mturk = mturk
        self._batch = batch
        self._raters = {rater.id: rater for rater in raters}

    def pieces(self) -> list[Piece]:
        """All submitted work; its workers get the qualification of having taken part."""
        found = [
            (one["SubmitTime"], self._piece(hit, one))
            for hit in self._batch.hits
            for one in every(
                self._mturk.list_assignments_for_hit,
                "Assignments",
                HITId=hit,
                AssignmentStatuses=[SUBMITTED, APPROVED, REJECTED],
            )
        ]
        pieces: list[Piece] = []
        workers: set[str] = set()
        for _, piece in sorted(found, key=lambda pair: (pair[0], pair[1].assignment)):
            pieces.append(piece._replace(is_first=piece.worker not in workers))
            workers.add(piece.worker)
            self._note_participant(piece.worker)
        return pieces

    def chosen(self, pieces: Sequence[Piece], workers: Sequence[str]) -> list[Piece]:
        """The pieces of the given workers; without any, the first piece of each worker.

        :raises OptionError: if one of the workers has submitted nothing.
        """
        there = {piece.worker for piece in pieces}
        if unknown := [worker for worker in workers if worker not in there]:
            raise OptionError(f"--workers {unknown[0]}: they have submitted nothing in the batch {self._batch.name}")
        return [piece for piece in pieces if (piece.worker in workers if workers else piece.is_first)]

    def approve(self, piece: Piece, feedback: str = "") -> bool:
        """Approve a piece of work, even a rejected one, so that it is paid; returns False if it already was."""
        if piece.status == APPROVED:
            return False
        self._settle(
            self._mturk.approve_assignment,
            "approve",
            piece,
            OverrideRejection=piece.status == REJECTED,
            **({"RequesterFeedback": feedback} if feedback else {}),
        )
        return True

    def reject(self, pieces: Sequence[Piece], reason: str) -> int:
        """Reject work: it is not paid, and the workers read the reason. Returns how many pieces were rejected now.

        A worker's approved pieces stay approved; others of theirs can still be rejected.

        :raises OptionError: before anything is rejected, if all pieces of a worker were approved, or the reason is
            empty.
        """
        if not reason.strip():
            raise OptionError("--reason is empty: give a fair one; the worker reads it, and their record suffers")
        others = {piece.worker for piece in pieces if piece.status != APPROVED}
        if approved := [piece.worker for piece in pieces if piece.worker not in others]:
            raise OptionError(f"--workers {approved[0]}: their work was approved: it can no longer be rejected")
        due = [piece for piece in pieces if piece.status == SUBMITTED]
        for piece in due:
            self._settle(self._mturk.reject_assignment, "reject", piece, RequesterFeedback=reason)
        return len(due)

    def unpaid(self, pieces: Sequence[Piece], amount: Decimal, reason: str) -> list[Piece]:
        """The pieces for which this bonus has not been paid, by Mechanical Turk's record and the ledger."""
        paid = {
            (one["AssignmentId"], Decimal(one["BonusAmount"]), one.get("Reason", ""))
            for hit in dict.fromkeys(piece.hit for piece in pieces)
            for one in every(self._mturk.list_bonus_payments, "BonusPayments", HITId=hit)
        }
        known = {step.key for step in self._ledger.steps("bonus") if step.is_done}
        return [
            piece
            for piece in pieces
            if (piece.assignment, amount, reason) not in paid and _bonus(piece, amount, reason) not in known
        ]

    def bonus(self, piece: Piece, amount: Decimal, reason: str) -> None:
        """Pay a bonus for a piece from :meth:`unpaid`. The same amount for the same reason is paid only once.

        :raises CrowdError: if Mechanical Turk fails; the same call then resumes from there.
        """
        key = _bonus(piece, amount, reason)
        content = {"assignment": piece.assignment, "amount": str(amount), "reason": reason}
        self._ledger.begin("bonus", key, self._batch.name, content)
        try:
            asked(
                self._mturk.send_bonus,
                WorkerId=piece.worker,
                AssignmentId=piece.assignment,
                BonusAmount=str(amount),
                Reason=reason,
                UniqueRequestToken=key,
            )
        except CrowdError:
            if self._is_unpaid(piece, amount, reason):  # else it was paid, and the response got lost
                raise
        self._ledger.finish("bonus", key)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _is_unpaid(self, piece: Piece, amount: Decimal, reason: str) -> bool:
        return bool(self.unpaid([piece], amount, reason))

    def _settle(self, call: Any, what: str, piece: Piece, **arguments: Any) -> None:
        """Approve or reject. If the call fails, the status shows whether an earlier one succeeded unnoticed."""
        self._ledger.begin(what, piece.assignment, self._batch.name)
        try:
            asked(call, AssignmentId=piece.assignment, **arguments)
        except CrowdError:
            now = asked(self._mturk.get_assignment, AssignmentId=piece.assignment)["Assignment"]["AssignmentStatus"]
            if now != {"approve": APPROVED, "reject": REJECTED}[what]:
                raise
        self._ledger.finish(what, piece.assignment)

    def _piece(self, hit: str, one: dict[str, Any]) -> Piece:
        rater = self._raters.get(f"{MTURK}:{one['WorkerId']}")
        return Piece(
            one["AssignmentId"],
            one["WorkerId"],
            hit,
            one["AssignmentStatus"],
            rater.done if rater else None,
            rater.excluded if rater else None,
            True,
        )

    def _note_participant(self, worker: str) -> None:
        if not self._batch.qualification:
            return
        step = self._ledger.begin("once", f"{self._batch.qualification}/{worker}", self._batch.name)
        if not step.is_done:
            asked(
                self._mturk.associate_qualification_with_worker,  # a second time changes nothing
                QualificationTypeId=self._batch.qualification,
                WorkerId=worker,
                IntegerValue=1,
                SendNotification=False,
            )
            self._ledger.finish("once", step.key)


def _bonus(piece: Piece, amount: Decimal, reason: str) -> str:
    """The token of a bonus: the same for the same bonus, whatever the store."""
    return hashlib.sha256(f"{piece.assignment}\n{amount}\n{reason}".encode()).hexdigest()
