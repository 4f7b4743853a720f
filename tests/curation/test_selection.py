"""The two classes: which posts are selected, their rows, and the negative samples."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tiny_dumps import GOOD, LARGE, comment, random_posts, records, run, submission, write_dump

from parlai_empathy.curation import selection
from parlai_empathy.curation.engagement import MILLION, Measures
from parlai_empathy.curation.engine import Engine
from parlai_empathy.curation.negative_samples import GENERIC, KINDS
from parlai_empathy.curation.recipe import Recipe
from parlai_empathy.curation.selection import Chosen, choose, clean_all, schema, write
from parlai_empathy.errors import DataError, NotComputableError
from parlai_empathy.tasks.red.parquet import read_parquet
from parlai_empathy.tasks.red.records import CLASSES
from parlai_empathy.tasks.reddit.cleaning import clean, decoded

# --- which posts are selected -----------------------------------------------------------------------------------------

VALUES = [100, 200, 300, 500, 500, 500, 500, 700, 800]
MEAN, DEVIATION = 500.0, 200.0  # assumed: values below 300 or above 700 are selected


def ends(engine: Engine, values: list[int], kappa: float = 1.0, seed: int = 0) -> tuple[Chosen, dict[str, int]]:
    rows = " UNION ALL ".join(f"SELECT 't1_{n}' AS name, {value} AS engagement" for n, value in enumerate(values))
    engine.table("engagement", rows)
    measures = Measures(len(values), ("re",), {}, {}, MEAN, DEVIATION)
    chosen = choose(engine, Recipe(kappa=kappa, seed=seed), measures)
    return chosen, dict(engine.rows("SELECT name, class FROM chosen"))


def test_classes_are_balanced_beyond_kappa_deviations(engine: Engine) -> None:
    chosen, found = ends(engine, VALUES)
    assert chosen == Chosen((2, 1), 1)
    assert found["t1_8"] == 1
    assert [name for name, label in found.items() if not label] in (["t1_0"], ["t1_1"])


def test_smaller_kappa_selects_more_posts(engine: Engine) -> None:
    assert ends(engine, VALUES, kappa=0.99)[0] == Chosen((3, 2), 2)
    assert ends(engine, VALUES, kappa=0)[0] == Chosen((3, 2), 2)  # those at the mean are in neither class


def test_seed_decides_which_posts_of_larger_class_are_kept(engine: Engine) -> None:
    values = [100] * 30 + [900]
    left = [next(name for name, label in ends(engine, values, seed=seed)[1].items() if not label) for seed in range(40)]
    assert len(set(left)) > 15
    assert left == [
        next(name for name, label in ends(engine, values, seed=seed)[1].items() if not label) for seed in range(40)
    ]


@pytest.mark.parametrize(("values", "empty"), [([100, 500], "engaging"), ([500, 900], "not engaging"), ([500], "not")])
def test_empty_class_raises_not_computable_error(
    engine: Engine, values: list[int], empty: str, assert_one_line: Callable[..., None]
) -> None:
    with pytest.raises(NotComputableError) as caught:
        ends(engine, values)
    assert_one_line(
        caught.value, f"none of {len(values)} posts counts as '{empty}", "--kappa", "1 standard deviation(s)"
    )


# --- their rows ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dump(tmp_path_factory.mktemp("dump") / "a.jsonl", random_posts(4 * LARGE, seed=8))


@pytest.fixture(scope="module")
def curated(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("curated")
    return run([dump], folder), records(folder)


def test_row_values_are_consistent_with_measures(curated: tuple[Any, list[dict[str, Any]]]) -> None:
    measures, rows = curated[0].measures, curated[1]
    assert len(rows) == curated[0].fates["chosen"] > 50
    assert Counter(row["label"] for row in rows) == dict.fromkeys(CLASSES, len(rows) // 2)
    for row in rows:
        assert (row["source"], row["ee"], row["ee_norm"]) == ("reaction", None, None)
        assert row["z"] == pytest.approx((row["engagement"] * MILLION - measures.mean) / measures.deviation)
        assert (row["z"] > 0) == (row["label"] == "engaging")
        weighted = (3 * row["ae_norm"] + row["be_norm"] + 3 * row["re_norm"]) / 7
        assert row["engagement"] == pytest.approx(weighted, abs=1e-6)
        assert row["re"] >= 1
        assert row["post"] in {clean(decoded(text)) for text in GOOD}
        assert row["parent"] == clean(row["parent"]) != ""


def test_threads_are_not_split_across_folds(curated: tuple[Any, list[dict[str, Any]]], dump: Path) -> None:
    threads = {f"t1_{post['id']}": post.get("link_id") for post in map(json.loads, dump.read_text().splitlines()[::-1])}
    folds: dict[str, set[str]] = {}
    for row in curated[1]:
        folds.setdefault(str(threads[row["id"]]), set()).add(row["fold"])
    assert all(len(found) == 1 for found in folds.values())
    assert len(folds) > 3


@pytest.mark.parametrize(("share", "folds"), [(0.0, {"train"}), (1.0, {"valid"})])
def test_valid_share_of_zero_or_one_gives_a_single_fold(
    dump: Path, tmp_path: Path, share: float, folds: set[str]
) -> None:
    run([dump], tmp_path, recipe={"valid_share": share})
    assert {row["fold"] for row in records(tmp_path)} == folds


def test_valid_share_is_converted_to_a_hash_threshold() -> None:
    assert selection._hex(0.5) == "80000000"  # eight digits: half of 16 ** 8
    assert selection._hex(0.2) == "33333333"
    assert selection._hex(0) == "00000000"
    assert selection._hex(1) > "ffffffff"


def test_omitting_ids_leaves_other_columns_unchanged(
    curated: tuple[Any, list[dict[str, Any]]], dump: Path, tmp_path: Path
) -> None:
    run([dump], tmp_path, with_ids=False)
    found = parquet.read_table(tmp_path / "red.parquet")
    assert found.schema.names == schema(False).names == schema(True).names[:-1]
    expected = [{name: value for name, value in row.items() if name != "id"} for row in curated[1]]
    assert found.to_pylist() == expected


@pytest.mark.parametrize(
    ("name", "parent"), [("t1_a", "My own words"), ("t3_s0", "How does bread rise?"), ("t3_s1", "Which flour?")]
)
def test_parent_omits_quoted_and_deleted_lines_and_link_addresses(tmp_path: Path, name: str, parent: str) -> None:
    """A parent keeps only its author's own words, and the texts of links without their addresses."""
    posts = [submission("s0", selftext="[removed]"), submission("s1", title="Which flour?", selftext="[deleted]")]
    posts.append(comment("a", "t3_s0", body="> said before\nMy [own](http://e.f) words", created_utc=20))
    for number, score in enumerate((1, 1, 1, 50, 50)):
        body = "Bread rises slowly. " * score
        posts.append(comment(f"b{number}", name, created_utc=30, score=score))
        posts.append(comment(f"c{number}", f"t1_b{number}", created_utc=40, body=body))
    run([write_dump(tmp_path / "a.jsonl", posts)], tmp_path / "out")
    assert {row["parent"] for row in records(tmp_path / "out")} == {parent}


# --- negative samples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [7, 10_000])
def test_negative_samples_are_derived_from_selected_posts(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(selection, "_ROWS", rows)
    curated = run([dump], tmp_path, negatives=0.5)
    found = records(tmp_path)
    posts = {row["id"]: row for row in found if row["source"] == "reaction"}
    added = [row for row in found if row["source"] != "reaction"]
    assert len(posts) == curated.fates["chosen"]
    assert 0.3 < len(added) / len(posts) < 0.7
    assert Counter(row["source"] for row in added) == curated.added
    assert curated.added.keys() == set(KINDS)
    for row in added:
        post = posts[row["id"]]
        assert row["label"] == "not engaging"
        same = ("parent", "fold", "subreddit", "id")
        assert {name: row[name] for name in same} == {name: post[name] for name in same}
        assert all(row[name] is None for name in schema(True).names[6:-1])
        was, now = post["post"].split(), row["post"].split()
        if row["source"] == "insertion":
            assert len(now) == len(was) + max(1, round(len(was) / 2))
            assert set(now) - set(was) <= {word for other in posts.values() for word in other["post"].split()}
        elif row["source"] == "deletion":
            assert len(now) == len(was) - round(len(was) / 2)
        else:
            assert row["post"] in ([row["parent"]] if row["source"] == "copy" else GENERIC)
    run([dump], tmp_path / "none")
    assert [row for row in found if row["source"] == "reaction"] == records(tmp_path / "none")


def test_seed_decides_which_posts_get_negative_samples(dump: Path, tmp_path: Path) -> None:
    spoilt, chosen = [], []
    for seed in (1, 2):
        run([dump], tmp_path / str(seed), negatives=0.5, recipe={"seed": seed})
        found = records(tmp_path / str(seed))
        chosen.append({row["id"] for row in found if row["source"] == "reaction"})
        spoilt.append({row["id"] for row in found if row["source"] != "reaction"})
    both = chosen[0] & chosen[1]  # the seed also decides which posts of the larger class are selected
    assert len(both) > 30
    assert spoilt[0] & both != spoilt[1] & both


@pytest.mark.parametrize("rows", [7, 10_000])
def test_all_posts_get_negative_samples_balanced_by_kind(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(selection, "_ROWS", rows)
    curated = run([dump], tmp_path, negatives=1.0)
    counts = curated.added
    assert sum(counts.values()) == curated.fates["chosen"]
    assert abs(counts["insertion"] - counts["deletion"]) <= 1
    # A generic reply takes the place of a copy of an engaging post.
    assert abs(counts["insertion"] + counts["deletion"] - counts["copy"] - counts["generic"]) <= 2


@pytest.mark.parametrize("rows", [7, 10_000])
def test_no_copy_is_word_for_word_an_engaging_post(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(selection, "_ROWS", rows)
    run([dump], tmp_path, negatives=1.0)
    found = records(tmp_path)
    engaging = {row["post"] for row in found if row["label"] == "engaging"}
    copies = {row["post"] for row in found if row["source"] == "copy"}
    assert copies
    assert not copies & engaging


def test_inserted_words_come_from_posts_of_the_same_fold(tmp_path: Path) -> None:
    posts = []
    for number in range(40):
        thread = f"t3_s{number}"
        posts.append(submission(f"s{number}"))
        posts.append(comment(f"b{number}", thread, link_id=thread, body=f"Bread{number} rises{number}", score=number))
        posts.append(comment(f"c{number}", f"t1_b{number}", link_id=thread, created_utc=200))
    dump = write_dump(tmp_path / "a.jsonl", posts)
    run([dump], tmp_path / "out", negatives=1.0, recipe={"valid_share": 0.5})
    found = records(tmp_path / "out")
    words: dict[str, set[str]] = {"train": set(), "valid": set()}
    for row in found:
        if row["source"] == "reaction":
            words[row["fold"]] |= set(row["post"].split())
    inserted = [(row["fold"], row["post"].split()) for row in found if row["source"] == "insertion"]
    assert {fold for fold, _ in inserted} == {"train", "valid"}
    assert not words["train"] & words["valid"]
    assert [text for fold, text in inserted if not set(text) <= words[fold]] == []


def test_negative_samples_of_one_word_posts_differ_from_the_post(tmp_path: Path) -> None:
    posts = [submission("s0")]
    for number in range(12):
        posts.append(comment(f"b{number}", "t3_s0", body="Splendid!", score=1 + 30 * (number % 2)))
        reply = "Bread rises slowly." if number % 2 else "Bread"
        posts.append(comment(f"c{number}", f"t1_b{number}", created_utc=200, body=reply))
    curated = run([write_dump(tmp_path / "a.jsonl", posts)], tmp_path / "out", negatives=1.0)
    added = [row for row in records(tmp_path / "out") if row["source"] != "reaction"]
    assert len(added) == 12
    assert "Splendid!" not in [row["post"] for row in added]
    assert curated.added == {"insertion": 6, "copy": 3, "generic": 3}


# --- the file --------------------------------------------------------------------------------------------------------


def test_red_parquet_is_written_atomically(tmp_path: Path) -> None:
    row = dict.fromkeys(schema(True).names) | {"source": "reaction"}
    table = pyarrow.Table.from_pylist([row, row, {**row, "source": "copy"}], schema(True))

    def tables(fails: bool) -> Iterator[Any]:
        yield table
        if fails:
            raise RuntimeError("out of order")

    (tmp_path / "red.parquet").write_bytes(b"of an earlier run")
    with pytest.raises(RuntimeError):
        write(tables(True), tmp_path / "red.parquet", True)
    assert (tmp_path / "red.parquet").read_bytes() == b"of an earlier run"
    assert write(tables(False), tmp_path / "red.parquet", True) == {"reaction": 2, "copy": 1}
    assert parquet.read_table(tmp_path / "red.parquet").schema == schema(True)
    assert [path.name for path in tmp_path.iterdir()] == ["red.parquet"]


@pytest.mark.parametrize("name", ["post", "parent", "engagement"])
def test_wrong_byte_in_red_parquet_is_noticed(
    curated: tuple[Any, list[dict[str, Any]]], tmp_path: Path, name: str
) -> None:
    """Compressed data can be read in spite of it, as another text or number."""
    table = pyarrow.Table.from_pylist(curated[1], schema=schema(True))
    write(iter([table]), file := tmp_path / "red.parquet", True)
    assert len(list(read_parquet(file))) == len(table)
    chunk = parquet.read_metadata(file).row_group(0).column(schema(True).names.index(name))
    content = bytearray(file.read_bytes())
    content[chunk.dictionary_page_offset + chunk.total_compressed_size // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataError, match=rf"^{file}, after row 0: it cannot be read as Parquet \("):
        list(read_parquet(file))


def test_numeric_columns_are_finite(curated: tuple[Any, list[dict[str, Any]]]) -> None:
    names = [name for name in schema(False).names[6:] if not name.startswith("ee")]
    assert all(math.isfinite(row[name]) for row in curated[1] for name in names)


PIECES = st.sampled_from(
    ["[a](b)", "[", "](", "]", ")", " ", "  ", "\n", "\t", "\x1c", "\x85", "\u00a0", "\u3000", "a", "é", "~"]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=8), max_size=6))
def test_clean_all_matches_clean_on_each_text(texts: list[str]) -> None:
    assert clean_all(pyarrow.array(texts, pyarrow.string())).to_pylist() == [clean(text) for text in texts]
