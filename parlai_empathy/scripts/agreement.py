"""``parlai agreement``: how far raters agree, in HUMOD or in any file of ratings."""

from __future__ import annotations

from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.ratings_file import by_unit, ratings_of
from parlai_empathy.reports.agreement import HUMOD_KAPPAS, agreement_report
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.parts.ratings_options import check_scale
from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import build
from parlai_empathy.tasks.humod.options import add_file_options
from parlai_empathy.tasks.humod.reader import SCALE


@register_script("agreement")
class AgreementOfRaters(ParlaiScript):
    """Measure agreement, print it, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Whose ratings."""
        parser = ParlaiParser(True, False, "Measure how far raters agree, in HUMOD or in a file of ratings")
        group = parser.add_argument_group("Agreement")
        group.add_argument(
            "--ratings",
            default=None,
            help="A .csv or .jsonl file with item, rater, rating and perhaps question; left out, HUMOD's ratings.",
        )
        group.add_argument(
            "--scale",
            nargs="*",
            type=float,
            default=None,
            help="All values that a rating in --ratings can have; left out, those that occur.",
        )
        group.add_argument("--out", default=None, help="Folder for the report and its plots.")
        group.add_argument("--seed", type=int, default=0, help="Decides which two ratings are taken, and resamples.")
        group.add_argument("--resamples", type=int, default=1000, help="Bootstrap samples for the intervals.")
        add_file_options(parser.add_argument_group("HUMOD"))
        return parser

    def run(self) -> Report:
        """Make the report."""
        report = self._of_file() if self.opt["ratings"] else self._of_humod()
        report.show(self.opt["out"])
        return report

    def _of_file(self) -> Report:
        path, scale = Path(self.opt["ratings"]), self.opt["scale"]
        check_scale(scale)
        ratings = by_unit(ratings_of(path, scale, self.opt["skip_bad_rows"]))
        questions = {question: list(units.values()) for question, units in ratings.items()}
        if not questions:
            raise NotComputableError(f"{path} holds no rating: a row with a rating is needed below the header")
        return agreement_report(questions, scale, f"Agreement: {path.name}", self.opt["seed"], self.opt["resamples"])

    def _of_humod(self) -> Report:
        path = build(self.opt)
        pairs = read_pairs(path, self.opt["skip_bad_rows"])
        ratings = [pair.ratings for pair in pairs if pair.ratings]
        if not ratings:
            raise NotComputableError(f"{path} holds no single ratings, only their means: take the official file")
        if len(ratings) < len(pairs):
            logging.warning(f"{path}: left out {len(pairs) - len(ratings):,} pair(s) without single ratings")
        title = f"HUMOD: agreement of raters ({path.name})"
        return agreement_report(
            {"relevance": ratings}, SCALE, title, self.opt["seed"], self.opt["resamples"], HUMOD_KAPPAS
        )


if __name__ == "__main__":
    AgreementOfRaters.main()
