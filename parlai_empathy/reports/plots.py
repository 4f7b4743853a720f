"""The plots that reports have: bars beside one another, and values with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from parlai_empathy.errors import MissingDependencyError

Interval = tuple[float, float, float]
"""A value, and the lower and upper end of its interval."""

_SIZE = (8.0, 4.5)  # inches; a plot of many rows is higher
_DPI = 120
_TITLE = 72  # letters in a line of the title
_NAME = 44  # letters in a line beside a row: longer ones would leave no room for the plot


@dataclass(frozen=True)
class Bars:
    """Groups of bars, one bar a series in each group.

    :param name: what its file is called after.
    :param groups: what stands below the groups; there may be none.
    :param series: each series' name and its heights, one a group; at least one series.
    """

    name: str
    title: str
    x: str
    y: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float]]

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        return _SIZE[1]

    def draw(self, axes: Any) -> list[Any]:
        """Draw on matplotlib's axes; returns what stands for each series in a legend."""
        drawn = []
        width = 0.8 / len(self.series)
        for place, heights in enumerate(self.series.values()):
            middle = (place - (len(self.series) - 1) / 2) * width
            drawn.append(axes.bar([n + middle for n in range(len(self.groups))], heights, width))
        longest = max(map(len, self.groups), default=0)
        turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if longest > 6 else {}
        axes.set_xticks(range(len(self.groups)), [fill(group, _NAME) for group in self.groups], **turned)
        return drawn


@dataclass(frozen=True)
class Intervals:
    """Values with their intervals, one row a name; several series side by side.

    :param name: what its file is called after.
    :param rows: what stands beside the rows, each once, from top to bottom; there may be none.
    :param series: each series' name and its values by row; a row may be missing. A value may lie outside its interval:
        that of a bootstrap need not hold it.
    """

    name: str
    title: str
    x: str
    y: str
    rows: Sequence[str]
    series: Mapping[str, Mapping[str, Interval]]

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        return max(_SIZE[1], 1 + 0.15 * (len(self.series) + 1) * len(self.rows))

    def draw(self, axes: Any) -> list[Any]:
        """Draw on matplotlib's axes, the first row at the top; returns what stands for each series in a legend."""
        drawn = []
        for place, values in enumerate(self.series.values()):
            shift = (place - (len(self.series) - 1) / 2) * 0.8 / len(self.series)
            found = [(number + shift, *values[row]) for number, row in enumerate(self.rows) if row in values]
            at, value, low, high = zip(*found, strict=True) if found else ((), (), (), ())
            color = f"C{place}"
            axes.hlines(at, low, high, color=color)
            axes.plot([*low, *high], [*at, *at], "|", color=color)
            drawn += axes.plot(value, at, "o", color=color)
        axes.set_yticks(range(len(self.rows)), [fill(row, _NAME) for row in self.rows])
        axes.invert_yaxis()
        axes.axvline(0, color="grey", linewidth=0.8)
        return drawn


Plot = Bars | Intervals


def draw(plot: Plot, path: Path) -> None:
    """Write a plot to a PNG file, 960 pixels wide.

    :raises MissingDependencyError: without matplotlib.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError('no plots: they need matplotlib: pip install "parlai-empathy[plots]"') from error
    with matplotlib.rc_context({"text.parse_math": False}):  # a name may have dollar signs, and is no formula
        figure = Figure(figsize=(_SIZE[0], plot.height), layout="constrained")
        FigureCanvasAgg(figure)  # draws into memory: no screen is needed
        axes = figure.subplots()
        drawn = plot.draw(axes)
        if len(drawn) > 1:
            _explain(figure, drawn, list(plot.series))
        axes.set(xlabel=plot.x, ylabel=plot.y)
        figure.suptitle(fill(plot.title, _TITLE))  # of the whole figure: beside long names the axes are narrow
        figure.savefig(path, dpi=_DPI)


def _explain(figure: Any, drawn: Sequence[Any], names: Sequence[str]) -> None:
    """Put a legend below: inside the plot it could hide what it explains."""
    texts = [f" {fill(name, _NAME)}" for name in names]  # matplotlib leaves out what begins with _
    columns = 4 if max(map(len, names)) <= _NAME // 2 else 2
    figure.legend(drawn, texts, loc="outside lower center", ncols=columns)
