"""Which workers may take the work; the ids are from Mechanical Turk's documentation."""

from __future__ import annotations

from mturk_double import TERMS

from parlai_empathy.rating.crowd.offer import Offer
from parlai_empathy.rating.crowd.qualifications import requirements


def test_offer_with_all_conditions_gives_all_requirements() -> None:
    offer = Offer(**TERMS, countries=("US", "CA"), approval_rate=80, approved_hits=500)
    guarded = {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    assert requirements(offer, "Q1") == [
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "In",
            "LocaleValues": [{"Country": "US"}, {"Country": "CA"}],
            **guarded,
        },
        {
            "QualificationTypeId": "000000000000000000L0",
            "Comparator": "GreaterThan",
            "IntegerValues": [80],
            **guarded,
        },
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [500],
            **guarded,
        },
        {"QualificationTypeId": "Q1", "Comparator": "DoesNotExist", **guarded},
    ]


def test_offer_without_conditions_gives_no_requirements() -> None:
    assert requirements(Offer(**TERMS, approval_rate=0, approved_hits=0), None) == []
