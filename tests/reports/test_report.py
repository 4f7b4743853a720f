"""Reports, saved to folders and read back."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from full_disk import full_disk
from PIL import Image

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.cells import Cell, PValue
from parlai_empathy.reports.plots import Bars, Intervals
from parlai_empathy.reports.report import Report, check_folder
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import Number

TABLE = Table("Lengths", ["text", "words"], [("original", 7), ("human", 6.5)], ["- counted by hand"])
PAGES = ["report.html", "report.json", "report.md", "tables"]
BARS = Bars("heights", "Heights", "who", "cm", ["Ann", "Bob"], {"now": [170, 180]})


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in a folder and those below it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_saved_report_round_trips(tmp_path: Path) -> None:
    rows: list[Sequence[Cell]] = [["a|b", 1, 0.123456, (0.1, 0.2), PValue(0.00004), None]]
    report = Report("All", [Table("t", list("uvwxyz"), rows, ["- n"])], [BARS], [{"id": 1, "score": 0.5}, {"id": 2}])
    report.save(tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == ["heights.png", "items.jsonl", *PAGES]
    assert (folder / "report.md").read_text() == report.text() + "\n![Heights](heights.png)\n"
    table = {"title": "t", "header": list("uvwxyz"), "notes": ["- n"]}
    cells = ["a|b", 1, 0.123456, [0.1, 0.2], 0.00004, None]  # unrounded, and as numbers
    assert json.loads((folder / "report.json").read_text()) == {
        "title": "All",
        "tables": [{**table, "rows": [cells]}],
        "files": ["heights.png", "tables/t.csv", "items.jsonl"],
    }
    assert (folder / "tables" / "t.csv").read_text().splitlines()[0] == "u,v,w,x: low,x: high,y,z"
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert items == [{"id": 1, "score": 0.5}, {"id": 2}]


def test_json_keeps_signatures(tmp_path: Path) -> None:
    Report("r", [Table("t", ["x", "y"], [["a", Number(0.5, "m|n:3")], ["b", 1.0]])]).save(tmp_path)
    (table,) = json.loads((tmp_path / "report.json").read_text())["tables"]
    assert table["rows"] == [["a", 0.5], ["b", 1.0]]
    assert table["signatures"] == [[None, "m|n:3"], [None, None]]


def test_html_page_embeds_tables_and_plots(tmp_path: Path) -> None:
    Report("r", [TABLE], [BARS]).save(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Lengths</h2>" in page
    assert page.count("<img ") == 1
    assert "heights.png" not in page, "it needs no other file"


def test_no_items_file_without_items(tmp_path: Path) -> None:
    Report("r", [TABLE]).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == PAGES


def test_saving_again_overwrites(tmp_path: Path) -> None:
    Report("old", [TABLE, TABLE]).save(tmp_path)
    Report("new", [TABLE]).save(tmp_path)
    assert (tmp_path / "report.md").read_text() == Report("new", [TABLE]).text()


def named(name: str, title: str = "t") -> Intervals:
    return Intervals(name, title, "x", "y", ["row"], {"series": {"row": (0.5, 0.4, 0.6)}})


def test_each_plot_gets_a_unique_file_name(tmp_path: Path) -> None:
    names = ["Is it relevant?", "is it relevant!", "../../etc/passwd", "???", "Wie gefällt es dir?", "é" * 300]
    Report("r", [], [named(name) for name in names]).save(tmp_path / "out")
    files = ["is_it_relevant", "is_it_relevant_2", "etc_passwd", "plot", "wie_gefällt_es_dir", "é" * 60]
    assert {path.stem for path in (tmp_path / "out").glob("*.png")} == set(files)
    links = re.findall(r"!\[t\]\((.+)\.png\)", (tmp_path / "out" / "report.md").read_text(encoding="utf-8"))
    assert links == files


def test_plot_title_is_escaped_in_markdown_link(tmp_path: Path) -> None:
    Report("r", [], [named("p", "a [b]\n(c")]).save(tmp_path)
    assert (tmp_path / "report.md").read_text().endswith("\n![a \\[b\\] (c](p.png)\n")


def test_tags_in_names_are_shown_in_markdown_and_escaped_nowhere_else(tmp_path: Path) -> None:
    name = "g<b>x</b> <!-- y < 1"
    table = Table(name, [name], [[name], [PValue(0.0001)]], [f"- {name}"])
    Report(name, [table], [named("p", name)]).save(tmp_path)
    markdown = (tmp_path / "report.md").read_text()
    assert markdown.count("g&lt;b>x&lt;/b> &lt;!-- y < 1") == 6  # two titles, header, cell, note and link
    assert "<b>" not in markdown
    assert "< 0.001" in markdown
    record = json.loads((tmp_path / "report.json").read_text())
    assert record["tables"][0]["rows"][0] == [name]


def test_plots_are_saved_as_png(tmp_path: Path) -> None:
    Report("r", [], [BARS]).save(tmp_path)
    with Image.open(tmp_path / "heights.png") as image:
        image.load()
        assert (image.format, image.size) == ("PNG", (960, 540))


def test_report_is_saved_without_plots_if_matplotlib_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    Report("r", [TABLE], [BARS, named("p")], [{"id": 1}]).save(tmp_path)
    assert warnings == ['no plots: they need matplotlib: pip install "parlai-empathy[plots]"']
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl", *PAGES]
    assert (tmp_path / "report.md").read_text() == Report("r", [TABLE]).text()


@pytest.mark.parametrize(
    ("out", "reason"),
    [("file", "File exists"), ("file/below", "Not a directory"), ("x" * 300, "File name too long")],
)
@pytest.mark.parametrize("write", [Report("r", [TABLE]).save, check_folder])
def test_unwritable_folder_raises(tmp_path: Path, out: str, reason: str, write: Callable[[Path], None]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match=re.escape(f" cannot be written to ({reason}): name another folder")):
        write(tmp_path / out)


def test_folder_that_can_be_written_to_is_made_and_left_empty(tmp_path: Path) -> None:
    check_folder(None)  # a report that is only shown
    check_folder(tmp_path / "new" / "one")
    assert list((tmp_path / "new" / "one").iterdir()) == []


@pytest.mark.parametrize(
    ("way", "reason"),
    [("heights.png/x", "Is a directory"), ("tables", "File exists"), ("report.md/x", "Is a directory")],
)
def test_conflicting_path_in_output_folder_raises(tmp_path: Path, way: str, reason: str) -> None:
    (tmp_path / way).parent.mkdir(exist_ok=True)
    (tmp_path / way).touch()
    message = f"--out {tmp_path} cannot be written to ({reason}): name another folder"
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        Report("r", [TABLE], [BARS]).save(tmp_path)


def test_concurrent_saves_leave_only_the_second_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As two commands with the same ``--out``: nothing of the first report is left beside the second."""
    first, second = (
        Report(name, [Table(f"{name} table", ["x"], [[name]])], [replace(BARS, name=f"{name} bars")], [{"id": name}])
        for name in ("heron", "stork")
    )
    other = threading.Thread(target=second.save, args=[tmp_path])

    def draw_late(plot: Bars, path: Path) -> None:
        if plot.name == "heron bars":
            other.start()
            other.join(0.5)  # longer than it would take if it did not wait
        path.touch()

    monkeypatch.setattr("parlai_empathy.reports.report.draw", draw_late)
    first.save(tmp_path)
    other.join()
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    pages = {"report.html", "report.json", "report.md", "items.jsonl"}
    assert files == {*pages, "stork_bars.png", "tables/stork_table.csv"}
    assert not [name for name in pages if "heron" in (tmp_path / name).read_text()]


def test_report_with_non_utf8_file_names_is_saved(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.jsonl")
    Report(f"of {name}", [Table(name, [name, "n"], [[name, 3]], [f"- {name}"])]).save(tmp_path)
    for file in ("report.md", "report.html", "tables/jsonl.csv"):
        assert "?.jsonl" in (tmp_path / file).read_text(encoding="utf-8")


def test_full_disk_keeps_previous_files(tmp_path: Path) -> None:
    Report("r", [TABLE], [BARS], [{"id": 1}]).save(tmp_path)
    before = contents(tmp_path)
    with full_disk(), pytest.raises(OptionError, match="cannot be written to"):
        Report("r", [TABLE], [BARS], [{"id": 2}]).save(tmp_path)
    assert contents(tmp_path) == before


KILLED = """
import os, signal, sys
from pathlib import Path
from parlai_empathy.reports import report
from parlai_empathy.reports.plots import Bars

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

place, out = sys.argv[1:]
bars = [Bars(name, name, "who", "cm", ["Ann"], {"now": [170]}) for name in ("new", "newer")]
if place == "drawing":
    draw = report.draw
    report.draw = lambda plot, path: draw(plot, path) if plot.name == "new" else kill()
elif place == "removing":
    unlink = Path.unlink
    Path.unlink = lambda path, **how: kill() if path == Path(out, "items.jsonl") else unlink(path, **how)
else:
    replace = Path.replace
    Path.replace = lambda path, target: kill() if target == Path(out, "newer.png") else replace(path, target)
report.Report("new", [], bars, [{"id": 2}]).save(out)
"""


@pytest.mark.parametrize("place", ["drawing", "removing", "moving"])
def test_killed_save_leaves_no_mixture_of_two_reports(tmp_path: Path, place: str) -> None:
    Report("old", [TABLE], [BARS], [{"id": 1}]).save(tmp_path)
    before = contents(tmp_path)
    killed = subprocess.run([sys.executable, "-c", KILLED, place, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    after = contents(tmp_path)
    if place == "drawing":
        assert before.items() <= after.items()
    else:
        assert "report.json" not in after, "it would say that the report is whole"
    Report("old", [TABLE], [BARS], [{"id": 1}]).save(tmp_path)
    assert {name for name in contents(tmp_path) if name not in before} <= {"new.png"}, "nothing unfinished is left"
    assert before.items() <= contents(tmp_path).items()


def test_show_prints_and_saves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report("r", [TABLE])
    report.show()
    assert capsys.readouterr().out == report.text() + "\n"
    report.show(tmp_path / "out")
    assert report.text() in capsys.readouterr().out
    assert (tmp_path / "out" / "report.md").is_file()


def test_report_is_printed_if_it_cannot_be_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    report = Report("r", [TABLE])
    with pytest.raises(OptionError, match="cannot be written to"):
        report.show(tmp_path / "file")
    assert capsys.readouterr().out == report.text() + "\n"


def test_report_is_saved_if_it_cannot_be_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("builtins.print", broken)
    with pytest.raises(OSError, match="no space"):
        Report("r", [TABLE]).show(tmp_path / "out")
    assert (tmp_path / "out" / "report.md").is_file()


def test_report_is_saved_without_an_error_if_its_reader_has_gone(tmp_path: Path) -> None:
    code = "from parlai_empathy.reports.report import *; Report('r', [Table('t', ['n'], [[1]] * 99999)]).show('out')"
    command = f'set -o pipefail; {sys.executable} -c "{code}" | head -1'
    result = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.stdout, result.returncode) == ("# r\n", 0)
    assert "BrokenPipe" not in result.stderr
    assert (tmp_path / "out" / "report.json").is_file()


def test_tilde_in_output_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    Report("Birds", [Table("Counts", ["bird", "n"], [["heron", 3]])]).save("~/out")
    assert (tmp_path / "out" / "report.md").is_file()
