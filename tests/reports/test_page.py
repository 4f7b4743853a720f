"""The HTML page, read back with the standard library's parser."""

from __future__ import annotations

import base64
from html.parser import HTMLParser

import pytest
from chromium_browser import accessibility_problems, chromium
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.page import page
from parlai_empathy.reports.plots import Curves, drawing
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import Number

_VOID = {"meta", "img"}


class Page(HTMLParser):
    """Collects a page's cells, notes, images and external resources; checks that elements are nested correctly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.titles: list[dict[str, str | None]] = []
        self.notes: list[str] = []
        self.headings: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], "everything is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.addresses += [found[name] or "" for name in ("src", "href", "action") if name in found]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.titles.append(found)
        elif tag == "li":
            self.notes.append("")
        elif tag in ("h1", "h2"):
            self.headings.append("")
        elif tag == "img":
            self.images.append(found)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += data
        elif self.open[-1:] == ["li"]:
            self.notes[-1] += data
        elif self.open[-1:] in (["h1"], ["h2"]):
            self.headings[-1] += data


def test_page_contains_table_notes_and_plot() -> None:
    table = Table(
        "T", ["model", "score"], [["a", Number(0.5, "m|n:3")], ["b", None]], ["- a note", "another"], digits=1
    )
    read = Page(page("Title", [table], [("Plot", b"<svg/>")]))
    assert read.headings == ["Title", "T"]
    assert read.rows == [["model", "score"], ["a", "0.5"], ["b", ""]]
    assert {"class": "number", "title": "m|n:3"} in read.titles
    assert read.notes == ["a note", "another"]
    (image,) = read.images
    assert image["alt"] == "Plot"
    assert base64.b64decode((image["src"] or "").removeprefix("data:image/svg+xml;base64,")) == b"<svg/>"


def test_number_columns_are_styled_and_text_columns_have_min_width() -> None:
    rows: list[list[Cell]] = [[4, "long " * 20, 1, None, None], [5, "b", "not computable", (0.1, 0.2), None]]
    header = ["turns", "judge", "value", "interval", "empty"]
    titles = Page(page("T", [Table("t", header, rows)], [])).titles
    for line in (titles[:5], titles[5:10], titles[10:]):
        assert [title.get("class") for title in line] == [None, None, "number", "number", None]
    widths = [title.get("style") for title in titles[:5]]
    assert widths == [
        "min-width: min(1ch, 40vw)",
        "min-width: min(32ch, 40vw)",
        None,
        None,
        "min-width: min(0ch, 40vw)",
    ]


def test_page_has_no_external_resources_and_a_mobile_viewport() -> None:
    text = page("T", [Table("t", ["x"], [["y"]])], [("Plot", b"<svg/>")])
    assert all(address.startswith("data:") for address in Page(text).addresses)
    assert "url(" not in text
    assert "@import" not in text
    assert "<script" not in text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert "overflow-x: auto" in text


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_legible_on_phone_and_screen(width: int, scheme: str) -> None:
    header = ["a system with a long name", *(f"metric {number}" for number in range(12))]
    svg = drawing(Curves("c", "Plot", "x", "y", {"one": [(1, 2), (2, 3)]}), "svg")
    text = page("T", [Table("t", header, [["long " * 20, *[0.5] * 12]], ["- a note"])], [("Plot", svg)])
    with chromium() as browser:
        seen = browser.new_page(viewport={"width": width, "height": 740}, color_scheme=scheme)
        seen.set_content(text)
        assert accessibility_problems(seen) == []
        drawn = seen.locator("figure img").bounding_box()
    assert drawn["width"] > 500, "smaller, its letters could not be read"
    assert drawn["height"] == pytest.approx(drawn["width"] * 4.5 / 8, rel=0.01)


texts = st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=12)


@given(title=texts, cells=st.lists(texts, min_size=2, max_size=2), note=texts, signature=texts)
def test_arbitrary_text_round_trips_through_html(title: str, cells: list[str], note: str, signature: str) -> None:
    table = Table(title, cells, [cells, ["n", Number(1.0, signature)]], [f"- {note}"])
    read = Page(page(title, [table], [(title, b"")]))
    line = " ".join(title.split())
    assert read.headings == [line, line]
    assert read.rows == [[" ".join(cell.split()) for cell in cells]] * 2 + [["n", "1.000"]]
    assert read.notes == [" ".join(f"- {note}".split()).removeprefix("- ")]
    assert read.images[0]["alt"] == line
    assert signature in [found.get("title") for found in read.titles]
