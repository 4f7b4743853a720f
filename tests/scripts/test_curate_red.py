"""``parlai curate_red``: the data set and its card, and errors of options."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pyarrow import parquet
from tiny_dumps import KAPPA, LARGE, lines, plainly, random_posts, records, write_dump

from parlai_empathy.curation import selection
from parlai_empathy.curation.curate import Curated, Plan
from parlai_empathy.errors import DataError, ModelFileError, NotComputableError, OptionError
from parlai_empathy.reports.red import data_card
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.curate_red import CurateRed
from parlai_empathy.scripts.runs import curate_red as runs
from parlai_empathy.tasks.reddit.build import SAMPLE

POSTS = random_posts(LARGE, seed=2)
QUICK: dict[str, Any] = {"kappa": KAPPA, "memory": "1GB", "threads": 1, "loglevel": "error"}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "dumps" / "RC_2006-01.bz2", POSTS)


def curate(dump: Path, folder: Path, **options: Any) -> Curated:
    found: Curated = CurateRed.main(**{"dumps": [str(dump)], "out": str(folder), **QUICK, **options})
    return found


def one_line(error: BaseException) -> str:
    message = str(error)
    assert len(message.splitlines()) == 1, message
    return message


def tables(out: Path) -> dict[str, Any]:
    return {table["title"]: table for table in json.loads((out / "report.json").read_text())["tables"]}


def test_run_writes_data_set_and_card(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "red"
    curated = curate(dump, out, with_ids=True)
    expected = plainly(lines(POSTS))
    assert [row["id"] for row in records(out)] == [post["id"] for post in expected]
    assert {path.name for path in out.iterdir()} == {
        *("red.parquet", "report.md", "report.json", "report.html", "engagement.png", "tables", "work")
    }
    printed = capsys.readouterr().out
    assert f"{out / 'red.parquet'}: {len(expected)} posts" in printed
    assert f"{out / 'work'}: every post of the dumps with its id; delete it before you publish {out}" in printed
    assert (out / "report.md").read_text().startswith(printed.split("\n\nred")[0][:100])
    rows = {row[0]: row[1] for row in tables(out)["What became of the lines"]["rows"]}
    assert rows == curated.fates
    assert sum(rows.values()) == len(POSTS)
    with Image.open(out / "engagement.png") as image:
        assert len(image.convert("RGB").getcolors(1 << 20) or ()) > 10
    assert not (out / "work" / "engine").exists()


def test_ids_are_omitted_by_default(dump: Path, tmp_path: Path) -> None:
    curate(dump, tmp_path / "red")
    assert "id" not in parquet.read_schema(tmp_path / "red" / "red.parquet").names


def test_threads_default_to_the_number_of_cores(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1025)
    with pytest.raises(OptionError, match="--threads 1025"):
        CurateRed.main(dumps=[str(dump)], out=str(tmp_path / "red"), loglevel="error")


def test_dumps_may_be_folders_and_several_files(dump: Path, tmp_path: Path) -> None:
    curate(dump.parent, tmp_path / "folder", with_ids=True)
    more = write_dump(tmp_path / "more.jsonl", POSTS[:5])
    curated = curate(dump, tmp_path / "both", with_ids=True, dumps=[str(dump.parent), str(more)])
    assert records(tmp_path / "both") == records(tmp_path / "folder")
    assert [account.lines for account in curated.accounts] == [LARGE, 5]


def test_constants_from_options_are_used_and_reported(dump: Path, tmp_path: Path) -> None:
    options = {"weights": "re=2, ae=1", "alphas": "re=4", "medians": "pv=7,ae=9", "valid_share": 0.5, "seed": 3}
    curated = curate(dump, tmp_path / "red", **options, min_replies=2, edited_reply=0, parent_reply=5)
    assert curated.measures.alphas == {"re": 4, "ae": 9, "be": curated.measures.medians["be"]}
    assert (curated.measures.medians["pv"], curated.measures.medians["ae"]) == (7, 9)
    constants = tables(tmp_path / "red")["Constants"]
    assert {row[0]: row[1] for row in constants["rows"]} == {"AE": 1, "BE": 0, "RE": 2}
    assert "Seed 3, engine duckdb" in constants["notes"][0]
    assert "50% of the threads" in constants["notes"][0]
    assert "with fewer than 2 replies" in curated.fates


def test_toxicity_subreddit_and_negative_sample_options(dump: Path, tmp_path: Path) -> None:
    (words := tmp_path / "words.txt").write_text("# nobody likes these\nseven purple\nROME\n")
    options = {"toxicity": f"words:{words}", "subreddits": ["/r/Gardening", "r/baking"], "negative_samples": 0.5}
    curated = curate(dump, tmp_path / "red", **options)
    rows = records(tmp_path / "red")
    assert curated.fates["toxic"] > 0
    assert not [row for row in rows if row["source"] == "reaction" and "Rome" in row["post"]]
    assert {row["subreddit"] for row in rows} == {"Gardening", "baking"}
    assert Counter(row["source"] for row in rows) == {"reaction": curated.fates["chosen"], **curated.added}
    notes = " ".join(note for table in tables(tmp_path / "red").values() for note in table["notes"])
    assert "toxicity: toxic words|words:" in notes
    assert f"{sum(curated.added.values())} negative samples" in notes


def test_bad_lines_are_reported_in_the_card(dump: Path, tmp_path: Path) -> None:
    bad = write_dump(tmp_path / "bad.jsonl", POSTS[:1])
    bad.write_text(bad.read_text() + "?\n{}\n?\n")
    (cut := write_dump(tmp_path / "cut.bz2", POSTS)).write_bytes(dump.read_bytes()[:-300])
    curated = curate(dump, tmp_path / "red", dumps=[str(dump), str(bad), str(cut)])
    table = tables(tmp_path / "red")["What became of the lines"]
    rows = dict(table["rows"])
    assert (rows["bad line: not JSON"], rows["bad line: missing field"]) == (2, 1)
    assert sum(rows.values()) == sum(account.lines for account in curated.accounts)
    notes = "\n".join(table["notes"])
    assert "not JSON: first bad.jsonl, line 2\n" in notes
    assert "missing field: first bad.jsonl, line 3 (id)\n" in notes
    assert "\ncut.bz2: reading failed" in notes
    assert str(tmp_path) not in "".join(path.read_text() for path in (tmp_path / "red").glob("report.*"))


@pytest.mark.parametrize(
    ("options", "error", "parts"),
    [
        ({"out": ""}, OptionError, ("--out: name a folder",)),
        ({"edition": "sample"}, OptionError, ("--edition sample: cannot be combined with --dumps",)),
        ({"dumps": ["nowhere.zst"]}, DataError, ("nowhere.zst does not exist", "--dumps")),
        ({"threads": 0}, OptionError, ("--threads 0: must be from 1 to 1,024",)),
        ({"threads": 1025}, OptionError, ("--threads 1025: must be from 1 to 1,024",)),
        ({"memory": "lots"}, OptionError, ("--memory lots", "4GB")),
        ({"negative_samples": 1.5}, OptionError, ("--negative-samples 1.5: must be from 0 to 1",)),
        ({"negative_samples": -0.1}, OptionError, ("--negative-samples -0.1",)),
        ({"weights": "ae"}, OptionError, ("--weights 'ae': must be of the form ae=3,re=3",)),
        ({"weights": "ae=x"}, OptionError, ("--weights 'ae=x'",)),
        ({"weights": "xx=1"}, OptionError, ("--weights: 'xx' is not one of",)),
        ({"weights": "ee=1,re=0"}, OptionError, ("--weights: only ee has a weight", "--emotion-model")),
        ({"weights": ""}, OptionError, ("--weights: all are 0",)),
        ({"alphas": "ae=0"}, OptionError, ("--alphas ae=0: must be a number from 1e-09 to 1e+09",)),
        ({"medians": "pv=nan"}, OptionError, ("--medians pv=nan",)),
        ({"kappa": -1.0}, OptionError, ("--kappa -1",)),
        ({"kappa": 99.0}, NotComputableError, ("Lower --kappa",)),
        ({"min_replies": 0}, OptionError, ("--min-replies 0",)),
        ({"min_replies": 9999}, NotComputableError, ("lower --min-replies",)),
        ({"edited_reply": -1}, OptionError, ("--edited-reply -1",)),
        ({"parent_reply": 0}, OptionError, ("--parent-reply 0",)),
        ({"valid_share": 2.0}, OptionError, ("--valid-share 2.0",)),
        ({"toxic_above": -1.0}, OptionError, ("--toxic-above -1.0",)),
        ({"seed": -1}, OptionError, ("--seed -1",)),
        (
            {"subreddits": ["nobodys"]},
            NotComputableError,
            ("0 post(s)", "most of the others are: ", " in another subreddit"),
        ),
        ({"toxicity": "words:nowhere.txt"}, DataError, ("nowhere.txt cannot be read",)),
        ({"toxicity": "words:"}, DataError, ("cannot be read",)),
        ({"toxicity": "/no/such/model"}, ModelFileError, ("--toxicity /no/such/model cannot be loaded",)),
        ({"emotion_model": "/no/such/model"}, ModelFileError, ("/no/such/model is not a trained model",)),
    ],
)
def test_invalid_options_raise_one_line_errors(
    dump: Path, tmp_path: Path, options: dict[str, Any], error: type[Exception], parts: tuple[str, ...]
) -> None:
    with pytest.raises(error) as caught:
        curate(dump, tmp_path / "red", **options)
    message = one_line(caught.value)
    assert [part for part in parts if part not in message] == [], message
    assert not (tmp_path / "red" / "red.parquet").exists()


def test_unknown_engine_error_lists_choices(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        CurateRed.setup_args().parse_args(["--engine", "sqlite"])
    assert "choose from 'duckdb', 'spark'" in capsys.readouterr().err


def test_dumps_default_to_those_of_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    curated = CurateRed.main(edition="sample", out=str(tmp_path / "red"), **QUICK)
    assert [Path(account.dump).parent for account in curated.accounts] == [SAMPLE] * 2
    assert len(records(tmp_path / "red")) == curated.fates["chosen"] > 0
    with pytest.raises(DataError) as caught:
        CurateRed.main(out=str(tmp_path / "none"), datapath=str(tmp_path), **QUICK)
    assert "--dumps" in one_line(caught.value)


def test_out_that_is_a_file_raises_data_error(dump: Path, tmp_path: Path) -> None:
    (tmp_path / "red").write_text("a file")
    with pytest.raises(DataError) as caught:
        curate(dump, tmp_path / "red")
    assert "--out" in one_line(caught.value)


def test_card_is_written_before_another_run_may_write(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def with_a_second(curated: Curated, plan: Plan) -> Report:
        with pytest.raises(DataError) as caught:
            curate(dump, tmp_path / "red")
        refused.append(one_line(caught.value))
        return data_card(curated, plan)

    monkeypatch.setattr(runs, "data_card", with_a_second)
    curated = curate(dump, tmp_path / "red")
    assert len(records(tmp_path / "red")) == curated.fates["chosen"]
    work = tmp_path / "red" / "work"
    assert refused == [f"another run writes to {work}: wait for it to end, or name another folder with --out"]


def test_new_data_set_never_lies_beside_the_card_of_another(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that ends between the two leaves no card."""

    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    curate(dump, out := tmp_path / "red")
    content, card = (out / "red.parquet").read_bytes(), (out / "report.md").read_text()
    monkeypatch.setattr(selection, "_negatives", stop)
    with pytest.raises(SystemExit):
        curate(dump, out, seed=1, negative_samples=0.5)
    assert ((out / "red.parquet").read_bytes(), (out / "report.md").read_text()) == (content, card)
    monkeypatch.setattr(runs, "data_card", stop)
    with pytest.raises(SystemExit):
        curate(dump, out, seed=1)
    assert (out / "red.parquet").read_bytes() != content
    assert [path.name for path in out.rglob("*") if path.is_file() and "work" not in path.parts] == ["red.parquet"]


def test_help_shows_default_constants_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        CurateRed.setup_args().parse_args(["--help"])
    assert caught.value.code in (0, None)
    text = " ".join(capsys.readouterr().out.split())
    for part in ("ee=2,ae=3,be=1,re=3", "ae=18,be=2,re=1", "--kappa", "(default: 1.0)", "--with-ids", "{duckdb,spark}"):
        assert part in text
    assert all(name in text for name in ("--toxicity", "--emotion-model", "--negative-samples", "--spark-master"))


def test_interrupt_message_explains_how_to_resume(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("parlai_empathy.curation.curate._curate", stop)
    with pytest.raises(SystemExit, match=r"^130$"):
        curate(dump, tmp_path / "red")
    assert capsys.readouterr().err.endswith("\nStopped. Run the same command again to resume.\n")
    assert not (tmp_path / "red" / "work" / "engine").exists()
