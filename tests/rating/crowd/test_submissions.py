"""Workers are paid exactly once, whatever goes wrong."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from botocore.stub import Stubber
from mturk_double import TERMS, Death, MturkDouble

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.batches import Batch, Batches
from parlai_empathy.rating.crowd.ledger import Ledger
from parlai_empathy.rating.crowd.mturk import client
from parlai_empathy.rating.crowd.offer import Offer
from parlai_empathy.rating.crowd.submissions import Piece, Work
from parlai_empathy.rating.desk.outcomes import Rater
from parlai_empathy.rating.storage.store import open_store

HALF, WHY = Decimal("0.50"), "You took great care."
RATERS = [Rater("mturk:V", 1.0, 2.0, None, 10, {}), Rater("mturk:W", 1.0, 2.0, "too fast", 4, {})]
PIECE = Piece("A1", "V", "H1", "Submitted", 10, None, True)


class Shop:
    """A batch of two HITs, with the work of three workers, one of whom submitted two pieces."""

    def __init__(self, folder: Path) -> None:
        self.ledger = Ledger(open_store(str(folder / "ratings.db")))
        self.mturk = MturkDouble()
        offer = Offer(**{**TERMS, "raters": 12})
        self.batch: Batch = Batches(self.ledger, self.mturk).publish("pilot", "herons", offer)
        first, second = self.batch.hits
        self.mturk.submit(second, "V", "A3", minute=9)
        self.mturk.submit(first, "V", "A1", minute=1)
        self.mturk.submit(first, "W", "A2", minute=2)
        self.mturk.submit(second, "X", "A4", minute=3)

    @property
    def work(self) -> Work:
        return Work(self.ledger, self.mturk, self.batch, RATERS)

    def pay(self) -> None:
        work = self.work
        for piece in work.unpaid(work.chosen(work.pieces(), []), HALF, WHY):
            work.bonus(piece, HALF, WHY)

    def approve(self) -> None:
        work = self.work
        for piece in work.chosen(work.pieces(), []):
            work.approve(piece)

    def statuses(self) -> dict[str, str]:
        return {id: one["AssignmentStatus"] for id, one in sorted(self.mturk.assignments.items())}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_pieces_include_rater_progress_and_exclusion(shop: Shop) -> None:
    pieces = {piece.assignment: piece for piece in shop.work.pieces()}
    assert (pieces["A1"].done, pieces["A1"].excluded, pieces["A1"].is_first) == (10, None, True)
    assert (pieces["A2"].done, pieces["A2"].excluded) == (4, "too fast")
    assert pieces["A4"].done is None
    assert not pieces["A3"].is_first  # V submitted A1 earlier


def test_participants_get_the_qualification_once(shop: Shop) -> None:
    shop.work.pieces()
    assert shop.mturk.holders == {(shop.batch.qualification, worker) for worker in "VWX"}
    before = shop.mturk.calls.count("associate_qualification_with_worker")
    shop.work.pieces()
    assert shop.mturk.calls.count("associate_qualification_with_worker") == before == 3


def test_one_piece_per_worker_is_approved(shop: Shop) -> None:
    shop.approve()
    assert shop.statuses() == {"A1": "Approved", "A2": "Approved", "A3": "Submitted", "A4": "Approved"}
    named = shop.work.chosen(shop.work.pieces(), ["V"])
    assert [piece.assignment for piece in named] == ["A1", "A3"]


def test_repeated_approval_does_nothing(shop: Shop) -> None:
    shop.approve()
    calls = shop.mturk.calls.count("approve_assignment")
    shop.approve()
    assert shop.mturk.calls.count("approve_assignment") == calls == 3


def test_approval_succeeds_if_already_approved_at_mturk(shop: Shop) -> None:
    [piece] = [piece for piece in shop.work.pieces() if piece.assignment == "A1"]
    shop.mturk.assignments["A1"]["AssignmentStatus"] = "Approved"  # the piece still has its old status
    assert shop.work.approve(piece)


def test_rejection_needs_a_reason_and_can_be_reversed(shop: Shop) -> None:
    def piece() -> Piece:
        return next(piece for piece in shop.work.pieces() if piece.assignment == "A2")

    with pytest.raises(OptionError, match="--reason"):
        shop.work.reject([piece()], " ")
    assert shop.work.reject([piece()], "Every answer was 3.") == 1
    assert shop.mturk.assignments["A2"]["RequesterFeedback"] == "Every answer was 3."
    assert shop.work.reject([piece()], "Every answer was 3.") == 0
    assert shop.work.approve(piece())
    assert shop.statuses()["A2"] == "Approved"
    with pytest.raises(OptionError, match="can no longer be rejected"):
        shop.work.reject([piece()], "But then again.")


def test_second_piece_can_be_rejected_after_the_first_was_approved(shop: Shop) -> None:
    def pieces() -> list[Piece]:
        return shop.work.chosen(shop.work.pieces(), ["V"])

    shop.approve()
    assert shop.work.reject(pieces(), "You had judged everything before.") == 1
    assert (shop.statuses()["A1"], shop.statuses()["A3"]) == ("Approved", "Rejected")
    assert shop.work.reject(pieces(), "You had judged everything before.") == 0


def test_nothing_is_rejected_if_all_work_of_one_worker_was_approved(shop: Shop) -> None:
    first, second, *_ = shop.work.pieces()
    shop.work.approve(second)
    with pytest.raises(OptionError, match=f"--workers {second.worker}: their work was approved"):
        shop.work.reject([first, *shop.work.pieces()], "Every answer was 3.")
    assert "Rejected" not in shop.statuses().values()


def test_bonus_is_paid_once_per_reason_and_amount(shop: Shop) -> None:
    shop.pay()
    shop.pay()
    assert [(one["WorkerId"], one["BonusAmount"]) for one in shop.mturk.bonuses] == [
        ("V", "0.50"),
        ("W", "0.50"),
        ("X", "0.50"),
    ]
    work = shop.work
    piece = work.pieces()[0]
    assert work.unpaid([piece], HALF, "For something else.") == [piece]
    assert work.unpaid([piece], Decimal("0.60"), WHY) == [piece]


# Ten calls: list the work of two HITs, grant three qualifications, list the bonuses of two HITs, send three bonuses.
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("dies_at", range(1, 11))
def test_no_bonus_is_paid_twice_despite_crashes(shop: Shop, dies_at: int, after: bool, forgets: bool) -> None:
    shop.mturk.calls.clear()
    shop.mturk.dies_at, shop.mturk.after = dies_at, after
    with pytest.raises(Death):
        shop.pay()
    shop.mturk.forgets_tokens = forgets
    shop.pay()
    shop.pay()
    assert sorted(one["AssignmentId"] for one in shop.mturk.bonuses) == ["A1", "A2", "A4"]


def test_no_bonus_is_paid_twice_from_another_store(shop: Shop, tmp_path: Path) -> None:
    shop.pay()
    shop.ledger = Ledger(open_store(str(tmp_path / "other.db")))
    shop.mturk.forgets_tokens = True
    shop.pay()
    assert len(shop.mturk.bonuses) == 3


def test_worker_without_submission_raises_option_error(shop: Shop) -> None:
    with pytest.raises(OptionError, match="--workers Z: they have submitted nothing in the batch pilot"):
        shop.work.chosen(shop.work.pieces(), ["Z"])


def test_payment_calls_match_boto3_api(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    mturk = client()
    work = Work(shop.ledger, mturk, shop.batch, RATERS)
    with Stubber(mturk) as stub:
        stub.add_response(
            "approve_assignment", {}, {"AssignmentId": "A1", "OverrideRejection": False, "RequesterFeedback": "Thanks"}
        )
        work.approve(PIECE, "Thanks")
        stub.add_response("reject_assignment", {}, {"AssignmentId": "A1", "RequesterFeedback": "Blank"})
        work.reject([PIECE], "Blank")
        stub.add_response("list_bonus_payments", {"BonusPayments": []}, {"HITId": "H1", "MaxResults": 100})
        assert work.unpaid([PIECE], HALF, WHY) == [PIECE]
        stub.add_response("send_bonus", {})
        work.bonus(PIECE, HALF, WHY)
        stub.assert_no_pending_responses()
        # Mechanical Turk's own record counts, even if ours is lost.
        paid = {"WorkerId": "V", "BonusAmount": "0.5", "AssignmentId": "A9", "Reason": WHY}
        stub.add_response("list_bonus_payments", {"BonusPayments": [paid]})
        assert work.unpaid([PIECE._replace(assignment="A9")], HALF, WHY) == []
