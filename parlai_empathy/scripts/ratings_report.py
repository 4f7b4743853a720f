"""``parlai ratings_report``: analyse people's ratings: systems, raters, correlation with automatic metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.rating.names import TESTS, UNITS
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.ratings_options import add_ratings
from parlai_empathy.statistics.cluster_bootstrap import CLUSTERS

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("ratings_report")
class RatingsReport(ParlaiScript):
    """Analyse ratings, print the report, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the ratings, and how to analyse them."""
        parser = command_parser("Analyse people's ratings of systems: means, differences, agreement, raters")
        group = parser.add_argument_group("Ratings")
        add_ratings(group)
        group.add_argument(
            "--resample",
            choices=list(CLUSTERS),
            default="item",
            help="What the bootstrap resamples: items (what would other items give?), raters (what would "
            "other people say?) or both.",
        )
        group.add_argument(
            "--test",
            choices=list(TESTS),
            default="ranks",
            help="Test of differences. ranks: Wilcoxon's signed-rank test for paired items, else "
            "Mann-Whitney. permutation: of the means.",
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
        group.add_argument(
            "--exclude", default=None, help="CSV file of raters to leave out, with the columns rater and reason."
        )
        group.add_argument(
            "--exclude-flagged", type="bool", default=False, help="Leave out all raters flagged by a quality rule."
        )
        group.add_argument(
            "--hide-raters",
            type="bool",
            default=False,
            help="Replace raters' names by numbers, for a report that others will see; flagged.csv keeps the names.",
        )
        group.add_argument(
            "--items",
            default=None,
            help="items.jsonl of parlai score_responses --out, to correlate automatic metrics with people's ratings.",
        )
        group.add_argument(
            "--resamples", type=int, default=1000, help="Bootstrap samples for intervals, and random swaps for tests."
        )
        group.add_argument("--seed", type=int, default=0, help="Seed for the samples and swaps.")
        group.add_argument(
            "--out", default=None, help="Folder for the report (Markdown, HTML, JSON, CSV), its plots, and flagged.csv."
        )
        return parser

    def run(self) -> Report:
        """Make the report, print it, and save it."""
        from parlai_empathy.scripts.runs import ratings_report

        return ratings_report.run(self.opt)


if __name__ == "__main__":
    RatingsReport.main()
