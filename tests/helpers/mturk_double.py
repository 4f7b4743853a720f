"""A test double of Mechanical Turk, with the calls that the package uses; it can die at any call."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from botocore.exceptions import ClientError

TERMS: dict[str, Any] = {
    "url": "https://r.example.org/",
    "title": "Judge answers",
    "description": "Ten short answers.",
    "reward": "1.20",
    "raters": 20,
}
"""Terms of an offer."""

_WHEN = datetime(2026, 5, 1, tzinfo=timezone.utc)


class Death(BaseException):
    """Raised to simulate that the process is killed."""


class MturkDouble:
    """Has boto3's methods, with the same names.

    :param dies_at: the number of the call, from 1, during which the process dies; 0 for never.
    :param after: whether Mechanical Turk carries out that call before the process dies.
    """

    def __init__(self, dies_at: int = 0, after: bool = False) -> None:
        self.dies_at, self.after = dies_at, after
        self.calls: list[str] = []
        self.hits: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        self.bonuses: list[dict[str, Any]] = []
        self.qualifications: dict[str, str] = {}
        self.holders: set[tuple[str, str]] = set()
        self.forgets_tokens = False
        self._tokens: set[str] = set()

    def submit(self, hit: str, worker: str, assignment: str, minute: int = 0) -> None:
        """Let a worker submit an assignment."""
        self.assignments[assignment] = {
            "AssignmentId": assignment,
            "WorkerId": worker,
            "HITId": hit,
            "AssignmentStatus": "Submitted",
            "SubmitTime": _WHEN.replace(minute=minute),
        }

    def __getattr__(self, name: str) -> Any:
        if not hasattr(type(self), f"_{name}"):
            raise AttributeError(name)

        def call(**arguments: Any) -> Any:
            self.calls.append(name)
            dies = len(self.calls) == self.dies_at
            if dies and not self.after:
                raise Death
            result = getattr(self, f"_{name}")(**arguments)
            if dies:
                raise Death
            return result

        return call

    def _create_hit_type(self, **_: Any) -> Any:
        return {"HITTypeId": "TYPE"}

    def _create_hit_with_hit_type(self, **arguments: Any) -> Any:
        self._check_token(arguments["UniqueRequestToken"], "AWS.MechanicalTurk.HitAlreadyExists")
        hit = {
            "HITId": f"HIT{len(self.hits) + 1}",
            "HITStatus": "Assignable",
            "NumberOfAssignmentsAvailable": arguments["MaxAssignments"],
            "NumberOfAssignmentsPending": 0,
            "NumberOfAssignmentsCompleted": 0,
            **arguments,
        }
        self.hits[hit["HITId"]] = hit
        return {"HIT": hit}

    def _list_hits(self, MaxResults: int, NextToken: str = "0") -> Any:
        # One per page, to exercise pagination.
        place, hits = int(NextToken), list(self.hits.values())
        more = {"NextToken": str(place + 1)} if place + 1 < len(hits) else {}
        return {"HITs": hits[place : place + 1], **more}

    def _get_hit(self, HITId: str) -> Any:
        return {"HIT": self.hits[HITId]}

    def _update_expiration_for_hit(self, HITId: str, ExpireAt: datetime) -> Any:
        self.hits[HITId]["ExpireAt"] = ExpireAt

    def _list_qualification_types(self, Query: str, **_: Any) -> Any:
        return {
            "QualificationTypes": [
                {"Name": name, "QualificationTypeId": id} for name, id in self.qualifications.items() if Query in name
            ]
        }

    def _create_qualification_type(self, Name: str, **_: Any) -> Any:
        assert Name not in self.qualifications
        self.qualifications[Name] = f"Q{len(self.qualifications) + 1}"
        return {"QualificationType": {"QualificationTypeId": self.qualifications[Name]}}

    def _associate_qualification_with_worker(self, QualificationTypeId: str, WorkerId: str, **_: Any) -> None:
        self.holders.add((QualificationTypeId, WorkerId))

    def _list_assignments_for_hit(self, HITId: str, **_: Any) -> Any:
        return {"Assignments": [dict(one) for one in self.assignments.values() if one["HITId"] == HITId]}

    def _get_assignment(self, AssignmentId: str) -> Any:
        return {"Assignment": self.assignments[AssignmentId]}

    def _approve_assignment(self, AssignmentId: str, OverrideRejection: bool, RequesterFeedback: str = "") -> None:
        one = self.assignments[AssignmentId]
        if one["AssignmentStatus"] == "Approved" or (one["AssignmentStatus"] == "Rejected" and not OverrideRejection):
            raise refused("AWS.MechanicalTurk.InvalidAssignmentState")
        one["AssignmentStatus"] = "Approved"

    def _reject_assignment(self, AssignmentId: str, RequesterFeedback: str) -> None:
        one = self.assignments[AssignmentId]
        if one["AssignmentStatus"] != "Submitted":
            raise refused("AWS.MechanicalTurk.InvalidAssignmentState")
        one.update(AssignmentStatus="Rejected", RequesterFeedback=RequesterFeedback)

    def _list_bonus_payments(self, HITId: str, **_: Any) -> Any:
        of_hit = {id for id, one in self.assignments.items() if one["HITId"] == HITId}
        return {"BonusPayments": [one for one in self.bonuses if one["AssignmentId"] in of_hit]}

    def _send_bonus(self, UniqueRequestToken: str, **arguments: Any) -> None:
        self._check_token(UniqueRequestToken, "AWS.MechanicalTurk.DuplicateRequest")
        self.bonuses.append(arguments)

    def _check_token(self, token: str, code: str) -> None:
        assert len(token) <= 64
        if token in self._tokens and not self.forgets_tokens:
            raise refused(code)
        self._tokens.add(token)


def refused(code: str) -> ClientError:
    """Return the error that boto3 raises when Mechanical Turk rejects a request."""
    return ClientError({"Error": {"Code": "RequestError", "Message": f"No. ({code})"}}, "Operation")
