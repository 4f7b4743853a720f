"""Splits: no post in two folds, each level in each fold, and the checksums that the README publishes."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.epitome import splits
from parlai_empathy.tasks.epitome.build import SAMPLE
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS
from parlai_empathy.tasks.epitome.reader import Pair, read_epitome
from parlai_empathy.tasks.epitome.splits import FOLDS, checksum, split_pairs

README = Path(splits.__file__).parent / "README.md"


def pair(post: str, levels: tuple[int, ...] = (0, 0, 0), response: str = "r") -> Pair:
    return Pair(post, response, "a post", "a response", dict(zip(MECHANISMS, levels, strict=True)), {}, ())


def posts(pairs: list[Pair]) -> set[str]:
    return {one.seeker_id for one in pairs}


# Few posts, so that most occur several times.
_PAIRS = st.lists(
    st.builds(pair, st.sampled_from("abcdefghijklmnop"), st.tuples(*[st.sampled_from([0, 1, 2])] * 3)), max_size=40
)


@given(_PAIRS)
def test_folds_are_disjoint_by_post_and_keep_all_pairs(pairs: list[Pair]) -> None:
    folds = split_pairs(pairs)
    assert list(folds) == ["train", "valid", "test"]
    assert sum(len(posts(folds[fold])) for fold in FOLDS) == len(posts(pairs))
    for fold in FOLDS:
        assert folds[fold] == [one for one in pairs if one.seeker_id in posts(folds[fold])]  # in the given order


@given(_PAIRS, st.integers(0, 999))
def test_split_does_not_depend_on_pair_order(pairs: list[Pair], seed: int) -> None:
    mixed = random.Random(seed).sample(pairs, len(pairs))
    here, there = split_pairs(pairs), split_pairs(mixed)
    assert {fold: posts(here[fold]) for fold in FOLDS} == {fold: posts(there[fold]) for fold in FOLDS}


def by_hand(post: str) -> str:
    return hashlib.sha256(f"epitome 1\n{post}".encode()).hexdigest()


def test_eval_folds_take_every_tenth_post_in_hash_order() -> None:
    names = [str(number) for number in range(25)]
    ordered = sorted(names, key=by_hand)
    folds = split_pairs([pair(name) for name in names])
    assert posts(folds["test"]) == {ordered[0], ordered[10], ordered[20]}
    assert posts(folds["valid"]) == {ordered[1], ordered[11], ordered[21]}


def test_rare_levels_are_stratified_across_folds() -> None:
    """10 of 100 posts have a rare level: they are sorted together, and one of them each goes to valid and test."""
    folds = split_pairs([pair(str(n), (0, 0, 1) if n % 10 == 3 else (0, 0, 0)) for n in range(100)])
    assert {fold: sum(one.levels["explorations"] for one in pairs) for fold, pairs in folds.items()} == {
        "train": 8,
        "valid": 1,
        "test": 1,
    }


def test_checksum_is_hash_of_sorted_post_hashes() -> None:
    expected = hashlib.sha256("\n".join(sorted([by_hand("a"), by_hand("b")])).encode()).hexdigest()
    assert checksum([pair("a"), pair("b")]) == expected
    assert checksum([pair("b"), pair("a", (2, 2, 2)), pair("a")]) == expected
    assert checksum([pair("a")]) != expected


PUBLISHED = {
    ("full", "train"): "9640e7ea055cc38c10edcbc19e091ca58998b792406696f165b6e7e159031fd3",
    ("full", "valid"): "7913bd212d407885e5ff971a35bc07d3f6d248c7d28fd5c19222de27bb63f61b",
    ("full", "test"): "f8c832d65f3b11846be5e4e258f8b4ec1e60add15b1ea5ad835037868eed972b",
    ("sample", "valid"): "5cecab884808509d0fe7e9931b4d6b011b53b57ac553600396c5c8c54a80ff26",
    ("sample", "test"): "531d87538fa41694f85d41c8f778571d1ffe5fe1277df823392f982216e9f9f2",
}
"""Checksums of the posts in each fold. If these change, every published number was measured on other data."""


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_sample_split_matches_published_checksums(fold: str) -> None:
    assert checksum(split_pairs(read_epitome(SAMPLE))[fold]) == PUBLISHED["sample", fold]


def test_readme_lists_full_split_checksums() -> None:
    published = re.findall(r"^\| (\w+) \|.* \| `([0-9a-f]{64})` \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert {("full", fold): digest for fold, digest in published} == {
        key: value for key, value in PUBLISHED.items() if key[0] == "full"
    }


def test_full_split_matches_checksums_and_readme_counts(real_data: Path) -> None:
    folds = split_pairs(read_epitome(real_data / "epitome"))
    readme = README.read_text(encoding="utf-8")
    for fold, pairs in folds.items():
        assert checksum(pairs) == PUBLISHED["full", fold]
        counts = [Counter(one.levels[name] for one in pairs) for name in MECHANISMS]
        levels = " | ".join(" / ".join(f"{count[level]:,}" for level in (0, 1, 2)) for count in counts)
        assert f"| {fold} | {len(pairs):,} | {len(posts(pairs)):,} | {levels} |" in readme
