"""The plots in reports: vertical bars, horizontal bars, values with intervals, panels of these, a grid, and curves."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any

from parlai.utils.misc import warn_once

from parlai_empathy.errors import MissingDependencyError
from parlai_empathy.files.whole_file import whole_file
from parlai_empathy.reports.cells import decimal

Interval = tuple[float, float, float]
"""A value, and the lower and upper end of its interval."""

_SIZE = (8.0, 4.5)  # inches; a plot with many rows is higher
_DPI = 120
_TITLE = 72  # characters per line of the title
_PANEL_TITLE = 28  # of the title of a panel, which is a third as wide, and less beside long row labels
_NAME = 44  # characters per line of a row label: longer lines would leave no room for the plot
_DARK = 0.6  # absolute value in a grid above which the text is white
_TICKS = 20  # the most tick labels that are legible below an axis
_PANELS = 3  # side by side
_ROWS = 100  # the most rows of a plot: already many screens high
# Distinguishable for the colour-blind too, as matplotlib's own are not (Petroff 2021, arXiv 2107.02270).
_COLORS = ["#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"]
_MARKERS = "osD^vP*X"  # distinguishable in print, as are the lines
_BOXES = (
    "plots: characters that matplotlib's font lacks are boxes in PNG files, but not in report.html: name a font that "
    "has them as font.family in a matplotlibrc"
)
_LINES = ("dashed", "dotted", "dashdot", (0, (6, 2, 1, 2, 1, 2)), (0, (12, 3)))


@dataclass(frozen=True)
class Bars:
    """Groups of vertical bars, with one bar per series in each group, side by side or stacked.

    :param name: the base of its file name.
    :param groups: the labels of the groups; may be empty.
    :param series: the heights of each series by its name, one per group; at least one series.
    :param stacked: whether the bars are stacked, for parts of a whole.
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
        """The height of the whole plot, in inches."""
        return _SIZE[1]

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib axes; returns the legend entries by name."""
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
    """A reference value, drawn as a line across all rows.

    :param series: the series that it applies to, whose colour it takes; by default it is grey.
    """

    name: str
    value: float
    series: str | None = None


@dataclass(frozen=True)
class RowBars:
    """Horizontal bars: each row has a bar for each series with a value there.

    :param name: the base of its file name.
    :param rows: the distinct labels of the rows, from top to bottom; may be empty.
    :param series: the values of each series by row; a row may be missing. At least one series.
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
        """The height of the whole plot, in inches."""
        legend = 0.22 * ((len(self.series) + len(self.lines) + 1) // 2)
        bars = sum(row in values for row in self.rows for values in self.series.values())
        return max(_SIZE[1], 1.2 + legend + 0.12 * len(self.rows) + 0.2 * bars)

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib axes, with the first row at the top; returns the legend entries by name."""
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
        """Return the position and the thickness of a series' bar: the bars of a row share its height."""
        there = [name for name, values in self.series.items() if row in values]
        thick = 0.8 / len(there)
        return self.rows.index(row) + (there.index(series) - (len(there) - 1) / 2) * thick, thick


@dataclass(frozen=True)
class Intervals:
    """Values with their intervals, one row per label, for one or several series.

    :param name: the base of its file name.
    :param rows: the distinct labels of the rows, from top to bottom; may be empty.
    :param series: the values of each series by row; a row may be missing. A value may lie outside its interval, since
        a bootstrap interval need not contain it.
    :param from_zero: whether to draw a line at 0, which has no meaning for a mean on a scale of 1 to 5.
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
        """The height of the whole plot, in inches."""
        return max(_SIZE[1], 1 + 0.15 * (len(self.series) + 1) * len(self.rows))

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib axes, with the first row at the top; returns the legend entries by name."""
        drawn = {}
        for place, (name, values) in enumerate(self.series.items()):
            shift = (place - (len(self.series) - 1) / 2) * 0.8 / len(self.series)
            found = [(number + shift, *values[row]) for number, row in enumerate(self.rows) if row in values]
            at, value, low, high = zip(*found, strict=True) if found else ((), (), (), ())
            color = f"C{place}"
            axes.hlines(at, low, high, color=color)
            axes.plot([*low, *high], [*at, *at], "|", color=color)
            (drawn[name],) = axes.plot(value, at, _MARKERS[place % len(_MARKERS)], color=color)
        axes.set_yticks(range(len(self.rows)), [fill(row, _NAME) for row in self.rows])
        axes.set_ylim(max(len(self.rows), 1) - 0.5, -0.5)  # whole markers in the outer rows, too
        if self.from_zero:
            axes.axvline(0, color="grey", linewidth=0.8)
        return drawn


@dataclass(frozen=True)
class Panels:
    """Interval plots side by side, each with its own scale, for the same rows in different units.

    :param name: the base of its file name.
    :param parts: the panels, at least one; all have the same rows, which are labelled only at the left.
    """

    name: str
    title: str
    parts: Sequence[Intervals]

    @property
    def lines(self) -> int:
        """The number of rows of panels."""
        return ceil(len(self.parts) / _PANELS)

    @property
    def height(self) -> float:
        """The height of the whole plot, in inches."""
        return 0.5 + self.lines * (0.8 + 0.25 * len(self.parts[0].rows))

    def draw(self, figure: Any) -> None:
        """Draw on a matplotlib figure."""
        columns = min(len(self.parts), _PANELS)
        places = list(figure.subplots(self.lines, columns, sharey=True, squeeze=False).flat)
        longest = min(_NAME, max(map(len, self.parts[0].rows), default=0))
        for part, axes in zip(self.parts, places, strict=False):
            part.draw(axes)
            axes.set_title(fill(part.title, _PANEL_TITLE - longest // 3), fontsize="medium")
            axes.locator_params(axis="x", nbins=4)  # more tick labels would overlap
        for axes in places[len(self.parts) :]:
            axes.remove()


@dataclass(frozen=True)
class Grid:
    """A heat map of a square matrix of numbers from -1 to 1, such as correlations.

    :param name: the base of its file name.
    :param names: the labels of the rows and of the columns.
    :param values: one list per row; None for a missing number.
    """

    name: str
    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float | None]]
    x: str = ""
    y: str = ""

    @property
    def height(self) -> float:
        """The height of the whole plot, in inches."""
        return max(_SIZE[1], 2.5 + 0.35 * len(self.names))

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib axes; returns no legend entries."""
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
                    axes.text(
                        column, row, decimal(value, 2), ha="center", va="center", fontsize="xx-small", color=color
                    )
        return {}


@dataclass(frozen=True)
class Curves:
    """Line plots with markers, one line per series.

    :param name: the base of its file name.
    :param series: the points of each series by its name, from left to right; at least one series.
    """

    name: str
    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]

    @property
    def height(self) -> float:
        """The height of the whole plot, in inches: more for a legend with many names."""
        return max(_SIZE[1], 3 + 0.22 * ((len(self.series) + 1) // 2))

    def draw(self, axes: Any) -> dict[str, Any]:
        """Draw on matplotlib axes; returns the legend entries by name."""
        drawn = {}
        for place, (name, points) in enumerate(self.series.items()):
            style = _LINES[place % len(_LINES)] if place else "solid"
            marker = _MARKERS[place // len(_COLORS) % len(_MARKERS)]  # another one when the colours are used up
            at, heights = zip(*points, strict=True) if points else ((), ())
            (drawn[name],) = axes.plot(at, heights, marker=marker, linestyle=style)
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
    """Return a plot as the content of a file. Of many rows only the first are drawn, and the title says so.

    :param form: ``png``, 960 pixels wide, or ``svg``, which is deterministic.
    :raises MissingDependencyError: without matplotlib.
    """
    try:
        import matplotlib
        from cycler import cycler
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError('no plots: they need matplotlib: pip install "parlai-empathy[plots]"') from error
    plot = _readable(plot)
    # Dollar signs in names do not start formulas; the salt makes the ids in an SVG deterministic; its texts stay texts,
    # for which a browser has more fonts than matplotlib.
    settings: dict[Any, Any] = {
        "text.parse_math": False,
        "svg.hashsalt": plot.name,
        "svg.fonttype": "none",
        "axes.prop_cycle": cycler(color=_COLORS),
    }
    with matplotlib.rc_context(settings), _glyphs_may_be_missing():
        figure = Figure(figsize=(_SIZE[0], plot.height), layout="constrained")
        FigureCanvasAgg(figure)  # renders in memory, without a display
        if isinstance(plot, Panels):
            plot.draw(figure)
        else:
            _draw_one(figure, plot)
        figure.suptitle(fill(plot.title, _TITLE))  # above the whole figure: long row labels make the axes narrow
        content = BytesIO()
        figure.savefig(content, format=form, dpi=_DPI, metadata={"Date": None} if form == "svg" else None)
        return content.getvalue()


@contextmanager
def _glyphs_may_be_missing() -> Iterator[None]:
    """Warn in one line that there are characters without a glyph, where matplotlib prints two for each."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_others(message: Warning | str, *rest: Any, **named: Any) -> None:
            if "missing from font" in str(message):
                warn_once(_BOXES)
            else:
                show(message, *rest, **named)

        warnings.showwarning = show_others
        yield


def _readable(plot: Plot) -> Plot:
    """Return the plot without the rows beyond :data:`_ROWS`; if it has any, its title says so."""
    if not isinstance(plot, RowBars | Intervals | Panels):
        return plot
    rows = plot.parts[0].rows if isinstance(plot, Panels) else plot.rows
    if len(rows) <= _ROWS:
        return plot
    title = f"{plot.title} (the first {_ROWS} of {len(rows):,} rows; the table has all)"
    if isinstance(plot, Panels):
        return replace(plot, title=title, parts=[replace(part, rows=rows[:_ROWS]) for part in plot.parts])
    return replace(plot, title=title, rows=rows[:_ROWS])


def _draw_one(figure: Any, plot: Bars | RowBars | Intervals | Grid | Curves) -> None:
    axes = figure.subplots()
    drawn = plot.draw(axes)
    if len(drawn) > 1:
        _explain(figure, drawn)
    axes.set(xlabel=plot.x, ylabel=plot.y)


def _explain(figure: Any, drawn: Mapping[str, Any]) -> None:
    """Add a legend below the plot: inside, it could cover data."""
    texts = [f" {fill(name, _NAME)}" for name in drawn]  # matplotlib ignores labels that begin with _
    for columns in (4, 3, 2, 1):
        legend = figure.legend(list(drawn.values()), texts, loc="outside lower center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()
