"""The plots that reports have: bars beside one another, and values with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlai_empathy.errors import MissingDependencyError

Interval = tuple[float, float, float]
"""A value, and the lower and upper end of its interval."""


@dataclass(frozen=True)
class Bars:
    """Groups of bars, one bar a series in each group.

    :param name: the file's name, without its ending.
    :param groups: what stands below the groups.
    :param series: each series' name and its heights, one a group.
    """

    name: str
    title: str
    x: str
    y: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float]]

    def draw(self, axes: Any) -> None:
        """Draw on matplotlib's axes."""
        width = 0.8 / len(self.series)
        for place, (label, heights) in enumerate(self.series.items()):
            middle = (place - (len(self.series) - 1) / 2) * width
            axes.bar([n + middle for n in range(len(self.groups))], heights, width, label=label)
        axes.set_xticks(range(len(self.groups)), self.groups, rotation=30 if max(map(len, self.groups)) > 6 else 0)
        if len(self.series) > 1:
            axes.legend()


@dataclass(frozen=True)
class Intervals:
    """Values with their intervals, one row a name; several series side by side.

    :param series: each series' name and its values by row; a row may be missing.
    """

    name: str
    title: str
    x: str
    y: str
    rows: Sequence[str]
    series: Mapping[str, Mapping[str, Interval]]

    def draw(self, axes: Any) -> None:
        """Draw on matplotlib's axes, the first row at the top."""
        for place, (label, values) in enumerate(self.series.items()):
            shift = (place - (len(self.series) - 1) / 2) * 0.8 / len(self.series)
            found = [(self.rows.index(row) + shift, *values[row]) for row in self.rows if row in values]
            at, value, low, high = zip(*found, strict=True) if found else ((), (), (), ())
            below = [v - lo for v, lo in zip(value, low, strict=True)]
            above = [hi - v for v, hi in zip(value, high, strict=True)]
            axes.errorbar(value, at, xerr=[below, above], fmt="o", capsize=3, label=label)
        axes.set_yticks(range(len(self.rows)), self.rows)
        axes.invert_yaxis()
        axes.axvline(0, color="grey", linewidth=0.8)
        if len(self.series) > 1:
            axes.legend()


Plot = Bars | Intervals


def draw(plot: Plot, path: Path) -> None:
    """Write a plot to a PNG file.

    :raises MissingDependencyError: without matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError('no plots: they need matplotlib: pip install "parlai-empathy[plots]"') from error
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)  # draws into memory: no screen is needed, and no setting of the program is touched
    axes = figure.subplots()
    plot.draw(axes)
    axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
    figure.savefig(path, dpi=120)
