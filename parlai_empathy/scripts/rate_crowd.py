"""``parlai rate_crowd``: publish a rating site on Amazon Mechanical Turk, review and pay the work; link to Prolific.

::

    parlai rate_crowd link --url https://ratings.example.org/            the address for Prolific's page
    parlai rate_crowd publish --study ed --url https://... --reward 1.20     in the sandbox; for money with --live true
    parlai rate_crowd status --batch ed                                  who has submitted what
    parlai rate_crowd approve --batch ed [--workers W ...]
    parlai rate_crowd reject --batch ed --workers W --reason "..."
    parlai rate_crowd bonus --batch ed --amount 0.50 --reason "..." [--workers W ...]
    parlai rate_crowd close --batch ed
"""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.names import ON_SITE, STORE
from parlai_empathy.scripts.parts.command_parser import command_parser

_ACTIONS = ("publish", "status", "approve", "reject", "bonus", "close", "link")


@register_script("rate_crowd")
class RateCrowd(ParlaiScript):
    """Publish a rating site on Mechanical Turk, review the work and pay it; make links for other marketplaces."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the action, the batch, its terms, the payment."""
        parser = command_parser("Get raters from Amazon Mechanical Turk, Prolific and other marketplaces")
        # No `choices`: ParlAI first parses a command line that still starts with the command's name.
        parser.add_argument("action", nargs="?", default=None, metavar="ACTION", help=f"One of: {', '.join(_ACTIONS)}.")
        _add_batch(parser)
        _add_terms(parser)
        _add_payment(parser)
        parser.set_defaults(loglevel="warning")
        return parser

    def run(self) -> None:
        """Carry out the action and report what was done."""
        from parlai_empathy.scripts.runs import rate_crowd

        action = self.opt["action"]
        if action not in _ACTIONS:
            raise OptionError(f"{action or 'rate_crowd'}: name an action, one of {', '.join(_ACTIONS)}")
        rate_crowd.run(self.opt)


def _add_batch(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Which work")
    group.add_argument("--study", default=None, metavar="STUDY", help=f"A file, or one of: {', '.join(ON_SITE)}.")
    group.add_argument(
        "--batch", default=None, metavar="NAME", help="Name of the batch; by default, that of the study."
    )
    group.add_argument(
        "--store", default=STORE, metavar="URL", help="The store of ratings, which also records what was done and paid."
    )
    group.add_argument(
        "--live", type="bool", default=False, help="Spend real money; without it everything happens in the sandbox."
    )
    group.add_argument("--yes", type="bool", default=False, help="Spend it without asking for confirmation.")


def _add_terms(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Terms of a batch")
    group.add_argument("--url", default=None, help="Address of the rating site, https://...")
    group.add_argument(
        "--id-parameter",
        default=None,
        metavar="NAME",
        help="For links of other marketplaces: name of the parameter that holds the rater's id.",
    )
    group.add_argument("--title", default=None, help="Title that workers see; by default, the study's.")
    group.add_argument(
        "--description", default=None, help="Description that workers see; by default, the study's title."
    )
    group.add_argument("--keywords", default="rating, dialogue, survey", help="Keywords for workers' searches.")
    group.add_argument(
        "--reward", default=None, metavar="DOLLARS", help="Reward for one rater's work, in dollars, such as 1.20."
    )
    group.add_argument("--raters", type=int, default=10, help="Number of raters.")
    group.add_argument("--per-hit", type=int, default=9, help="Raters per HIT; from 10 on the fee doubles.")
    group.add_argument("--minutes", type=int, default=60, help="Minutes that a worker has for the work.")
    group.add_argument("--days", type=int, default=7, help="Days for which the work is offered.")
    group.add_argument("--approval-days", type=int, default=7, help="Days after which unreviewed work is paid.")
    group.add_argument(
        "--frame-height", type=int, default=0, help="Height of the frame in pixels; 0: that of the worker's window."
    )
    group.add_argument("--countries", nargs="+", default=[], metavar="US", help="Workers' countries; by default, any.")
    group.add_argument(
        "--approval-rate",
        type=int,
        default=98,
        help="Workers must have more than this percentage of their work approved; 0: any.",
    )
    group.add_argument(
        "--approved-hits", type=int, default=100, help="Workers must have at least this many approved HITs."
    )
    group.add_argument(
        "--only-once",
        type="bool",
        default=True,
        help="Hide the batch from workers who have taken part in an earlier one.",
    )


def _add_payment(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Payment")
    group.add_argument(
        "--workers",
        nargs="+",  # without a name, as from an empty list in a script, it must not mean all workers
        default=[],
        metavar="ID",
        help="Workers to whom the action applies; by default, all (reject needs names).",
    )
    group.add_argument("--reason", default="", help="Reason for a rejection or a bonus, which the worker will read.")
    group.add_argument("--amount", default=None, metavar="DOLLARS", help="Amount of a bonus, in dollars, such as 0.50.")


if __name__ == "__main__":
    RateCrowd.main()
