"""Publishing: calls are valid for Amazon's library, and each HIT is published once even if the process dies."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from botocore.stub import Stubber
from mturk_double import TERMS, Death, MturkDouble

from parlai_empathy.errors import CrowdError, OptionError
from parlai_empathy.rating.crowd.batches import Batches
from parlai_empathy.rating.crowd.external_question import external_question
from parlai_empathy.rating.crowd.ledger import Ledger
from parlai_empathy.rating.crowd.mturk import client
from parlai_empathy.rating.crowd.offer import Offer
from parlai_empathy.rating.storage.store import open_store

OFFER = Offer(**TERMS)  # 20 raters, nine per HIT: three HITs


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(open_store(str(tmp_path / "ratings.db")))


def test_publishing_calls_match_boto3_api(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    mturk = client()
    offer = Offer(**{**TERMS, "raters": 3}, keywords="rating", countries=("US",))
    with Stubber(mturk) as stub:  # validates names, types and lengths
        stub.add_response("list_qualification_types", {"QualificationTypes": []})
        stub.add_response("create_qualification_type", {"QualificationType": {"QualificationTypeId": "Q1"}})
        stub.add_response(
            "create_hit_type",
            {"HITTypeId": "T1"},
            {
                "Title": "Judge answers",
                "Description": "Ten short answers.",
                "Keywords": "rating",
                "Reward": "1.20",
                "AssignmentDurationInSeconds": 3600,
                "AutoApprovalDelayInSeconds": 604_800,
                "QualificationRequirements": ANY,
            },
        )
        stub.add_response(
            "create_hit_with_hit_type",
            {"HIT": {"HITId": "H1"}},
            {
                "HITTypeId": "T1",
                "MaxAssignments": 3,
                "LifetimeInSeconds": 604_800,
                "Question": external_question(TERMS["url"]),
                "RequesterAnnotation": ANY,
                "UniqueRequestToken": ANY,
            },
        )
        batches = Batches(ledger, mturk)
        batch = batches.publish("pilot", "herons", offer)
        stub.assert_no_pending_responses()
        stub.add_response("update_expiration_for_hit", {}, {"HITId": "H1", "ExpireAt": ANY})
        assert batches.close(batch) == 1
    assert (batch.hits, batch.qualification, batch.study, batch.is_live) == ({"H1": 3}, "Q1", "herons", False)


def test_republishing_a_batch_creates_nothing(ledger: Ledger) -> None:
    mturk = MturkDouble()
    first = Batches(ledger, mturk).publish("pilot", "herons", OFFER)
    assert Batches(ledger, mturk).publish("pilot", "herons", OFFER) == first
    assert [hit["MaxAssignments"] for hit in mturk.hits.values()] == [9, 9, 2]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("dies_at", range(1, 7))
def test_each_hit_is_published_once_despite_crashes(ledger: Ledger, dies_at: int, after: bool, forgets: bool) -> None:
    # Six calls: find the qualification, create it, create the HIT type and three HITs. Tokens expire after a day.
    mturk = MturkDouble(dies_at, after)
    with pytest.raises(Death):
        Batches(ledger, mturk).publish("pilot", "herons", OFFER)
    mturk.forgets_tokens = forgets
    batch = Batches(ledger, mturk).publish("pilot", "herons", OFFER)
    assert [hit["MaxAssignments"] for hit in mturk.hits.values()] == [9, 9, 2]
    assert sorted(batch.hits) == sorted(mturk.hits)
    assert len(mturk.qualifications) == 1


@pytest.mark.parametrize("dies_at", [4, 5, 6])
def test_hit_whose_creation_crashed_can_be_closed(ledger: Ledger, dies_at: int) -> None:
    mturk = MturkDouble(dies_at, after=True)
    with pytest.raises(Death):
        Batches(ledger, mturk).publish("pilot", "herons", OFFER)
    batches = Batches(ledger, mturk)
    batch = batches.batch("pilot")
    assert list(batch.hits.items()) == list(zip(mturk.hits, [9, 9, 2], strict=False))
    assert batches.close(batch) == dies_at - 3
    assert all("ExpireAt" in hit for hit in mturk.hits.values())


def test_retried_hit_creation_publishes_hit_once(ledger: Ledger) -> None:
    # The library retries by itself, and Mechanical Turk answers that the HIT already exists.
    class Lossy(MturkDouble):
        def _create_hit_with_hit_type(self, **arguments: Any) -> Any:
            super()._create_hit_with_hit_type(**arguments)
            return super()._create_hit_with_hit_type(**arguments)

    mturk = Lossy()
    assert len(Batches(ledger, mturk).publish("pilot", "herons", OFFER).hits) == 3
    assert len(mturk.hits) == 3


def test_mturk_refusal_raises_crowd_error(ledger: Ledger) -> None:
    class Poor(MturkDouble):
        def _create_hit_with_hit_type(self, **arguments: Any) -> Any:
            from mturk_double import refused

            raise refused("AWS.MechanicalTurk.InsufficientFunds")

    with pytest.raises(CrowdError, match="InsufficientFunds"):
        Batches(ledger, Poor()).publish("pilot", "herons", OFFER)


def test_published_terms_cannot_be_changed(ledger: Ledger) -> None:
    batches = Batches(ledger, MturkDouble())
    batches.publish("pilot", "herons", OFFER)
    with pytest.raises(OptionError, match=r"--batch pilot was published with reward '1\.20', now it is '2\.00'"):
        batches.publish("pilot", "herons", Offer(**{**TERMS, "reward": "2.00"}))
    with pytest.raises(OptionError, match="study 'herons', now it is 'egrets'"):
        batches.publish("pilot", "egrets", OFFER)


def test_refused_terms_can_be_corrected(ledger: Ledger) -> None:
    class Strict(MturkDouble):
        def _create_hit_type(self, Reward: str, **_: Any) -> Any:
            from mturk_double import refused

            if Reward != "2.00":
                raise refused("ValidationException")
            return {"HITTypeId": "TYPE"}

    batches = Batches(ledger, Strict())
    with pytest.raises(CrowdError, match=r"ValidationException.*: fix this, then run the command again"):
        batches.publish("pilot", "herons", OFFER)
    assert len(batches.publish("pilot", "herons", Offer(**{**TERMS, "reward": "2.00"})).hits) == 3
    with pytest.raises(OptionError, match=r"--batch pilot was published with reward '2\.00', now it is '1\.20'"):
        batches.publish("pilot", "herons", OFFER)


def test_sandbox_and_live_batches_cannot_be_mixed(ledger: Ledger) -> None:
    Batches(ledger, MturkDouble()).publish("pilot", "herons", OFFER)
    live = Batches(ledger, MturkDouble(), is_live=True)
    with pytest.raises(OptionError, match="in the sandbox: leave out --live"):
        live.publish("pilot", "herons", OFFER)
    live.publish("main", "herons", OFFER)
    with pytest.raises(OptionError, match="is live: pass --live true"):
        Batches(ledger, MturkDouble()).batch("main")


def test_batches_of_one_study_share_a_qualification(ledger: Ledger) -> None:
    mturk = MturkDouble()
    batches = Batches(ledger, mturk)
    first, second = (batches.publish(name, "herons", OFFER) for name in ("one", "two"))
    other = batches.publish("three", "egrets", OFFER)
    assert first.qualification == second.qualification != other.qualification
    assert batches.publish("four", "herons", Offer(**TERMS, only_once=False)).qualification == ""


def test_unknown_batch_raises_option_error(ledger: Ledger) -> None:
    with pytest.raises(OptionError, match="--batch pilot: there is no such batch; the batches are: none"):
        Batches(ledger, MturkDouble()).batch("pilot")


def test_states_report_wanted_available_and_completed(ledger: Ledger) -> None:
    mturk = MturkDouble()
    batches = Batches(ledger, mturk)
    states = batches.states(batches.publish("pilot", "herons", OFFER))
    assert [(one.wanted, one.available, one.completed) for one in states] == [(9, 9, 0), (9, 9, 0), (2, 2, 0)]
