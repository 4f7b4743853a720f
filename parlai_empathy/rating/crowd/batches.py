"""Batches of work on Mechanical Turk: publishing them exactly once, inspecting and closing them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timezone
from typing import Any, NamedTuple

from parlai_empathy.errors import CrowdError, OptionError
from parlai_empathy.rating.crowd.external_question import external_question
from parlai_empathy.rating.crowd.ledger import Ledger, Step
from parlai_empathy.rating.crowd.mturk import asked, every
from parlai_empathy.rating.crowd.offer import Offer
from parlai_empathy.rating.crowd.qualifications import requirements

_LONG_AGO = datetime(2015, 1, 1, tzinfo=timezone.utc)


class Batch(NamedTuple):
    """A batch that is published, completely or in part.

    :param offer: its terms, as recorded.
    :param hits: maps the HITs that exist to their numbers of raters.
    :param qualification: the id of the qualification of workers who have taken part; empty without one.
    """

    name: str
    study: str
    is_live: bool
    offer: dict[str, Any]
    hits: dict[str, int]
    qualification: str


class HitState(NamedTuple):
    """The state of a HIT: raters wanted, free places, raters at work, and reviewed assignments."""

    hit: str
    status: str
    wanted: int
    available: int
    pending: int
    completed: int


class Batches:
    """The batches of a store.

    :param mturk: boto3's client; for the sandbox unless ``is_live``.
    """

    def __init__(self, ledger: Ledger, mturk: Any, is_live: bool = False) -> None:
        self._ledger = ledger
        self._mturk = mturk
        self._is_live = is_live

    def publish(self, name: str, study: str, offer: Offer) -> Batch:
        """Publish a batch, or the missing part of an interrupted one; a complete one is left as it is.

        :param study: the study's name in the store.
        :raises OptionError: if a batch of that name has published work with other terms.
        :raises CrowdError: if Mechanical Turk fails; the same call then resumes from there.
        """
        content = {"study": study, "live": self._is_live, "nonce": secrets.token_hex(8), "offer": offer.as_record()}
        if not self._ledger.steps("hit", name):  # nothing is published: terms that were refused can be corrected
            self._ledger.forget("batch", name)
        noted = self._ledger.begin("batch", name, name, content)
        self._check_same(name, noted, content)
        qualification = self._participation_qualification(name, study) if offer.only_once else None
        kind = asked(
            self._mturk.create_hit_type,  # the same terms always give the same type
            Title=offer.title,
            Description=offer.description,
            **({"Keywords": offer.keywords} if offer.keywords else {}),
            Reward=offer.reward,
            AssignmentDurationInSeconds=60 * offer.minutes,
            AutoApprovalDelayInSeconds=offer.approval_delay,
            QualificationRequirements=requirements(offer, qualification),
        )["HITTypeId"]
        for number, raters in enumerate(offer.hits, start=1):
            self._publish_hit(name, f"{noted.content['nonce']}-{number}", number, raters, kind, offer)
        self._ledger.finish("batch", name)
        return self.batch(name)

    def batch(self, name: str) -> Batch:
        """A batch recorded in the store.

        :raises OptionError: if it is unknown, or belongs to the sandbox while this is live, or vice versa.
        """
        found = {step.key: step for step in self._ledger.steps("batch")}
        if name not in found:
            what = f"--batch {name}: there is no such batch" if name else "--batch: name a batch"
            raise OptionError(f"{what}; the batches are: {', '.join(found) or 'none'}")
        content = found[name].content
        self._check_place(name, content["live"])
        hits = {hit: step.content["raters"] for step in self._ledger.steps("hit", name) if (hit := self._hit(step))}
        once = {step.key: step.result or "" for step in self._ledger.steps("qualification")}
        key = _qualification_key(content["study"], content["live"])
        qualification = once.get(key, "") if content["offer"]["only_once"] else ""
        return Batch(name, content["study"], content["live"], content["offer"], hits, qualification)

    def states(self, batch: Batch) -> list[HitState]:
        """The states of a batch's HITs."""
        return [_state(asked(self._mturk.get_hit, HITId=hit)["HIT"]) for hit in batch.hits]

    def close(self, batch: Batch) -> int:
        """Close a batch to further workers; those at work can finish, and are paid. Returns its number of HITs."""
        for hit in batch.hits:
            asked(self._mturk.update_expiration_for_hit, HITId=hit, ExpireAt=_LONG_AGO)
        return len(batch.hits)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _check_same(self, name: str, noted: Step, wanted: dict[str, Any]) -> None:
        self._check_place(name, noted.content["live"])
        before, now = ({"study": one["study"], **one["offer"]} for one in (noted.content, wanted))
        if other := next((key for key in now if before.get(key) != now[key]), None):
            raise OptionError(
                f"--batch {name} was published with {other} {before.get(other)!r}, now it is {now[other]!r}: "
                "a batch's terms cannot be changed; publish more work under another --batch"
            )

    def _check_place(self, name: str, is_live: bool) -> None:
        if is_live != self._is_live:
            raise OptionError(
                f"--batch {name} is {'live: pass --live true' if is_live else 'in the sandbox: leave out --live'}"
            )

    def _publish_hit(self, batch: str, token: str, number: int, raters: int, kind: str, offer: Offer) -> None:
        step = self._ledger.begin("hit", f"{batch}/{number}", batch, {"token": token, "raters": raters})
        if not step.is_new and self._hit(step):
            return
        try:
            hit = asked(
                self._mturk.create_hit_with_hit_type,
                HITTypeId=kind,
                MaxAssignments=raters,
                LifetimeInSeconds=offer.lifetime,
                Question=external_question(offer.url, offer.frame_height),
                RequesterAnnotation=token,
                UniqueRequestToken=token,
            )["HIT"]["HITId"]
        except CrowdError:
            if not self._hit(step):  # an earlier call may have made it, with its response lost
                raise
        else:
            self._ledger.finish("hit", step.key, hit)

    def _hit(self, step: Step) -> str | None:
        """The HIT of a step, also if a crash came before its id was recorded; None if it was not made."""
        if step.result:
            return step.result
        # Mechanical Turk remembers tokens only for a day, but lists all of our HITs.
        hits = every(self._mturk.list_hits, "HITs")
        token = step.content["token"]
        hit: str | None = next((hit["HITId"] for hit in hits if hit.get("RequesterAnnotation") == token), None)
        if hit:
            self._ledger.finish("hit", step.key, hit)
        return hit

    def _participation_qualification(self, batch: str, study: str) -> str:
        """The qualification of workers who have taken part in any batch of the study; created if missing."""
        key = _qualification_key(study, self._is_live)
        step = self._ledger.begin("qualification", key, batch)
        if step.result:
            return step.result
        digest = hashlib.sha256(study.encode()).hexdigest()[:6]
        name = f"Has taken part in {study[:60]} ({digest})"
        own = every(self._mturk.list_qualification_types, "QualificationTypes", **_own_qualifications(name))
        found = next((one["QualificationTypeId"] for one in own if one["Name"] == name), None)
        if found is None:
            found = asked(
                self._mturk.create_qualification_type,
                Name=name,
                Description="Given to those who have taken part, so that nobody is asked twice.",
                QualificationTypeStatus="Active",
            )["QualificationType"]["QualificationTypeId"]
        self._ledger.finish("qualification", key, found)
        return str(found)


def _own_qualifications(name: str) -> dict[str, Any]:
    return {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}


def _qualification_key(study: str, is_live: bool) -> str:
    return f"{study}/{'live' if is_live else 'sandbox'}"


def _state(hit: dict[str, Any]) -> HitState:
    return HitState(
        hit["HITId"],
        hit["HITStatus"],
        hit["MaxAssignments"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsCompleted"],
    )
