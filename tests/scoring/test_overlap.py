"""BLEU-4, ROUGE-L and METEOR: by hand, against other implementations, and their invariants."""

from __future__ import annotations

import json
import math
import random
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.meteor_score import single_meteor_score
from tiny_wordnet import write_wordnet

from parlai_empathy import __version__
from parlai_empathy.errors import MissingDependencyError, NotComputableError
from parlai_empathy.scoring import overlap
from parlai_empathy.scoring.overlap import Meteor, OverlapJudge, RougeL, SentenceBleu4, overlap_judges
from parlai_empathy.scoring.wordnet import open_wordnet

Judges = dict[str, OverlapJudge]
NAMES = ("BLEU-4", "ROUGE-L", "METEOR")

# A small vocabulary, so that words match, repeat and change order; no judge normalises any of them.
words = st.sampled_from(["my", "car", "auto", "starts", "begin", "walking", "walked"])
texts = st.lists(words, min_size=1, max_size=7).map(" ".join)
replies = st.lists(words, max_size=7).map(" ".join)
reference_lists = st.lists(texts, min_size=1, max_size=3)
items = st.lists(st.tuples(replies, reference_lists), min_size=1, max_size=5)
quick = settings(deadline=None, max_examples=60)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return NLTK's reader of the tiny WordNet."""
    folder = write_wordnet(tmp_path_factory.mktemp("wordnet") / "dict")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [])
        patch.setenv("WNSEARCHDIR", str(folder))
        reader = open_wordnet()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [*nltk.data.path, str(folder)])  # for files read later
        yield reader


@pytest.fixture(scope="module")
def judges(tiny: Any) -> Judges:
    """Return the three judges by name; METEOR uses the synonyms of the tiny WordNet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "open_wordnet", lambda: tiny)
        return {judge.name: judge for judge in overlap_judges() if isinstance(judge, OverlapJudge)}


def one(judge: OverlapJudge, reply: str, *references: str) -> float:
    """Return the score of one reply."""
    (score,) = judge.score([["hello"]], [reply], [references])
    return float(score)


# --- BLEU-4 ----------------------------------------------------------------------------------------------------------


def test_bleu_with_smoothing() -> None:
    # Equal length: no penalty. Matches: 4 of 5 words, 2 of 4 bigrams (the cat; here now), 0 of 3 trigrams, 0 of 2
    # 4-grams.
    # Smoothed, 1/2 of 3 and 1/4 of 2: (4/5 * 2/4 * 1/6 * 1/8) ** (1/4) = (1/120) ** (1/4) = 0.302138.
    assert one(SentenceBleu4(), "the cat is here now", "the cat was here now") == pytest.approx(30.2138, abs=1e-4)


def test_bleu_brevity_penalty() -> None:
    # All n-grams match; 4 tokens against 6: exp(1 - 6/4) = 0.606531.
    assert one(SentenceBleu4(), "the cat sat on", "the cat sat on the mat") == pytest.approx(60.6531, abs=1e-4)


def test_bleu_of_short_reply_uses_effective_order() -> None:
    # 1 of 2 words, 0 of 1 bigram, smoothed to 1/2: sqrt(1/2 * 1/2) = 1/2. Without trigrams, higher orders are ignored.
    assert one(SentenceBleu4(), "oh no", "oh dear") == pytest.approx(50)


def test_bleu_pools_ngrams_of_all_references() -> None:
    # Both words match, each in a different reference; the bigram in none: sqrt(2/2 * 1/2) = 0.707107. With either
    # reference alone it would be sqrt(1/2 * 1/2).
    assert one(SentenceBleu4(), "a b", "a x", "y b") == pytest.approx(70.7107, abs=1e-4)


def test_bleu_brevity_penalty_uses_closest_reference_length() -> None:
    # Three tokens, which all match; of the lengths 6 and 4, the latter is closer: exp(1 - 4/3) = 0.716531.
    assert one(SentenceBleu4(), "a b c", "a b c d e f", "x y z a") == pytest.approx(71.6531, abs=1e-4)


def test_bleu_is_case_sensitive_and_splits_off_punctuation() -> None:
    assert one(SentenceBleu4(), "Sorry", "sorry") == 0
    # sorry matches; . and ! do not: 1 of 2 words, 0 of 1 bigram, as in "oh no".
    assert one(SentenceBleu4(), "sorry.", "sorry!") == pytest.approx(50)


def nltks_bleu(reply: str, references: Sequence[str]) -> float:
    """Return NLTK's sentence BLEU with NIST's smoothing (sacrebleu's ``exp``), up to the orders that the reply has."""
    tokens = reply.split()
    orders = min(4, len(tokens))
    smoothing = SmoothingFunction().method3
    return 100 * float(
        sentence_bleu(
            [text.split() for text in references], tokens, [1 / orders] * orders, smoothing_function=smoothing
        )
    )


@quick
@given(reply=texts, references=reference_lists)
def test_bleu_matches_nltk(judges: Judges, reply: str, references: list[str]) -> None:
    assert one(judges["BLEU-4"], reply, *references) == pytest.approx(nltks_bleu(reply, references), abs=1e-9)


# --- ROUGE-L ---------------------------------------------------------------------------------------------------------


def test_rouge_l_f1() -> None:
    # The longest common subsequence is "the cat on mat": 4 of the reply's 6 words, 4 of the reference's 6.
    assert one(RougeL(), "the cat is on the mat", "the cat sat on a mat") == pytest.approx(100 * 4 / 6)
    # "so sorry": 2 of 2 and 2 of 5; F1 is 2 * 1 * 0.4 / 1.4 = 0.571429.
    assert one(RougeL(), "so sorry", "i am so very sorry") == pytest.approx(57.1429, abs=1e-4)


def test_rouge_ignores_case_and_punctuation_without_stemming() -> None:
    assert one(RougeL(), "So, SORRY!", "so sorry") == 100
    assert one(RougeL(), "walked", "walking") == 0
    assert one(RougeL(), "...", "...") == 0


@lru_cache
def common(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Return the length of the longest common subsequence, by its definition."""
    if not first or not second:
        return 0
    skipped = max(common(first[1:], second), common(first, second[1:]))
    return max(skipped, 1 + common(first[1:], second[1:])) if first[0] == second[0] else skipped


@quick
@given(reply=texts, reference=texts)
def test_rouge_matches_longest_common_subsequence(judges: Judges, reply: str, reference: str) -> None:
    # With P = l / a and R = l / b the F1 is 2 P R / (P + R) = 2 l / (a + b).
    a, b = tuple(reply.split()), tuple(reference.split())
    assert one(judges["ROUGE-L"], reply, reference) == pytest.approx(200 * common(a, b) / (len(a) + len(b)))


# --- METEOR ----------------------------------------------------------------------------------------------------------


def meteor(matches: int, chunks: int, reply: int, reference: int) -> float:
    """Return Banerjee and Lavie's score: 10 P R / (R + 9 P), reduced by half the cube of chunks / matches."""
    p, r = matches / reply, matches / reference
    return 100 * 10 * p * r / (r + 9 * p) * (1 - 0.5 * (chunks / matches) ** 3)


def test_meteor_of_exact_match(judges: Judges) -> None:
    # P = 3/3, R = 3/5: 0.6 / (0.9 + 0.06) = 0.625. One chunk of 3 words: 1 - 0.5 / 27 = 0.981481.
    # Together 0.625 * 0.981481 = 0.613426.
    assert one(judges["METEOR"], "the cat sat", "the cat sat down here") == pytest.approx(61.3426, abs=1e-4)
    assert meteor(matches=3, chunks=1, reply=3, reference=5) == pytest.approx(61.3426, abs=1e-4)


def test_meteor_matches_synonyms(judges: Judges) -> None:
    # All 4 words match in one chunk, auto as a synonym of car: 1 - 0.5 / 64 = 0.992188.
    assert one(judges["METEOR"], "my auto is red", "my car is red") == pytest.approx(99.2188, abs=1e-4)
    # "boat" is not a synonym: 3 of 4 in two chunks, 0.75 * (1 - 0.5 * 8/27) = 0.638889.
    assert one(judges["METEOR"], "my boat is red", "my car is red") == pytest.approx(63.8889, abs=1e-4)


def test_meteor_matches_stems_and_penalises_reordering(judges: Judges) -> None:
    # walked and walking have the same stem.
    assert one(judges["METEOR"], "we walked home", "we walking home") == pytest.approx(meteor(3, 1, 3, 3))
    # "sat down" before "the cat": two chunks.
    assert one(judges["METEOR"], "sat down the cat", "the cat sat down") == pytest.approx(meteor(4, 2, 4, 4))


def test_meteor_tokenization(judges: Judges) -> None:
    # I / 'm / fine / . / Thanks / ! is one chunk of 6; the full stop is split off although more text follows.
    assert one(judges["METEOR"], "I'm fine. Thanks!", "i'm fine. thanks!") == pytest.approx(meteor(6, 1, 6, 6))
    # Two of do / n't / go / . match those of go / . here.
    assert one(judges["METEOR"], "Don't go.", "Go.") == pytest.approx(meteor(2, 1, 4, 2))


def test_meteor_of_single_word_match_is_fifty(judges: Judges) -> None:
    assert one(judges["METEOR"], "yes", "yes") == pytest.approx(50)


@quick
@given(reply=texts, reference=texts)
def test_meteor_matches_nltk(judges: Judges, tiny: Any, reply: str, reference: str) -> None:
    theirs = single_meteor_score(reference.split(), reply.split(), wordnet=tiny)
    assert one(judges["METEOR"], reply, reference) == pytest.approx(100 * theirs)


def test_meteor_without_wordnet_raises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"python -m nltk\.downloader wordnet.*Debian's package"):
        Meteor()


def test_meteor_with_installed_wordnet() -> None:
    try:
        judge = Meteor()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    # All 4 words match in one chunk, as with the tiny WordNet.
    assert one(judge, "my auto is red", "my car is red") == pytest.approx(meteor(4, 1, 4, 4))
    # blue and red are not synonyms.
    assert one(judge, "my blue car", "my red car") == pytest.approx(meteor(2, 2, 3, 3))


# --- all three judges ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@quick
@given(reply=texts, reference=texts)
def test_reference_itself_gets_the_maximum_score(judges: Judges, name: str, reply: str, reference: str) -> None:
    length = len(reference.split())
    most = one(judges[name], reference, reference)
    assert most == pytest.approx(meteor(length, 1, length, length) if name == "METEOR" else 100)
    assert 0 <= one(judges[name], reply, reference) <= min(most + 1e-9, 100)


@pytest.mark.parametrize("name", ["ROUGE-L", "METEOR"])
@quick
@given(reply=replies, references=reference_lists)
def test_score_is_maximum_over_references(judges: Judges, name: str, reply: str, references: list[str]) -> None:
    assert one(judges[name], reply, *references) == max(one(judges[name], reply, text) for text in references)


@pytest.mark.parametrize("name", NAMES)
@quick
@given(pairs=items, seed=st.integers(0, 99))
def test_scores_do_not_depend_on_item_or_reference_order(
    judges: Judges, name: str, pairs: list[tuple[str, list[str]]], seed: int
) -> None:
    order = random.Random(seed).sample(range(len(pairs)), len(pairs))
    shuffled = [(pairs[place][0], pairs[place][1][::-1]) for place in order]  # references in any order
    contexts: list[list[str]] = [[] for _ in pairs]
    scores, again = (judges[name].score(contexts, *map(list, zip(*some, strict=True))) for some in (pairs, shuffled))
    assert scores.shape == (len(pairs),)
    assert scores.dtype == np.float64
    assert again.tolist() == scores[order].tolist()
    assert scores.tolist() == [one(judges[name], reply, *references) for reply, references in pairs]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reply", ["", "  ", "\n"])
def test_empty_reply_scores_zero(judges: Judges, name: str, reply: str) -> None:
    assert one(judges[name], reply, "my car") == 0


@pytest.mark.parametrize("name", NAMES)
def test_blank_references_are_ignored(judges: Judges, name: str) -> None:
    # BLEU would otherwise use the blank reference's length as the closest, and apply no brevity penalty.
    assert one(judges[name], "my", "", "my car starts", " \n") == one(judges[name], "my", "my car starts")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("references", [[], [""], [" ", "\t"]])
def test_item_without_reference_raises(judges: Judges, name: str, references: list[str]) -> None:
    message = f"{name} of item 1, counted from 0: it has no reference, or only blank ones; leave it out"
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        judges[name].score([[], []], ["a", "b"], [["a"], references])


@pytest.mark.parametrize("name", NAMES)
def test_missing_or_mismatched_references_raise(judges: Judges, name: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{name} compares replies with references, but was given none$"):
        judges[name].score([[]], ["a"])
    with pytest.raises(NotComputableError, match=r"^2 x list of references for 1 replies"):
        judges[name].score([[]], ["a"], [["a"], ["b"]])
    with pytest.raises(NotComputableError, match=r"^no list of replies"):
        judges[name].score([], [], [])


@pytest.mark.parametrize(
    ("judge", "module", "named"),
    [
        (SentenceBleu4, "sacrebleu", "sacrebleu"),
        (RougeL, "rouge_score.rouge_scorer", "rouge_score"),
        (Meteor, "nltk", "nltk"),
    ],
)
def test_missing_library_error_names_the_library(
    judge: type[OverlapJudge], module: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    pattern = rf"^{judge.name} needs {named}, .*: pip install \"parlai-empathy\[overlap\]\"$"
    with pytest.raises(MissingDependencyError, match=pattern):
        judge()


def test_judge_without_wordnet_is_skipped_on_request(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    missing: list[MissingDependencyError] = []
    assert [judge.name for judge in overlap_judges(missing)] == ["BLEU-4", "ROUGE-L"]
    (error,) = missing
    assert re.search(r"^METEOR needs WordNet, which is neither .* run `python -m nltk\.downloader wordnet`", str(error))
    with pytest.raises(MissingDependencyError, match=f"^{re.escape(str(error))}$"):
        overlap_judges()


def test_all_missing_libraries_are_collected(monkeypatch: pytest.MonkeyPatch, judges: Judges) -> None:
    monkeypatch.setattr(overlap, "open_wordnet", lambda: judges["METEOR"])
    for library in ("sacrebleu", "rouge_score.rouge_scorer", "nltk"):
        monkeypatch.setitem(sys.modules, library, None)
    missing: list[MissingDependencyError] = []
    assert overlap_judges(missing) == []
    assert [str(error).split(",")[0] for error in missing] == [
        *("BLEU-4 needs sacrebleu", "ROUGE-L needs rouge_score", "METEOR needs nltk")
    ]


def test_complete_installation_has_no_missing_dependencies(monkeypatch: pytest.MonkeyPatch, tiny: Any) -> None:
    monkeypatch.setattr(overlap, "open_wordnet", lambda: tiny)
    missing: list[MissingDependencyError] = []
    assert [judge.name for judge in overlap_judges(missing)] == list(NAMES)
    assert missing == []


def test_signatures(judges: Judges) -> None:
    assert list(judges) == list(NAMES)
    versions = {
        r"sacrebleu:[\d.]+": "sacrebleu:2",
        r"rouge-score:[\d.]+": "rouge-score:0",
        r"nltk:[\d.]+": "nltk:3",
    }
    found = [judge.signature for judge in judges.values()]
    assert SentenceBleu4().signature == found[0], "before its first score, too"
    for pattern, major in versions.items():
        found = [re.sub(pattern, major, text) for text in found]
    assert found == [
        f"BLEU-4|references:all|case:mixed|eff:yes|tok:13a|smooth:exp|sacrebleu:2|version:{__version__}",
        f"ROUGE-L|references:best|measure:f1|case:lc|tok:a-z0-9|stem:no|rouge-score:0|version:{__version__}",
        "METEOR|references:best|alpha:0.9|beta:3.0|gamma:0.5|case:lc|tok:punkt+treebank|stem:porter|wordnet:9.9|nltk:3"
        f"|version:{__version__}",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_original_replies_score_higher_than_random_ones(judges: Judges, name: str, real_data: Path) -> None:
    with (real_data / "humod" / "humod_9500.jsonl").open(encoding="utf-8") as file:
        pairs = [json.loads(line) for _, line in zip(range(1000), file, strict=False)]
    scores = judges[name].score(
        [[pair["context"]] for pair in pairs],
        [pair["reply"] for pair in pairs],
        [pair["human_replies"] for pair in pairs],
    )
    true = np.array([pair["reply_kind"] == "original" for pair in pairs])
    # Three standard errors of the difference, so that it is not due to chance.
    error = math.sqrt(scores[true].var() / true.sum() + scores[~true].var() / (~true).sum())
    assert scores[true].mean() > scores[~true].mean() + 3 * error
