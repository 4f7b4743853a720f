"""Splits: no context in two folds, independent of the file's order, with the checksums that the README publishes."""

from __future__ import annotations

import hashlib
import random
import re
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.humod import splits
from parlai_empathy.tasks.humod.build import SAMPLE
from parlai_empathy.tasks.humod.exchanges import alternatives, choices, exchanges
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import Pair
from parlai_empathy.tasks.humod.splits import FOLDS, SPLITS, checksum, split_pairs

README = Path(splits.__file__).parent / "README.md"


def pair(context: str | tuple[str, ...], rated: bool = True, reply: str = "r") -> Pair:
    turns = (context,) if isinstance(context, str) else context
    return Pair("n", turns, reply, True, (), 3.0 if rated else None, ())


def contexts(pairs: list[Pair]) -> set[tuple[str, ...]]:
    return {one.context for one in pairs}


# Few contexts, so that most occur several times.
_PAIRS = st.lists(
    st.builds(pair, st.sampled_from("abcdefghijklmnop"), st.sampled_from([True, True, False])), max_size=40
)


# --- any pairs -------------------------------------------------------------------------------------------------------


@given(pairs=_PAIRS, name=st.sampled_from(list(SPLITS)))
def test_folds_are_disjoint_by_context_and_keep_all_pairs(pairs: list[Pair], name: str) -> None:
    folds = split_pairs(pairs, name)
    assert list(folds) == ["train", "valid", "test"]
    train, valid, test = (contexts(folds[fold]) for fold in FOLDS)
    assert not train & valid
    assert not train & test
    assert not valid & test
    for fold, found in (("train", train), ("valid", valid), ("test", test)):
        assert folds[fold] == [one for one in pairs if one.context in found]  # each pair once, in the given order
    assert train | valid | test == contexts(pairs)


@given(pairs=_PAIRS, name=st.sampled_from(list(SPLITS)), seed=st.integers(0, 999))
def test_split_does_not_depend_on_pair_order(pairs: list[Pair], name: str, seed: int) -> None:
    mixed = random.Random(seed).sample(pairs, len(pairs))
    here, there = split_pairs(pairs, name), split_pairs(mixed, name)
    assert {fold: contexts(here[fold]) for fold in FOLDS} == {fold: contexts(there[fold]) for fold in FOLDS}


@given(pairs=_PAIRS, name=st.sampled_from(list(SPLITS)))
def test_eval_folds_are_filled_up_to_their_shares(pairs: list[Pair], name: str) -> None:
    """Not one pair more; and no context of the training fold would have fitted into either."""
    unrated = {one.context for one in pairs if one.mean_rating is None}
    eligible = [one for one in pairs if name == "paper" or one.context not in unrated]
    shares = {"paper": (1000 / 9500, 500 / 9500), "rated": (0.5, 0.1)}[name]
    folds = split_pairs(pairs, name)
    for fold, share in zip(("test", "valid"), shares, strict=True):
        assert contexts(folds[fold]) <= contexts(eligible)
        room = round(share * len(eligible)) - len(folds[fold])
        assert room >= 0
        for context in contexts(folds["train"]) & contexts(eligible):
            assert sum(one.context == context for one in pairs) > room


def test_context_with_an_unrated_pair_goes_to_training() -> None:
    pairs = [pair(str(n), reply=reply) for n in range(10) for reply in "ab"] + [pair("x"), pair("x", rated=False)]
    folds = split_pairs(pairs, "rated")
    assert {fold: len(found) for fold, found in folds.items()} == {"train": 2 + 8, "valid": 2, "test": 10}
    assert ("x",) in contexts(folds["train"])


def test_rated_split_without_ratings_is_all_training() -> None:
    pairs = [pair(str(n), rated=False) for n in range(10)]
    assert split_pairs(pairs, "rated") == {"train": pairs, "valid": [], "test": []}


def test_paper_split_has_sizes_of_the_paper() -> None:
    """4,750 contexts with two pairs each: 8,500 pairs for training, 500 of them for validation, and 1,000 for test."""
    folds = split_pairs([pair(str(n), reply=reply) for n in range(4750) for reply in "ab"], "paper")
    assert {fold: len(found) for fold, found in folds.items()} == {"train": 8000, "valid": 500, "test": 1000}


def by_hand(turns: tuple[str, ...]) -> str:
    return hashlib.sha256(b"humod 1\n" + "\n".join(turns).encode()).hexdigest()


def test_contexts_are_assigned_in_hash_order() -> None:
    pairs = [pair((f"a {n}", "b")) for n in range(100)]
    expected = sorted((one.context for one in pairs), key=by_hand)
    folds = split_pairs(pairs, "paper")  # 10.5 and 5.3 of 100 pairs
    assert contexts(folds["test"]) == set(expected[:11])
    assert contexts(folds["valid"]) == set(expected[11:16])


@pytest.mark.parametrize("other", [("a  b", "c"), (" a b", "c "), ("a b", "", "c"), ("a\u2003b", "c", " ")])
def test_checksum_ignores_whitespace_and_empty_turns(other: tuple[str, ...]) -> None:
    assert checksum([pair(("a b", "c"))]) == checksum([pair(other)])


def test_checksum_depends_on_turn_boundaries() -> None:
    assert checksum([pair(("a b", "c"))]) != checksum([pair(("a", "b c"))])


# --- checksums -------------------------------------------------------------------------------------------------------


def test_checksum_is_hash_of_sorted_context_hashes() -> None:
    lines = "\n".join(sorted([by_hand(("a", "b")), by_hand(("c",))]))
    expected = hashlib.sha256(lines.encode()).hexdigest()
    assert checksum([pair(("a", "b")), pair("c")]) == expected
    assert checksum([pair("c"), pair("c", rated=False, reply="x"), pair(("a", "b"))]) == expected


def test_checksums_of_different_contexts_differ() -> None:
    sums = [checksum(map(pair, texts)) for texts in ("", "a", "ab", "abc", "abd")]
    assert len(set(sums)) == 5


PUBLISHED = {
    ("full", "paper", "test"): "b863b49622d29fd874e6f101b3cc984e0b8026221baefb51af839ac67a9e9000",
    ("full", "paper", "valid"): "e5a14e0c0b038f7d544d01251364813443fa7aa2ab449210f63b2d5f323a2602",
    ("full", "paper", "train"): "5d60ae8869d50a78a958db8f74546cd9d22be5c5fa2f2b1013ac75d8bfb0539a",
    ("full", "rated", "test"): "abd43dce6f8d4f794f0b44af56f4a72edd216f8c98c6ec86d6d2a63de0824a83",
    ("full", "rated", "valid"): "f9c61cef8e482c3bf1e36d75f33b050afa2a36223505c50b7ad226e22d0f92fc",
    ("full", "rated", "train"): "099f6abc9e4fac850b90651ce47d90d0c5f176ec8b9c4f373f4ff78b5117c92d",
    ("sample", "paper", "test"): "55d49907351a0f39b43f3de7180efc695ba0a4291bd818ddf313a357dbd93530",
    ("sample", "paper", "valid"): "2a8acbdb51a792e9535aab01dc918d2cad9ee1fe72ed79675511db2297bb8bb0",
}
"""Checksums of the contexts in each fold. If these change, every published number was measured on other data."""


@pytest.mark.parametrize("fold", ["test", "valid"])
def test_sample_split_matches_published_checksums(fold: str) -> None:
    assert checksum(split_pairs(read_humod(SAMPLE), "paper")[fold]) == PUBLISHED["sample", "paper", fold]


def test_readme_lists_full_split_checksums() -> None:
    readme = README.read_text(encoding="utf-8")
    published = re.findall(r"^\| `(\w+)` \| (\w+) \|.* \| `([0-9a-f]{64})` \|$", readme, re.MULTILINE)
    assert {("full", *row[:2]): row[2] for row in published} == {
        key: value for key, value in PUBLISHED.items() if key[0] == "full"
    }


# --- the data set itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes", "rated"),
    [
        ("paper", {"train": 7_999, "valid": 500, "test": 1_000}, {"train": 590, "valid": 42, "test": 68}),
        ("rated", {"train": 9_081, "valid": 70, "test": 348}, {"train": 282, "valid": 70, "test": 348}),
    ],
)
def test_full_splits_match_checksums_and_readme_counts(
    real_data: Path, name: str, sizes: dict[str, int], rated: dict[str, int]
) -> None:
    """700 pairs are rated, 698 of them in contexts without unrated pairs. Half of these are 349: 174 contexts."""
    pairs = list(read_humod(real_data / "humod/humod_9500.jsonl", bad_rows=[]))
    folds = split_pairs(pairs, name)
    assert {fold: len(found) for fold, found in folds.items()} == sizes
    assert {fold: sum(one.mean_rating is not None for one in found) for fold, found in folds.items()} == rated
    for fold in FOLDS:
        assert checksum(folds[fold]) == PUBLISHED["full", name, fold]
        row = f"| `{name}` | {fold} | {sizes[fold]:,} | {rated[fold]} | {len(contexts(folds[fold])):,} |"
        assert row in README.read_text(encoding="utf-8")
    assert not contexts(folds["test"]) & (contexts(folds["train"]) | contexts(folds["valid"]))
    mixed = split_pairs(random.Random(1).sample(pairs, len(pairs)), name)
    assert checksum(mixed["test"]) == PUBLISHED["full", name, "test"]


def test_readme_statistics_match_full_dataset(real_data: Path) -> None:
    """Contexts that begin with other contexts, and the number of dialogues that can be recombined."""
    folds = split_pairs(read_humod(real_data / "humod/humod_9500.jsonl", bad_rows=[]), "paper")
    test, others = contexts(folds["test"]), contexts(folds["train"]) | contexts(folds["valid"])
    begun = sum(any(context[:n] in others for n in range(1, len(context))) for context in test)
    beginning = sum(any(other[: len(context)] == context for other in others) for context in test)
    whole = [exchange for exchange in exchanges(folds["train"]) if exchange.original]
    known = alternatives(exchanges(folds["train"]))
    ways = [[len(texts) for texts in choices(exchange, known)] for exchange in whole]
    varied = sum(sum(number > 1 for number in numbers) > 1 for numbers in ways)
    readme = README.read_text(encoding="utf-8")
    assert f"of the {len(test)} test contexts of `paper`, {begun} begin with a context of another fold" in readme
    assert f"and {beginning} are the beginning of one" in readme
    assert f"Of the {len(whole):,} training dialogues, {varied} can be varied" in readme
    assert f"they would give {sum(map(prod, ways)):,}," in readme
