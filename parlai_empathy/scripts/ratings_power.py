"""``parlai ratings_power``: how many ratings a difference needs, and how small a difference so many ratings show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.likert_power import LikertDesign
from parlai_empathy.metrics.power import check_power
from parlai_empathy.rating.analysis.answers import named, sort_answers
from parlai_empathy.rating.analysis.spread import Spread, spread
from parlai_empathy.rating.rating import Rating
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.reports.csv_tables import save_tables
from parlai_empathy.reports.plots import Plot
from parlai_empathy.reports.ratings_power import Aim, Scale, likert_needed, likert_seen, wins_needed, wins_seen
from parlai_empathy.reports.report import Report, Table
from parlai_empathy.scripts.parts.ratings_options import add_ratings, check_scale

_SAME_REPLY = 0.26
"""Krippendorff's alpha of Lee et al. 2022, which is nearly a correlation of two ratings of one reply."""

_SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)


@register_script("ratings_power")
class RatingsPower(ParlaiScript):
    """Compute, print, and save."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """What one wants to see, and how sure."""
        parser = ParlaiParser(True, False, "Say how many ratings a difference between two systems needs")
        group = parser.add_argument_group("Power")
        _add_wishes(group)
        _add_design(group)
        add_ratings(group)
        group.add_argument(
            "--question", default=None, help="Of --ratings, the question to measure; needed where there are several."
        )
        group.add_argument("--runs", type=int, default=2000, help="Studies that are drawn, to check the formulas.")
        group.add_argument("--seed", type=int, default=0, help="Decides which studies these are.")
        group.add_argument(
            "--out", default=None, help="Folder for the report (Markdown, HTML, JSON, CSV) and its plots."
        )
        return parser

    def run(self) -> Report:
        """Make the report."""
        opt = self.opt
        self._check()
        tables: list[Table] = []
        plots: list[Plot] = []
        if opt["difference"] or opt["items"]:
            more, drawn = self._likert()
            tables, plots = [*tables, *more], [*plots, *drawn]
        if opt["win_rate"]:
            table, drawn = wins_needed(opt["win_rate"], opt["ties"], self._aim())
            tables, plots = [*tables, table], [*plots, *drawn]
        if opt["comparisons_made"]:
            tables.append(wins_seen(opt["comparisons_made"], opt["ties"], self._aim()))
        report = Report("Power of ratings", tables, plots)
        report.show(opt["out"])
        if opt["out"]:
            save_tables(tables, f"{opt['out']}/tables")
        return report

    def _check(self) -> None:
        opt = self.opt
        if not any(opt[name] for name in ("difference", "items", "win_rate", "comparisons_made")):
            raise OptionError(
                "nothing to compute: name a --difference in points, or a --win-rate, or how many there are: --items or "
                "--comparisons-made"
            )
        check_scale(opt["scale"])
        check_power(opt["power"], opt["alpha"])
        for name, least in (("tests", 1), ("runs", 1), ("seed", 0)):
            if opt[name] < least:
                raise OptionError(f"--{name} {opt[name]}: must be at least {least}")
        for name, least in (("raters", 1), ("items", 2), ("comparisons_made", 1)):
            if low := [value for value in opt[name] if value < least]:
                raise OptionError(f"--{name.replace('_', '-')} {low[0]}: must be at least {least}")
        if not 0 <= opt["ties"] < 1:
            raise OptionError(f"--ties {opt['ties']:g}: must be at least 0 and below 1, a share of all comparisons")

    def _aim(self) -> Aim:
        opt = self.opt
        return Aim(opt["power"], opt["alpha"], opt["tests"], opt["runs"], opt["seed"])

    def _likert(self) -> tuple[list[Table], list[Plot]]:
        opt, measured, notes = self.opt, None, []
        points: Sequence[float] = _SCALE
        if opt["ratings"]:
            ratings = self._asked()
            measured, note = _measured(ratings, str(opt["ratings"]))
            points = sorted({one.rating for one in ratings if one.rating is not None})
            notes.append(note)
        if opt["sd"] is None and measured is None:
            raise OptionError("--sd: name the standard deviation of single ratings, or --ratings to measure it in")
        same_reply = _first(opt["same_reply"], measured and measured.same_reply, _SAME_REPLY)
        same_item = _first(opt["same_item"], measured and measured.same_item, 0.0) if opt["paired"] else 0.0
        design = LikertDesign(
            sd=_first(opt["sd"], measured and measured.sd, 0.0),
            same_reply=same_reply,
            same_item=min(same_item, same_reply) if opt["same_item"] is None else same_item,
            paired=opt["paired"],
        )
        scale, aim = Scale(opt["scale"] or points, measured.mean if measured else None), self._aim()
        tables: list[Table] = []
        plots: list[Plot] = []
        if opt["difference"]:
            table, plots = likert_needed(design, opt["difference"], opt["raters"], scale, aim)
            tables.append(table)
        if opt["items"]:
            tables.append(likert_seen(design, opt["items"], opt["raters"], aim))
        return [_with_notes(table, notes) for table in tables], plots

    def _asked(self) -> list[Rating]:
        """The ratings of single replies to measure."""
        opt = self.opt
        scores = sort_answers(ratings_of(opt["ratings"], opt["scale"], opt["skip_bad_rows"])).scores
        questions = list(dict.fromkeys(one.question for one in scores))
        if not questions:
            raise NotComputableError(f"{opt['ratings']} holds no rating of single replies to measure")
        chosen = opt["question"] if opt["question"] is not None or len(questions) > 1 else questions[0]
        if chosen not in questions:
            known = ", ".join(map(repr, questions))
            asked = f" {chosen!r} was not asked" if chosen is not None else ""
            raise OptionError(f"--question{asked}: name one of {known}")
        return [one for one in scores if one.question == chosen]


def _add_wishes(group: Any) -> None:
    group.add_argument("--difference", type=float, nargs="+", default=[], help="Differences of means, in points.")
    group.add_argument(
        "--win-rate", type=float, nargs="+", default=[], help="Shares of decided comparisons that a system wins."
    )
    group.add_argument(
        "--items", type=int, nargs="+", default=[], help="Items of each system: the smallest difference they show."
    )
    group.add_argument(
        "--comparisons-made",
        type=int,
        nargs="+",
        default=[],
        help="Comparisons, ties too: the smallest win rate they show.",
    )
    group.add_argument("--power", type=float, default=0.8, help="How probably a difference is to be seen.")
    group.add_argument("--alpha", type=float, default=0.05, help="How probably one that is none, two-sided.")
    group.add_argument(
        "--tests", type=int, default=1, help="How many differences are tested at once: alpha is divided by it."
    )


def _add_design(group: Any) -> None:
    group.add_argument(
        "--sd", type=float, default=None, help="Standard deviation of a system's single ratings, in points."
    )
    group.add_argument("--raters", type=int, nargs="+", default=[1, 2, 3, 5], help="Raters of each reply.")
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
    group.add_argument(
        "--paired", type="bool", default=True, help="Both systems reply to the same items; if not, to others."
    )
    group.add_argument("--ties", type=float, default=0.0, help="Share of comparisons that are ties, 0 to below 1.")


def _measured(ratings: Sequence[Rating], path: str) -> tuple[Spread, str]:
    """What was measured, and a note on it."""
    found = spread(ratings)
    same = [
        f"{name} {'not to be measured' if value is None else f'{value:.3f}'}"
        for name, value in (("same reply", found.same_reply), ("same item", found.same_item))
    ]
    question = named(ratings[0].question, "question")
    return found, f"- measured in {path}, {question}: standard deviation {found.sd:.3f}, {', '.join(same)}"


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def _with_notes(table: Table, notes: Sequence[str]) -> Table:
    return Table(table.title, table.header, table.rows, [*notes, *table.notes], table.digits)


if __name__ == "__main__":
    RatingsPower.main()
