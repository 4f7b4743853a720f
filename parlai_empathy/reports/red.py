"""RED's data card: posts by class, dimension and subreddit, and what became of every line of the dumps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from parlai_empathy.curation.curate import Curated, Plan
from parlai_empathy.curation.engagement import MILLION
from parlai_empathy.curation.recipe import DIMENSIONS
from parlai_empathy.curation.unpack import Account
from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.plots import Bars
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.tasks.red.records import CLASSES

_SUBREDDITS = 30  # rows of their own on the card; the others are counted together


def data_card(curated: Curated, plan: Plan) -> Report:
    """Return the card."""
    tables = [_classes(curated), _constants(curated, plan), _lines(curated), _subreddits(curated)]
    return Report("RED: posts that people engaged with, and posts that they did not", tables, [_plot(curated)])


def _classes(curated: Curated) -> Table:
    dimensions = curated.measures.dimensions
    header = ["class", "posts", *(name.upper() for name in dimensions)]
    header += [*(f"{name.upper()} 0..1" for name in dimensions), "engagement"]
    rows: list[list[Cell]] = [[label, curated.chosen.each, *means.values()] for label, means in curated.classes.items()]
    notes = [f"{name.upper()} is {DIMENSIONS[name]}. " for name in dimensions]
    notes.append("The means are of the posts as they are, and (0..1) adjusted for popularity and normalised.")
    if "ee" not in dimensions:
        notes.append("Emotional engagement was not measured and has no weight: --emotion-model was not given.")
    if added := curated.added:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(added.items()))
        notes.append(f"Also added: {sum(added.values()):,} negative samples, labelled {CLASSES[0]}: {kinds}.")
    return Table("Classes", header, rows, notes)


def _constants(curated: Curated, plan: Plan) -> Table:
    recipe, measures = plan.recipe, curated.measures
    rows: list[list[Cell]] = [
        [name.upper(), recipe.weights.get(name, 0.0), measures.alphas[name], measures.medians[name]]
        for name in measures.dimensions
    ]
    notes = [
        f"The median popularity is {measures.medians['pv']:g}. The mean engagement of {measures.posts:,} posts is "
        f"{measures.mean / MILLION:.6f}, its standard deviation {measures.deviation / MILLION:.6f}; a post is chosen "
        f"if it lies more than {recipe.kappa:g} of these from the mean. "
        f"An edited reply counts for {recipe.edited_reply} words, a reply to the parent for {recipe.parent_reply} "
        f"upvotes. {recipe.valid_share:.0%} of the threads are for validation. Seed {recipe.seed}, engine "
        f"{plan.engine}.",
        *(f"{name}: {text}" for name, text in curated.scorers.items()),
    ]
    if not plan.toxicity:
        notes.append("Nothing was left out for being toxic: --toxicity was not given.")
    return Table("Constants", ["dimension", "weight", "alpha", "median"], rows, notes)


def _lines(curated: Curated) -> Table:
    bad: Counter[str] = sum((account.bad for account in curated.accounts), Counter())
    fates, flaws = (sorted(counts.items(), key=lambda item: (-item[1], item[0])) for counts in (curated.fates, bad))
    rows = [*fates, *((f"bad line: {reason}", count) for reason, count in flaws)]
    total = sum(account.lines for account in curated.accounts)
    dumps = ", ".join(f"{Path(account.dump).name} ({account.lines:,})" for account in curated.accounts)
    notes = [f"{total:,} lines of {dumps}."]
    for account in curated.accounts:
        notes += [f"{reason}: first {_by_name(place, account)}" for reason, place in account.first.items()]
    notes += [_by_name(account.broken, account) for account in curated.accounts if account.broken]
    return Table("What became of the lines", ["", "lines"], [list(row) for row in rows], notes)


def _by_name(text: str, account: Account) -> str:
    """Return a text that begins with a dump's path with its name instead: cards are published, folders are private."""
    return Path(account.dump).name + text.removeprefix(account.dump)


def _subreddits(curated: Curated) -> Table:
    found = list(curated.subreddits.items())
    rows: list[list[Cell]] = [[name, *counts.values()] for name, counts in found[:_SUBREDDITS]]
    if rest := found[_SUBREDDITS:]:
        rows.append([f"{len(rest):,} others", *(sum(counts[label] for _, counts in rest) for label in CLASSES)])
    return Table("Subreddits", ["subreddit", *CLASSES], rows)


def _plot(curated: Curated) -> Bars:
    counts = curated.histogram
    places = range(min(counts), max(counts) + 1)
    heights = zip(*(counts.get(place, (0, 0, 0)) for place in places), strict=True)
    series = dict(zip((CLASSES[0], "neither", CLASSES[1]), heights, strict=True))
    groups = [f"{place / 100:.2f}" if place % 10 == 0 else "" for place in places]
    title = "Engagement of all posts with replies"
    return Bars("engagement", title, "engagement", "posts", groups, series, stacked=True)
