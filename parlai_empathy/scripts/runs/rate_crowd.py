"""Implementation of ``parlai rate_crowd``: publishes a rating site, reviews and pays the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from decimal import Decimal

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.options.common import flag
from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.batches import Batch, Batches
from parlai_empathy.rating.crowd.cost import bonus_cost, cost_lines, estimate, reward_fee
from parlai_empathy.rating.crowd.ledger import Ledger
from parlai_empathy.rating.crowd.links import prolific_link, rater_link
from parlai_empathy.rating.crowd.mturk import client
from parlai_empathy.rating.crowd.offer import Offer, dollars
from parlai_empathy.rating.crowd.submissions import APPROVED, REJECTED, Piece, Work
from parlai_empathy.rating.desk import raters
from parlai_empathy.rating.site.pages import check_kind
from parlai_empathy.rating.storage.store import Store, open_store
from parlai_empathy.rating.study.study_file import name_and_kind, read_study

_OFFER = ("raters", "per_hit", "minutes", "days", "approval_days", "frame_height", "approval_rate", "approved_hits")

# The actions that use an option; with another one it is refused, because it would say more than is done.
_USED_BY = {
    **dict.fromkeys(("title", "description", "reward", "countries"), ("publish",)),
    "url": ("publish", "link"),
    "id_parameter": ("link",),
    **dict.fromkeys(("workers", "reason"), ("approve", "reject", "bonus")),
    "amount": ("bonus",),
}


def run(opt: Opt) -> None:
    """Carry out the action and print what was done."""
    _check_used(opt)
    if opt["action"] == "link":
        _link(opt)
        return
    with closing(open_store(opt["store"], may_make=opt["action"] == "publish")) as store:
        _Crowd(opt, store).act()


def _check_used(opt: Opt) -> None:
    for name, actions in _USED_BY.items():
        if opt[name] and opt["action"] not in actions:
            raise OptionError(f"{flag(name)}: {opt['action']} does not use it, only {', '.join(actions)}: leave it out")


def _link(opt: Opt) -> None:
    url, name = _needed(opt, "url"), opt["id_parameter"]
    print(rater_link(url, name) if name else prolific_link(url))


def _needed(opt: Opt, name: str) -> str:
    if not opt[name]:
        raise OptionError(f"{flag(name)} is needed to {opt['action']}")
    return str(opt[name])


class _Crowd:
    """The actions that involve Mechanical Turk, one method each; the store records what was done."""

    def __init__(self, opt: Opt, store: Store) -> None:
        self._opt, self._store = opt, store
        self._ledger, self._mturk = Ledger(store), client(opt["live"])
        self._batches = Batches(self._ledger, self._mturk, opt["live"])

    def act(self) -> None:
        """Carry out the action."""
        action = self._opt["action"]
        if action == "publish":
            self._publish()
            return
        actions: dict[str, Callable[[Batch], None]] = {
            "status": self._status,
            "approve": self._approve,
            "reject": self._reject,
            "bonus": self._bonus,
            "close": self._close,
        }
        batch = self._batches.batch(self._name())
        actions[action](batch)

    def _publish(self) -> None:
        study = read_study(_needed(self._opt, "study"))
        check_kind(study)
        opt = self._opt
        offer = Offer(
            url=_needed(opt, "url"),
            title=opt["title"] or study.title,
            description=opt["description"] or study.title,
            reward=_needed(opt, "reward"),
            keywords=opt["keywords"],
            countries=tuple(opt["countries"]),
            only_once=opt["only_once"],
            **{name: opt[name] for name in _OFFER},
        )
        print("\n".join(cost_lines(offer)))
        self._confirm(estimate(offer).total)
        batch = self._batches.publish(opt["batch"] or study.name, study.name, offer)
        where = "https://worker.mturk.com" if batch.is_live else "https://workersandbox.mturk.com"
        print(f"Batch {batch.name}: {len(batch.hits)} HIT(s) at {where}")

    def _status(self, batch: Batch) -> None:
        for one in self._batches.states(batch):
            print(
                f"{one.hit}  {one.status}: {one.wanted} wanted, {one.available} available, {one.pending} in progress, "
                f"{one.completed} reviewed"
            )
        for piece in self._work(batch).pieces():
            print(_line(piece))

    def _approve(self, batch: Batch) -> None:
        work = self._work(batch)
        pieces = [piece for piece in self._chosen(work) if piece.status != APPROVED]
        reward = dollars("reward", batch.offer["reward"])
        total = sum((reward + reward_fee(reward, batch.hits[piece.hit]) for piece in pieces), Decimal(0))
        self._confirm_all(pieces, f"${reward} each", total)
        for piece in pieces:
            work.approve(piece, self._opt["reason"])
        print(f"{len(pieces)} approved")

    def _reject(self, batch: Batch) -> None:
        if not self._opt["workers"]:
            raise OptionError("--workers: name the workers whose work to reject")
        work = self._work(batch)
        count = work.reject(work.chosen(work.pieces(), self._opt["workers"]), self._opt["reason"])
        print(f"{count} rejected")

    def _bonus(self, batch: Batch) -> None:
        work, reason = self._work(batch), _needed(self._opt, "reason")
        amount = dollars("--amount", _needed(self._opt, "amount"))
        # A bonus is per worker: one who has submitted two assignments gets it once.
        everybody = [piece for piece in self._chosen(work) if piece.is_first]
        due = work.unpaid(everybody, amount, reason)
        self._confirm_all(due, f"${amount} each", bonus_cost([amount] * len(due)).total)
        for piece in due:
            work.bonus(piece, amount, reason)
        print(f"{len(due)} paid; {len(everybody) - len(due)} already had it")

    def _close(self, batch: Batch) -> None:
        print(f"{self._batches.close(batch)} HIT(s) closed: nobody else can take them")

    def _work(self, batch: Batch) -> Work:
        with self._store.reading() as t:
            known = raters.found(t, batch.study)
        return Work(self._ledger, self._mturk, batch, known)

    def _chosen(self, work: Work) -> list[Piece]:
        """Return the assignments to pay: all of ``--workers``; without it, each worker's first, unless rejected."""
        workers = self._opt["workers"]
        pieces = work.chosen(work.pieces(), workers)
        return pieces if workers else [piece for piece in pieces if piece.status != REJECTED]

    def _name(self) -> str:
        batch, study = self._opt["batch"], self._opt["study"]
        return str(batch or (name_and_kind(study)[0] if study else ""))

    def _confirm_all(self, pieces: Sequence[Piece], each: str, total: Decimal) -> None:
        for piece in pieces:
            print(_line(piece))
        if pieces:
            print(f"{len(pieces)} assignment(s), {each}: ${total:,} with Mechanical Turk's fee")
            self._confirm(total)

    def _confirm(self, total: Decimal) -> None:
        """Have the user type the amount before real money is spent; ``--yes`` skips this."""
        if not self._opt["live"] or self._opt["yes"]:
            return
        try:
            said = input(f"This spends money. Type {total} to continue: ")
        except EOFError:
            said = ""
        if said.strip() != str(total):
            raise OptionError("nothing was spent: the amount was not typed (--yes true skips this question)")


def _line(piece: Piece) -> str:
    done = "unknown to the store" if piece.done is None else f"{piece.done} item(s) judged"
    notes = [] if piece.is_first else ["not this worker's first"]
    notes += [f"excluded: {piece.excluded}"] if piece.excluded else []
    return f"{piece.assignment}  {piece.worker}  {piece.status}: {'; '.join([done, *notes])}"
