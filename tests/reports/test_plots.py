"""Plots: the calls to matplotlib, and the contents of the files."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from parlai_empathy.errors import MissingDependencyError
from parlai_empathy.reports import plots
from parlai_empathy.reports.plots import (
    Bars,
    Curves,
    Grid,
    Interval,
    Intervals,
    Line,
    Panels,
    Plot,
    RowBars,
    draw,
    drawing,
)

ONE: dict[str, dict[str, Interval]] = {"one": {"a": (0.5, 0.4, 0.7), "b": (0.2, -0.1, 0.3)}}


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Turn matplotlib's warnings into errors, such as for parts that do not fit into the plot."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def axes() -> Any:
    return Figure().subplots()


def size_of(plot: Plot, folder: Path) -> tuple[int, int]:
    """Return the size in pixels of the plot's file, which must be a PNG with more than one colour."""
    draw(plot, folder / "plot.png")
    with Image.open(folder / "plot.png") as image:
        image.load()
        assert image.format == "PNG"
        assert len(image.convert("RGB").getcolors(2**24) or ()) > 1
        return image.size


def bars(groups: list[str], **series: list[float]) -> Bars:
    return Bars("b", "Bars", "x", "y", groups, series)


def intervals(rows: list[str], series: dict[str, dict[str, Interval]]) -> Intervals:
    return Intervals("i", "Intervals", "x", "y", rows, series)


# --- bars ------------------------------------------------------------------------------------------------------------


def drawn_bars(plot: Bars, axes: Any) -> list[tuple[float, float, float, float]]:
    """Return the left edge, the width, the lower end and the height of each bar."""
    plot.draw(axes)
    return [(round(bar.get_x(), 6), round(bar.get_width(), 6), bar.get_y(), bar.get_height()) for bar in axes.patches]


def test_stacked_bars_begin_where_the_ones_below_end(axes: Any) -> None:
    found = drawn_bars(Bars("b", "Bars", "x", "y", ["1", "2"], {"a": [3, 4], "b": [5, 6], "c": [1, 1]}, True), axes)
    assert [bar[:2] for bar in found] == [(-0.4, 0.8), (0.6, 0.8)] * 3
    assert [bar[2:] for bar in found] == [(0, 3), (0, 4), (3, 5), (4, 6), (8, 1), (10, 1)]


def test_bars_of_a_group_are_side_by_side(axes: Any) -> None:
    found = drawn_bars(bars(["1", "2"], original=[3, 4], random=[5, 6]), axes)
    # Each group is 0.8 wide, with its number at its centre: from -0.4 to 0.4, from 0.6 to 1.4.
    assert found == [(-0.4, 0.4, 0, 3), (0.6, 0.4, 0, 4), (0.0, 0.4, 0, 5), (1.0, 0.4, 0, 6)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2"]


@pytest.mark.parametrize(
    "plot",
    [
        bars(["only"], one=[3]),
        bars(["1", "2"], one=[0, 0]),
        bars([], one=[]),
        bars(["a group with a long name", "b"], one=[1, 2], two=[2, 1]),
        bars([f"{number}" for number in range(12)], **{f"s{number}": [1.0] * 12 for number in range(9)}),
        bars(["$5 to $6", "$\\broken$"], **{"_private": [1, 2], "$x$": [1, 2]}),
    ],
    ids=["one group", "all zero", "no group", "long names", "many", "dollars"],
)
def test_bars_are_drawn_as_png(plot: Bars, tmp_path: Path) -> None:
    assert size_of(plot, tmp_path) == (960, 540)


# --- bars in rows ----------------------------------------------------------------------------------------------------


def rows(names: list[str], series: dict[str, dict[str, float]], *lines: Line) -> RowBars:
    return RowBars("r", "Rows", "x", "y", names, series, lines)


def test_bars_of_a_row_share_its_height(axes: Any) -> None:
    rows(["a", "b"], {"one": {"a": 3, "b": 4}, "two": {"a": 5}}).draw(axes)
    found = [(round(patch.get_y(), 6), round(patch.get_height(), 6), patch.get_width()) for patch in axes.patches]
    # Row 0 has two bars between -0.4 and 0.4, row 1 has one from 0.6 to 1.4.
    assert found == [(-0.4, 0.4, 3), (0.6, 0.8, 4), (0.0, 0.4, 5)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert [text.get_text() for text in axes.texts] == ["3.00", "4.00", "5.00"]
    assert axes.yaxis_inverted(), "the first row is at the top"


def test_reference_lines_have_their_value_and_series_colour(axes: Any) -> None:
    plot = rows(["a"], {"one": {"a": 3}, "two": {"a": 5}}, Line("theirs", 4, "two"), Line("others", 6))
    drawn = plot.draw(axes)
    assert list(drawn) == ["one", "two", "theirs", "others"]
    theirs, others = drawn["theirs"], drawn["others"]
    assert [list(line.get_xdata()) for line in (theirs, others)] == [[4, 4], [6, 6]]
    assert theirs.get_color() == "C1"
    assert others.get_color() not in ("C0", "C1")
    assert theirs.get_linestyle() != others.get_linestyle()


def test_five_reference_lines_differ_in_print() -> None:
    """The EmpatheticDialogues paper has so many figures of P@1,100."""
    figure = Figure()
    rows(["a"], {"one": {"a": 3}}, *(Line(f"{n}", n) for n in range(5))).draw(figure.subplots())
    content = BytesIO()
    figure.savefig(content, format="svg")
    dashes = re.findall(r"stroke-dasharray: ([^;\"]+)", content.getvalue().decode())
    assert len(dashes) == len(set(dashes)) == 5


@pytest.mark.parametrize(
    ("plot", "height"),
    [
        (rows(["a"], {"one": {"a": 1}}), 540),
        (rows([], {"one": {}}, Line("l", 3)), 540),
        (rows(["a", "$b$"], {"one": {"a": 0}, "_two": {}}, Line("$l", 3)), 540),
        # 1.2 inches, 0.22 for the legend's one line, and 0.12 + 0.2 for each of 40 rows with one bar; at 120 pixels.
        (rows([f"row {n}" for n in range(40)], {"one": {f"row {n}": n for n in range(40)}}), 1706),
    ],
    ids=["plain", "no rows", "missing", "many rows"],
)
def test_row_bars_are_drawn_as_png(plot: RowBars, height: int, tmp_path: Path) -> None:
    assert size_of(plot, tmp_path) == (960, height)


# --- intervals -------------------------------------------------------------------------------------------------------


def test_intervals_of_several_series_are_told_apart_in_print(axes: Any) -> None:
    drawn = intervals(["a"], {name: {"a": (0.5, 0.4, 0.6)} for name in "1234"}).draw(axes)
    assert len({line.get_marker() for line in drawn.values()}) == 4


def test_intervals_show_value_and_endpoints(axes: Any) -> None:
    intervals(["a", "b"], ONE).draw(axes)
    ends, points, zero = axes.get_lines()
    assert points.get_xydata().tolist() == [[0.5, 0.0], [0.2, 1.0]]
    assert ends.get_xydata().tolist() == [[0.4, 0.0], [-0.1, 1.0], [0.7, 0.0], [0.3, 1.0]]
    assert [line.tolist() for line in axes.collections[0].get_segments()] == [
        *([[0.4, 0.0], [0.7, 0.0]], [[-0.1, 1.0], [0.3, 1.0]])
    ]
    assert zero.get_xdata() == [0, 0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_ylim() == (1.5, -0.5), "the first row is at the top, and each has as much room"


def test_interval_series_differ_in_offset_and_colour_and_skip_missing_rows(axes: Any) -> None:
    drawn = intervals(["a", "b"], {"one": {"b": (0.2, 0.1, 0.3)}, "two": {"a": (0.4, 0.3, 0.5)}}).draw(axes)
    # Two series: 0.2 above and 0.2 below the centre of the row.
    assert list(drawn) == ["one", "two"]
    one, two = drawn.values()
    assert [line.get_xydata().tolist() for line in (one, two)] == [[[0.2, 0.8]], [[0.4, 0.2]]]
    assert one.get_color() != two.get_color()


def test_value_outside_its_interval_is_drawn_at_its_position(axes: Any) -> None:
    # The interval of a correlation of 1 may end slightly below it.
    (points,) = intervals(["a"], {"one": {"a": (1.0, 0.8, 0.9999999999999998)}}).draw(axes).values()
    assert points.get_xdata().tolist() == [1.0]


@pytest.mark.parametrize(
    ("plot", "height"),
    [
        (intervals(["a", "b"], ONE), 540),
        (intervals(["a"], {"one": {}, "two": ONE["one"]}), 540),
        (intervals([], {"one": {}}), 540),
        (intervals([], {}), 540),
        # 1 inch, and 0.3 for each of 40 rows of one series, at 120 pixels: more than the minimum, 4.5 inches.
        (intervals([f"row {number}" for number in range(40)], {"one": {"row 7": (0.1, 0.0, 0.2)}}), 13 * 120),
        (intervals(["$x", "$y$", "_", "a very long name of a judge, " * 5], {"$1 $2": {"$x": (0.1, 0.0, 0.2)}}), 540),
    ],
    ids=["plain", "missing rows", "no rows", "nothing", "many rows", "odd names"],
)
def test_intervals_are_drawn_as_png(plot: Intervals, height: int, tmp_path: Path) -> None:
    assert size_of(plot, tmp_path) == (960, height)


# --- panels ----------------------------------------------------------------------------------------------------------


def panels(rows: list[str], *titles: str) -> Panels:
    """Return a panel per title: its first row is at 0, each further one 10 to the right, times the panel's number."""
    series = [{row: (10.0 * n * k, 10.0 * n * k - 1, 10.0 * n * k + 1) for k, row in enumerate(rows)} for n in range(9)]
    parts = [Intervals(title, title, "", "", rows, {title: series[n]}, False) for n, title in enumerate(titles, 1)]
    return Panels("p", "Panels", parts)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7])
def test_panels_share_rows_but_not_scales(number: int) -> None:
    figure = Figure()
    titles = [f"metric {place}" for place in range(number)]
    panels(["a", "b"], *titles).draw(figure)
    assert [axes.get_title() for axes in figure.axes] == titles
    for place, axes in enumerate(figure.axes, 1):
        assert axes.get_ylim()[0] > axes.get_ylim()[1], "the first row is at the top"
        assert axes.lines[-1].get_xydata().tolist() == [[0, 0], [10 * place, 1]]
        assert axes.get_xlim()[1] == pytest.approx(10 * place + 1, rel=0.2)
        named = any(label.get_visible() for label in axes.get_yticklabels())
        assert named is (place % 3 == 1)


@pytest.mark.parametrize("letters", [1, 20, 44, 200])
@pytest.mark.parametrize("title", ["median perplexity of a language model", "median PPL of the language model"])
def test_long_panel_title_does_not_run_into_its_neighbours(letters: int, title: str) -> None:
    figure = Figure((8.0, 4.5), layout="constrained")
    panels([("mean " * 40)[:letters]], *[title] * 3).draw(figure)
    figure.draw_without_rendering()
    boxes = [axes.title.get_window_extent() for axes in figure.axes]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert boxes[-1].x1 <= figure.bbox.width


@pytest.mark.parametrize(
    ("plot", "height"),
    [
        (panels(["a", "b"], "m"), 216),  # half an inch, 0.8 for each row of panels, and 0.25 for each of its rows
        (panels(["a", "b"], *"mnop"), 372),
        (panels([], "m"), 156),
        (panels(["$x", "_", "a very long name of a system, " * 5], "$1 $2", "n", "o"), 246),
    ],
    ids=["one", "two rows", "no rows", "odd names"],
)
def test_panels_are_drawn_as_png(plot: Panels, height: int, tmp_path: Path) -> None:
    assert size_of(plot, tmp_path) == (960, height)


# --- a grid ----------------------------------------------------------------------------------------------------------


def grid(names: list[str], *values: list[float | None]) -> Grid:
    return Grid("g", "Grid", names, values)


def test_grid_cells_have_colour_and_number(axes: Any) -> None:
    assert grid(["a", "b"], [1, -0.25], [None, 0.7]).draw(axes) == {}
    (image,) = axes.images
    assert image.get_array().filled(np.nan).tolist() == [[1, -0.25], [pytest.approx(np.nan, nan_ok=True), 0.7]]
    assert image.get_clim() == (-1, 1), "the same number has the same colour in each plot"
    # Column and row of each number; text on dark colours is white.
    assert [(*text.get_position(), text.get_text(), text.get_color()) for text in axes.texts] == [
        *((0, 0, "1.00", "white"), (1, 0, "-0.25", "black"), (1, 1, "0.70", "white"))
    ]
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == ["a", "b"]
    assert axes.yaxis_inverted(), "the first row is at the top"


def test_grid_colours_distinguish_positive_from_negative(axes: Any) -> None:
    grid(["a", "b"], [0.9, -0.9], [0.0, None]).draw(axes)
    (image,) = axes.images
    more, less, zero, none = image.to_rgba(image.get_array()).reshape(4, 4)
    assert more[2] > more[0], "blue"
    assert less[0] > less[2], "red"
    assert zero[:3] == pytest.approx([1, 1, 1], abs=0.05)
    assert none[3] == 0, "where there is no number there is no colour"


@pytest.mark.parametrize(
    ("plot", "height"),
    [
        (grid(["only"], [1]), 540),
        (grid(["a", "b"], [None, None], [None, None]), 540),
        (grid(["$x", "_" * 60], [0.1, None], [None, -1]), 540),
        # 2.5 inches, and 0.35 for each of 16 rows, at 120 pixels.
        (grid([f"people: question {n}" for n in range(16)], *[[n / 16] * 16 for n in range(16)]), 972),
    ],
    ids=["one cell", "no numbers", "odd names", "many"],
)
def test_grid_is_drawn_as_png(plot: Grid, height: int, tmp_path: Path) -> None:
    assert size_of(plot, tmp_path) == (960, height)


# --- curves ----------------------------------------------------------------------------------------------------------


def curves(**series: list[tuple[float, float]]) -> Curves:
    return Curves("c", "Curves", "x", "y", series)


def test_curves_connect_their_points(axes: Any) -> None:
    drawn = curves(one=[(2, 0.5), (4, 1.5)], two=[(4, 1)], three=[]).draw(axes)
    assert [line.get_xydata().tolist() for line in drawn.values()] == [[[2, 0.5], [4, 1.5]], [[4, 1]], []]
    assert [line.get_marker() for line in drawn.values()] == ["o"] * 3, "a single point is seen too"
    assert axes.get_xticks().tolist() == [2, 4], "there is no turn 3"
    styles = [(line.get_color(), line.get_linestyle()) for line in drawn.values()]
    assert len(set(styles)) == 3
    assert len({style for _, style in styles}) == 3, "they are told apart in print"


def test_thirty_curves_differ(tmp_path: Path, figures: list[Figure]) -> None:
    draw(curves(**{f"system {n}": [(2, n), (4, 1)] for n in range(30)}), tmp_path / "plot.png")
    (axes,) = figures[0].axes
    assert len({(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.lines}) == 30
    assert axes.get_window_extent().height > 200, "the legend leaves room"


@pytest.mark.parametrize("points", [[(0.5, 0.0), (1.0, 1.0)], [(float(n), 0.0) for n in range(100)]])
def test_curves_with_fractional_or_many_points_use_default_ticks(points: list[tuple[float, float]]) -> None:
    ours, usual = Figure().subplots(), Figure().subplots()
    curves(one=points).draw(ours)
    usual.plot(*zip(*points, strict=True))
    assert ours.get_xticks().tolist() == usual.get_xticks().tolist()


@pytest.mark.parametrize(
    "plot",
    [
        curves(one=[(2, 1)]),
        curves(one=[]),
        curves(**{f"a system with a long name {n}: $EPITOME-ER": [(2, n), (4, 1)] for n in range(9)}),
    ],
    ids=["one point", "no point", "many"],
)
def test_curves_are_drawn_as_png(plot: Curves, tmp_path: Path) -> None:
    assert size_of(plot, tmp_path) == (960, 540)


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3, 1160])
def test_only_the_first_of_many_rows_are_drawn(
    count: int, tmp_path: Path, figures: list[Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plots._ROWS == 100
    monkeypatch.setattr(plots, "_ROWS", 3)
    names = [f"row {n}" for n in range(count)]
    points = {"one": dict.fromkeys(names, (0.5, 0.4, 0.6))}
    kinds: list[Plot] = [rows(names, {"one": dict.fromkeys(names, 1.0)}), intervals(names, points)]
    kinds.append(Panels("p", "Panels", [intervals(names, points)] * 2))
    for plot in kinds:
        assert size_of(plot, tmp_path)[1] <= 540
        labels = [label.get_text() for label in figures[-1].axes[0].get_yticklabels()]
        assert labels == names[:3]
        title = " ".join(figures[-1].get_suptitle().split())
        more = f" (the first 3 of {count:,} rows; the table has all)" if count > 3 else ""
        assert title == plot.title + more
    assert "first" not in figures[-1].axes[0].get_title()


def test_long_title_is_not_cut_off(tmp_path: Path) -> None:
    question = "How well did the reply show that it understood what the speaker felt, and why they felt it? " * 3
    row = "a judge with a long name, trained on much"
    plot = Intervals("i", question, "x", "y", [row], {"one": {row: (0.5, 0.4, 0.6)}})
    assert size_of(plot, tmp_path) == (960, 540)
    with Image.open(tmp_path / "plot.png") as image:
        pixels = np.asarray(image.convert("L"))
    title = pixels[:100] < 128
    assert title.sum() > 1000
    assert not title[:, :20].any(), "nothing is cut off at the left"
    assert not title[:, -20:].any(), "nothing is cut off at the right"


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Collect all figures that are saved."""
    found: list[Figure] = []
    save = Figure.savefig

    def keep(self: Figure, *arguments: Any, **named: Any) -> None:
        found.append(self)
        save(self, *arguments, **named)

    monkeypatch.setattr(Figure, "savefig", keep)
    return found


@pytest.mark.parametrize("letters", [3, 16, 22, 30, 40, 200])
def test_legend_fits_the_plot_width(letters: int, tmp_path: Path, figures: list[Figure]) -> None:
    draw(curves(**{f"{n}{'m n e ' * 40}"[:letters]: [(1, n)] for n in range(6)}), tmp_path / "plot.png")
    (legend,) = figures[0].legends
    assert len(legend.get_texts()) == 6
    box = legend.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figures[0].bbox.width


def test_legend_below_the_plot_names_all_series(tmp_path: Path, figures: list[Figure]) -> None:
    draw(bars(["1"], _one=[1], two=[2]), tmp_path / "two.png")
    draw(bars(["1"], one=[1]), tmp_path / "one.png")
    (legend,) = figures[0].legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["_one", "two"]
    assert legend.get_window_extent().y1 < figures[0].axes[0].get_window_extent().y0
    assert figures[1].legends == [], "one series needs no legend"


@pytest.mark.parametrize(
    "matrix",
    [
        np.eye(3),
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    ],
    ids=["usual sight", "no green cones", "no red cones"],
)
def test_colours_differ_also_for_the_colour_blind(matrix: Any, tmp_path: Path, figures: list[Figure]) -> None:
    """Linear RGB, as it is seen (Machado et al. 2009, severity 1), in CIELAB: 10 is a clear difference."""
    draw(bars(["1"], **{f"s{n}": [1.0] for n in range(6)}), tmp_path / "plot.png")
    rgb = np.array([patch.get_facecolor()[:3] for patch in figures[0].axes[0].patches])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = np.clip(linear @ np.transpose(matrix), 0, 1) @ to_xyz.T / [0.9505, 1, 1.089]
    root = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    lab = np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)
    distances = np.linalg.norm(lab[:, None] - lab, axis=-1)[np.triu_indices(6, 1)]
    assert distances.min() > 15


def test_characters_without_glyph_are_one_warning_and_texts_in_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr(plots, "warn_once", warned.append)
    warnings.simplefilter("always")
    others: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *rest: others.append(str(message)))
    plot = bars(["模型 <1>"], one=[1], two=[2])
    drawing(plot, "png")
    assert set(warned) == {plots._BOXES}
    assert others == []
    root = ElementTree.fromstring(drawing(plot, "svg"))
    assert "模型 <1>" in [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_other_warnings_of_matplotlib_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings.simplefilter("always")
    others: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *rest: others.append(str(message)))
    monkeypatch.setattr(Bars, "draw", lambda self, axes: warnings.warn("something else", stacklevel=1) or {})
    drawing(bars(["1"], one=[1]), "png")
    assert others == ["something else"]


def test_svg_output_is_reproducible() -> None:
    plot = bars(["1"], one=[1], two=[2])
    first = drawing(plot, "svg")
    assert first == drawing(plot, "svg")
    assert b"<svg " in first
    assert b"Date" not in first


def test_drawing_leaves_matplotlib_state_unchanged(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    draw(bars(["1"], one=[1]), tmp_path / "plot.png")
    assert dict(matplotlib.rcParams) == before
    assert matplotlib.pyplot.get_fignums() == []


def test_missing_matplotlib_error_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r'^no plots: .* pip install "parlai-empathy\[plots\]"$'):
        draw(bars(["1"], one=[1]), tmp_path / "plot.png")
    assert list(tmp_path.iterdir()) == []
