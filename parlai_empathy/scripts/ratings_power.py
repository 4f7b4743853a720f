"""``parlai ratings_power``: power analysis: ratings needed for a difference, and the smallest detectable difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.ratings_options import add_ratings

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report

_SAME_REPLY = 0.26
"""Krippendorff's alpha of Lee et al. 2022, which approximates the correlation of two ratings of one reply."""


@register_script("ratings_power")
class RatingsPower(ParlaiScript):
    """Compute numbers of ratings and detectable differences; print and save them."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the differences to detect, the power, the study's design."""
        parser = command_parser("Compute how many ratings are needed to detect a difference between two systems")
        group = parser.add_argument_group("Power")
        _add_targets(group)
        _add_design(group)
        add_ratings(group)
        group.add_argument(
            "--question", default=None, help="The question in --ratings to use; needed if there are several."
        )
        group.add_argument(
            "--runs", type=int, default=2000, help="Number of simulated studies that check the formulas."
        )
        group.add_argument("--seed", type=int, default=0, help="Seed for the simulated studies.")
        group.add_argument(
            "--out", default=None, help="Folder for the report (Markdown, HTML, JSON, CSV) and its plots."
        )
        return parser

    def run(self) -> Report:
        """Make the report, print it, and save it."""
        from parlai_empathy.scripts.runs import ratings_power

        return ratings_power.run(self.opt, _SAME_REPLY)


def _add_targets(group: Any) -> None:
    group.add_argument(
        "--difference",
        type=float,
        nargs="+",
        default=[],
        help="Differences of means to detect, in points of the scale.",
    )
    group.add_argument(
        "--win-rate", type=float, nargs="+", default=[], help="Win rates to detect: shares of decided comparisons."
    )
    group.add_argument(
        "--items",
        type=int,
        nargs="+",
        default=[],
        help="Numbers of items per system, to get the smallest difference that they can detect.",
    )
    group.add_argument(
        "--comparisons-made",
        type=int,
        nargs="+",
        default=[],
        help="Numbers of comparisons, ties included, to get the smallest win rate that they can detect.",
    )
    group.add_argument("--power", type=float, default=0.8, help="Probability of detecting a difference.")
    group.add_argument("--alpha", type=float, default=0.05, help="Two-sided significance level.")
    group.add_argument(
        "--tests", type=int, default=1, help="How many differences are tested at once: alpha is divided by it."
    )


def _add_design(group: Any) -> None:
    group.add_argument(
        "--sd", type=float, default=None, help="Standard deviation of a system's single ratings, in points."
    )
    group.add_argument("--raters", type=int, nargs="+", default=[1, 2, 3, 5], help="Raters per reply.")
    group.add_argument(
        "--same-reply",
        type=float,
        default=None,
        help=f"Correlation of two ratings of one reply; without --ratings {_SAME_REPLY}, as in Lee et al. 2022.",
    )
    group.add_argument(
        "--same-item",
        type=float,
        default=None,
        help="Correlation of ratings of two systems' replies to one item; without --ratings 0.",
    )
    group.add_argument("--paired", type="bool", default=True, help="Whether both systems reply to the same items.")
    group.add_argument("--ties", type=float, default=0.0, help="Share of comparisons that are ties, 0 to below 1.")


if __name__ == "__main__":
    RatingsPower.main()
