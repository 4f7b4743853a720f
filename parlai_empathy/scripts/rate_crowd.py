"""``parlai rate_crowd``: publish a rating site on Amazon Mechanical Turk, look at the work, pay it; links for Prolific.

::

    parlai rate_crowd link --url https://ratings.example.org/            the address for Prolific's page
    parlai rate_crowd publish --study ed --url https://... --reward 1.20     in the sandbox; for money with --live true
    parlai rate_crowd status --batch ed                                  who has handed in what
    parlai rate_crowd approve --batch ed [--workers W ...]
    parlai rate_crowd reject --batch ed --workers W --reason "..."
    parlai rate_crowd bonus --batch ed --amount 0.50 --reason "..." [--workers W ...]
    parlai rate_crowd close --batch ed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.rating import raters
from parlai_empathy.rating.crowd.batches import Batch, Batches
from parlai_empathy.rating.crowd.cost import bonus_cost, cost_lines, estimate, reward_fee
from parlai_empathy.rating.crowd.ledger import Ledger
from parlai_empathy.rating.crowd.links import prolific_link, rater_link
from parlai_empathy.rating.crowd.mturk import client
from parlai_empathy.rating.crowd.offer import Offer, dollars
from parlai_empathy.rating.crowd.work import REJECTED, SUBMITTED, Piece, Work
from parlai_empathy.rating.store import STORE, Store, open_store
from parlai_empathy.rating.study_file import STUDIES, read_study

_ACTIONS = ("publish", "status", "approve", "reject", "bonus", "close", "link")
_OFFER = ("raters", "per_hit", "minutes", "days", "approval_days", "frame_height", "approval_rate", "approved_hits")


@register_script("rate_crowd")
class RateCrowd(ParlaiScript):
    """Publish a rating site on Mechanical Turk, look at the work and pay it; make links for other marketplaces."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """What to do, with which batch, on which terms."""
        parser = ParlaiParser(True, False, "Raters from Amazon Mechanical Turk, Prolific and other marketplaces")
        # ParlAI looks at the command line before it has taken the command's name off: choices would refuse that.
        parser.add_argument("action", nargs="?", default=None, metavar="ACTION", help=f"One of: {', '.join(_ACTIONS)}.")
        _add_which(parser)
        _add_terms(parser)
        _add_payment(parser)
        parser.set_defaults(loglevel="warning")
        return parser

    def run(self) -> None:
        """Do it, and say what was done."""
        action = self.opt["action"]
        if action not in _ACTIONS:
            raise OptionError(f"{action or 'rate_crowd'}: say what to do, one of {', '.join(_ACTIONS)}")
        if action == "link":
            self._link()
            return
        store = open_store(self.opt["store"])
        try:
            self._ledger, self._mturk = Ledger(store), client(self.opt["live"])
            self._batches = Batches(self._ledger, self._mturk, self.opt["live"])
            if action == "publish":
                self._publish()
            else:
                batch = self._batches.batch(self._name())
                actions: dict[str, Callable[[Store, Batch], None]] = {
                    "status": self._status,
                    "approve": self._approve,
                    "reject": self._reject,
                    "bonus": self._bonus,
                    "close": self._close,
                }
                actions[action](store, batch)
        finally:
            store.close()

    # --- what can be done --------------------------------------------------------------------------------------------

    def _link(self) -> None:
        url, name = self._needed("url"), self.opt["id_parameter"]
        print(rater_link(url, name) if name else prolific_link(url))

    def _publish(self) -> None:
        study = read_study(self._needed("study"))
        opt = self.opt
        offer = Offer(
            url=self._needed("url"),
            title=opt["title"] or study.title,
            description=opt["description"] or study.title,
            reward=self._needed("reward"),
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

    def _status(self, store: Store, batch: Batch) -> None:
        for one in self._batches.states(batch):
            print(
                f"{one.hit}  {one.status}: {one.wanted} wanted, {one.available} free, {one.pending} at work, "
                f"{one.completed} judged"
            )
        for piece in self._work(store, batch).pieces():
            print(_line(piece))

    def _approve(self, store: Store, batch: Batch) -> None:
        work, workers = self._work(store, batch), self.opt["workers"]
        # Who was rejected is paid only if they are named.
        wanted = (SUBMITTED, REJECTED) if workers else (SUBMITTED,)
        pieces = [piece for piece in work.chosen(work.pieces(), workers) if piece.status in wanted]
        reward = dollars("reward", batch.offer["reward"])
        fee = reward_fee(reward, batch.offer["per_hit"])
        self._confirm_all(pieces, f"${reward} each", (reward + fee) * len(pieces))
        for piece in pieces:
            work.approve(piece, self.opt["reason"])
        print(f"{len(pieces)} approved")

    def _reject(self, store: Store, batch: Batch) -> None:
        if not self.opt["workers"]:
            raise OptionError("--workers: name those whose work is rejected")
        work = self._work(store, batch)
        pieces = work.chosen(work.pieces(), self.opt["workers"])
        count = sum(work.reject(piece, self.opt["reason"]) for piece in pieces)
        print(f"{count} rejected")

    def _bonus(self, store: Store, batch: Batch) -> None:
        work, reason = self._work(store, batch), self._needed("reason")
        amount = dollars("--amount", self._needed("amount"))
        # A bonus is for the person: who has handed in two pieces gets one.
        everybody = [piece for piece in work.chosen(work.pieces(), self.opt["workers"]) if piece.is_first]
        due = work.unpaid(everybody, amount, reason)
        self._confirm_all(due, f"${amount} each", bonus_cost([amount] * len(due)).total)
        for piece in due:
            work.bonus(piece, amount, reason)
        print(f"{len(due)} paid; {len(everybody) - len(due)} had had it before")

    def _close(self, store: Store, batch: Batch) -> None:
        print(f"{self._batches.close(batch)} HIT(s) closed: nobody else can take them")

    # --- inside ------------------------------------------------------------------------------------------------------

    def _work(self, store: Store, batch: Batch) -> Work:
        with store.reading() as t:
            known = raters.found(t, batch.study)
        return Work(self._ledger, self._mturk, batch, known)

    def _name(self) -> str:
        return str(self.opt["batch"] or self.opt["study"] or "")

    def _needed(self, name: str) -> str:
        if not self.opt[name]:
            raise OptionError(f"--{name} is needed to {self.opt['action']}")
        return str(self.opt[name])

    def _confirm_all(self, pieces: Sequence[Piece], each: str, total: Decimal) -> None:
        for piece in pieces:
            print(_line(piece))
        if pieces:
            print(f"{len(pieces)} of them, {each}: ${total:,} with Mechanical Turk's fee")
            self._confirm(total)

    def _confirm(self, total: Decimal) -> None:
        """Let the amount be typed before money is spent."""
        if not self.opt["live"] or self.opt["yes"]:
            return
        try:
            said = input(f"This spends money. Type {total} to go on: ")
        except EOFError:
            said = ""
        if said.strip() != str(total):
            raise OptionError("nothing was spent: the amount was not typed (--yes true asks for none)")


def _line(piece: Piece) -> str:
    done = "not known to the store" if piece.done is None else f"{piece.done} item(s) judged"
    notes = [] if piece.is_first else ["not this worker's first"]
    notes += [f"excluded: {piece.excluded}"] if piece.excluded else []
    return f"{piece.assignment}  {piece.worker}  {piece.status}: {'; '.join([done, *notes])}"


def _add_which(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Which work")
    group.add_argument("--study", default=None, metavar="STUDY", help=f"A file, or one of: {', '.join(STUDIES)}.")
    group.add_argument("--batch", default=None, metavar="NAME", help="What it is called; left out, as the study.")
    group.add_argument(
        "--store", default=STORE, metavar="URL", help="The ratings' store, where it is noted what was done and paid."
    )
    group.add_argument("--live", type="bool", default=False, help="Spend money; else everything is in the sandbox.")
    group.add_argument("--yes", type="bool", default=False, help="Spend it without asking.")


def _add_terms(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Terms of a batch")
    group.add_argument("--url", default=None, help="Of the rating site, https://...")
    group.add_argument(
        "--id-parameter", default=None, metavar="NAME", help="Of links to other marketplaces: what names the rater."
    )
    group.add_argument("--title", default=None, help="As workers read it; left out, the study's.")
    group.add_argument("--description", default=None, help="Likewise.")
    group.add_argument("--keywords", default="rating, dialogue, survey", help="By which workers search.")
    group.add_argument("--reward", default=None, metavar="DOLLARS", help="For one rater's work, such as 1.20.")
    group.add_argument("--raters", type=int, default=10, help="How many people.")
    group.add_argument(
        "--per-hit", type=int, default=9, help="How many of them share a HIT; from 10 on the fee is doubled."
    )
    group.add_argument("--minutes", type=int, default=60, help="In which a worker has to be done.")
    group.add_argument("--days", type=int, default=7, help="For which the work is offered.")
    group.add_argument("--approval-days", type=int, default=7, help="After which work is paid by itself.")
    group.add_argument("--frame-height", type=int, default=0, help="In pixels; 0: as the worker's window.")
    group.add_argument("--countries", nargs="*", default=[], metavar="US", help="Workers' countries; left out, any.")
    group.add_argument(
        "--approval-rate", type=int, default=98, help="Workers' approved work, in percent: more than this; 0: any."
    )
    group.add_argument("--approved-hits", type=int, default=100, help="Workers' approved pieces of work, at least.")
    group.add_argument(
        "--only-once", type="bool", default=True, help="Hide a batch from who has taken part in an earlier one."
    )


def _add_payment(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Payment")
    group.add_argument("--workers", nargs="*", default=[], metavar="ID", help="Whose work; left out, everybody's.")
    group.add_argument("--reason", default="", help="Why it is rejected or rewarded: the worker reads it.")
    group.add_argument("--amount", default=None, metavar="DOLLARS", help="Of a bonus, such as 0.50.")


if __name__ == "__main__":
    RateCrowd.main()
