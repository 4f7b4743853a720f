"""``parlai ratings_report``: what people's ratings say of systems, of the raters, and of automatic metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.metrics.cluster_bootstrap import CLUSTERS
from parlai_empathy.rating.names import TESTS, UNITS
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.ratings_options import add_ratings

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("ratings_report")
class RatingsReport(ParlaiScript):
    """Read ratings, say what is in them, print it, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Which ratings, and how they are to be read."""
        parser = command_parser("Say what people's ratings of systems show, and how sure it is")
        group = parser.add_argument_group("Ratings")
        add_ratings(group)
        group.add_argument(
            "--resample",
            choices=list(CLUSTERS),
            default="item",
            help="What the intervals draw anew: item, what other items would give; rater, what other people would say; "
            "both.",
        )
        group.add_argument(
            "--test",
            choices=list(TESTS),
            default="ranks",
            help="Of differences: ranks, Wilcoxon's by item, else Mann and Whitney's; permutation, of the means.",
        )
        group.add_argument(
            "--unit",
            choices=list(UNITS),
            default="item",
            help="What the sign test of comparisons counts: an item, by its raters' majority, or every rating.",
        )
        group.add_argument(
            "--check-tolerance",
            type=float,
            default=0.0,
            help="Points of a scale by which the answer to a gold check may differ; other answers must be right.",
        )
        group.add_argument("--exclude", default=None, help="CSV of raters to leave out, with rater and reason.")
        group.add_argument(
            "--exclude-flagged", type="bool", default=False, help="Leave out all raters whom a rule of quality saw."
        )
        group.add_argument(
            "--hide-raters",
            type="bool",
            default=False,
            help="Call raters by numbers, in a report that others will see; flagged.csv keeps their names.",
        )
        group.add_argument(
            "--items",
            default=None,
            help="items.jsonl of parlai score_responses --out, to set automatic metrics beside people's ratings.",
        )
        group.add_argument("--resamples", type=int, default=1000, help="Bootstrap samples, and random swaps.")
        group.add_argument("--seed", type=int, default=0, help="Decides which samples and swaps these are.")
        group.add_argument(
            "--out", default=None, help="Folder for the report (Markdown, HTML, JSON, CSV), its plots, flagged raters."
        )
        return parser

    def run(self) -> Report:
        """Make the report."""
        from parlai_empathy.scripts.runs import ratings_report

        return ratings_report.run(self.opt)


if __name__ == "__main__":
    RatingsReport.main()
