"""The plots that reports have: bars beside one another, bars in rows, values with their intervals, panels of these, a
grid, curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any

from parlai_empathy.errors import MissingDependencyError
from parlai_empathy.files.whole_file import whole_file

Interval = tuple[float, float, float]
"""A value, and the lower and upper end of its interval."""

_SIZE = (8.0, 4.5)  # inches; a plot of many rows is higher
_DPI = 120
_TITLE = 72  # letters in a line of the title
_NAME = 44  # letters in a line beside a row: longer ones would leave no room for the plot
_DARK = 0.6  # of a grid's colours: letters on darker ones are white
_TICKS = 20  # as many can be read below an axis
_PANELS = 3  # side by side
_LINES = ("dashed", "dotted", "dashdot", (0, (6, 2, 1, 2, 1, 2)))  # told apart in print, where colours are not


@dataclass(frozen=True)
class Bars:
    """Groups of bars, one bar a series in each group, side by side or one upon the other.

    :param name: what its file is called after.
    :param groups: what stands below the groups; there may be none.
    :param series: each series' name and its heights, one a group; at least one series.
    :param stacked: whether the bars stand one upon the other: for parts of a whole.
    """

    name: str
    title: str
    x: str
    y: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float]]
    stacked: bool = False

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        return _SIZE[1]

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib's axes; returns what a legend shows, by name."""
        drawn, below = {}, [0.0] * len(self.groups)
        width = 0.8 if self.stacked else 0.8 / len(self.series)
        for place, (name, heights) in enumerate(self.series.items()):
            middle = 0.0 if self.stacked else (place - (len(self.series) - 1) / 2) * width
            drawn[name] = axes.bar([n + middle for n in range(len(self.groups))], heights, width, bottom=below)
            below = [low + high for low, high in zip(below, heights, strict=True)] if self.stacked else below
        longest = max(map(len, self.groups), default=0)
        turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if longest > 6 else {}
        axes.set_xticks(range(len(self.groups)), [fill(group, _NAME) for group in self.groups], **turned)
        return drawn


@dataclass(frozen=True)
class Line:
    """A value to compare with, drawn across all rows.

    :param series: whose colour it has, for it compares with that alone; by default it is grey.
    """

    name: str
    value: float
    series: str | None = None


@dataclass(frozen=True)
class RowBars:
    """Bars that lie: one row a name, in each row a bar for each series that has a value there.

    :param name: what its file is called after.
    :param rows: what stands beside the rows, each once, from top to bottom; there may be none.
    :param series: each series' name and its values by row; a row may be missing. At least one series.
    """

    name: str
    title: str
    x: str
    y: str
    rows: Sequence[str]
    series: Mapping[str, Mapping[str, float]]
    lines: Sequence[Line] = ()

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        legend = 0.22 * ((len(self.series) + len(self.lines) + 1) // 2)
        bars = sum(row in values for row in self.rows for values in self.series.values())
        return max(_SIZE[1], 1.2 + legend + 0.12 * len(self.rows) + 0.2 * bars)

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib's axes, the first row at the top; returns what a legend shows, by name."""
        drawn: dict[str, Any] = {}
        colors = {name: f"C{place}" for place, name in enumerate(self.series)}
        for name, values in self.series.items():
            found = [(*self._place(name, row), values[row]) for row in self.rows if row in values]
            at, thick, lengths = zip(*found, strict=True) if found else ((), (), ())
            drawn[name] = axes.barh(at, lengths, thick, color=colors[name])
            axes.bar_label(drawn[name], fmt="%.2f", padding=2, fontsize="x-small")
        for place, line in enumerate(self.lines):
            color = colors.get(line.series or "", "dimgrey")
            drawn[line.name] = axes.axvline(line.value, color=color, linestyle=_LINES[place % len(_LINES)])
        axes.margins(x=0.12)  # room for the numbers beside the bars
        axes.set_yticks(range(len(self.rows)), [fill(row, _NAME) for row in self.rows])
        axes.invert_yaxis()
        return drawn

    def _place(self, series: str, row: str) -> tuple[float, float]:
        """Where in a row a series' bar lies, and how thick it is: the row's bars share its room."""
        there = [name for name, values in self.series.items() if row in values]
        thick = 0.8 / len(there)
        return self.rows.index(row) + (there.index(series) - (len(there) - 1) / 2) * thick, thick


@dataclass(frozen=True)
class Intervals:
    """Values with their intervals, one row a name; several series side by side.

    :param name: what its file is called after.
    :param rows: what stands beside the rows, each once, from top to bottom; there may be none.
    :param series: each series' name and its values by row; a row may be missing. A value may lie outside its interval:
        that of a bootstrap need not hold it.
    :param from_zero: whether 0 says something, and is drawn: to a mean on a scale of 1 to 5 it does not.
    """

    name: str
    title: str
    x: str
    y: str
    rows: Sequence[str]
    series: Mapping[str, Mapping[str, Interval]]
    from_zero: bool = True

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        return max(_SIZE[1], 1 + 0.15 * (len(self.series) + 1) * len(self.rows))

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib's axes, the first row at the top; returns what a legend shows, by name."""
        drawn = {}
        for place, (name, values) in enumerate(self.series.items()):
            shift = (place - (len(self.series) - 1) / 2) * 0.8 / len(self.series)
            found = [(number + shift, *values[row]) for number, row in enumerate(self.rows) if row in values]
            at, value, low, high = zip(*found, strict=True) if found else ((), (), (), ())
            color = f"C{place}"
            axes.hlines(at, low, high, color=color)
            axes.plot([*low, *high], [*at, *at], "|", color=color)
            (drawn[name],) = axes.plot(value, at, "o", color=color)
        axes.set_yticks(range(len(self.rows)), [fill(row, _NAME) for row in self.rows])
        axes.yaxis.set_inverted(True)  # of panels that share it, each says so
        if self.from_zero:
            axes.axvline(0, color="grey", linewidth=0.8)
        return drawn


@dataclass(frozen=True)
class Panels:
    """Intervals side by side, each with a scale of its own, for what has the same rows and other units.

    :param name: what its file is called after.
    :param parts: what the panels show; their rows are the same, and stand at the left alone. At least one.
    """

    name: str
    title: str
    parts: Sequence[Intervals]

    @property
    def lines(self) -> int:
        """How many rows of panels there are."""
        return ceil(len(self.parts) / _PANELS)

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        return 0.5 + self.lines * (0.8 + 0.25 * len(self.parts[0].rows))

    def draw(self, figure: Any) -> None:
        """Draw on matplotlib's figure."""
        columns = min(len(self.parts), _PANELS)
        places = list(figure.subplots(self.lines, columns, sharey=True, squeeze=False).flat)
        for part, axes in zip(self.parts, places, strict=False):
            part.draw(axes)
            axes.set_title(part.title, fontsize="medium")
            axes.locator_params(axis="x", nbins=4)  # more numbers would run into one another
        for axes in places[len(self.parts) :]:
            axes.remove()


@dataclass(frozen=True)
class Grid:
    """Numbers from -1 to 1 in a square grid, each in its colour, such as correlations.

    :param name: what its file is called after.
    :param names: of the rows, and of the columns.
    :param values: one list a row; None where there is no number.
    """

    name: str
    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float | None]]
    x: str = ""
    y: str = ""

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        return max(_SIZE[1], 2.5 + 0.35 * len(self.names))

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib's axes; there is nothing for a legend to show."""
        numbers = [[float("nan") if value is None else value for value in row] for row in self.values]
        axes.imshow(numbers, vmin=-1, vmax=1, cmap="RdBu", aspect="auto")
        places = range(len(self.names))
        names = [fill(name, _NAME) for name in self.names]
        axes.set_xticks(places, names, rotation=40, ha="right", rotation_mode="anchor", fontsize="x-small")
        axes.set_yticks(places, names, fontsize="x-small")
        for row, values in enumerate(self.values):
            for column, value in enumerate(values):
                if value is not None:
                    color = "white" if abs(value) > _DARK else "black"
                    axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize="xx-small", color=color)
        return {}


@dataclass(frozen=True)
class Curves:
    """Points joined by lines, one line a series.

    :param name: what its file is called after.
    :param series: each series' name and its points, from left to right; at least one series.
    """

    name: str
    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]

    @property
    def height(self) -> float:
        """Of the whole plot, in inches."""
        return _SIZE[1]

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib's axes; returns what a legend shows, by name."""
        drawn = {}
        for place, (name, points) in enumerate(self.series.items()):
            style = _LINES[place % len(_LINES)] if place else "solid"
            at, heights = zip(*points, strict=True) if points else ((), ())
            (drawn[name],) = axes.plot(at, heights, marker="o", linestyle=style)
        whole = sorted({at for points in self.series.values() for at, _ in points})
        if all(float(at).is_integer() for at in whole) and len(whole) <= _TICKS:
            axes.set_xticks(whole)
        return drawn


Plot = Bars | RowBars | Intervals | Panels | Grid | Curves


def draw(plot: Plot, path: Path) -> None:
    """Write a plot to a PNG file, 960 pixels wide.

    :raises MissingDependencyError: without matplotlib.
    """
    with whole_file(path, is_shared=True) as unfinished:
        unfinished.write_bytes(drawing(plot, "png"))


def drawing(plot: Plot, form: str) -> bytes:
    """A plot as a file's content.

    :param form: ``png``, 960 pixels wide, or ``svg``, the same whenever it is drawn.
    :raises MissingDependencyError: without matplotlib.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError('no plots: they need matplotlib: pip install "parlai-empathy[plots]"') from error
    # A name may have dollar signs, and is no formula; an SVG's marks of its parts are otherwise drawn by lot.
    with matplotlib.rc_context({"text.parse_math": False, "svg.hashsalt": plot.name}):
        figure = Figure(figsize=(_SIZE[0], plot.height), layout="constrained")
        FigureCanvasAgg(figure)  # draws into memory: no screen is needed
        if isinstance(plot, Panels):
            plot.draw(figure)
        else:
            _draw_one(figure, plot)
        figure.suptitle(fill(plot.title, _TITLE))  # of the whole figure: beside long names the axes are narrow
        content = BytesIO()
        figure.savefig(content, format=form, dpi=_DPI, metadata={"Date": None} if form == "svg" else None)
        return content.getvalue()


def _draw_one(figure: Any, plot: Bars | RowBars | Intervals | Grid | Curves) -> None:
    axes = figure.subplots()
    drawn = plot.draw(axes)
    if len(drawn) > 1:
        _explain(figure, drawn)
    axes.set(xlabel=plot.x, ylabel=plot.y)


def _explain(figure: Any, drawn: Mapping[str, Any]) -> None:
    """Put a legend below: inside the plot it could hide what it explains."""
    texts = [f" {fill(name, _NAME)}" for name in drawn]  # matplotlib leaves out what begins with _
    for columns in (4, 3, 2, 1):
        legend = figure.legend(list(drawn.values()), texts, loc="outside lower center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()
