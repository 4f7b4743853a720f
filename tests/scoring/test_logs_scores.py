"""The numbers of a log, beside sacrebleu's and beside what is counted by hand."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.avg_bleu import BleuStatistics, avg_bleu
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.logs_scores import score_replies

REPLIES = [
    LoggedReply("I am so sorry to hear that.", ("a",), ("I am so sorry, I hear.",), "sad", "", 3),
    LoggedReply("", ("a",), ("Oh no!",), None, "", 4),
    LoggedReply("So sorry!", ("a",), (), None, "", 5),
]


def tail(tokens: str, case: str = "kept", n: int = 3) -> str:
    return f"case:{case}|tokens:{tokens}|n:{n}|version:{__version__}"


def test_words_and_variety_by_hand() -> None:
    # Words and marks apart: 8 (I am so sorry to hear that .), 0 and 3 (So sorry !) make 11 on three replies. Different
    # ones: sorry comes twice, 10 of 11. Pairs: 7 + 0 + 2 = 9, all different.
    found = score_replies("s", REPLIES)
    assert found.numbers["words"] == pytest.approx(11 / 3)
    assert found.numbers["dist_1"] == pytest.approx(100 * 10 / 11)
    assert found.numbers["dist_2"] == 100
    assert (found.replies, found.empty, found.unreferred, found.missing) == (3, 1, 1, ())
    assert found.numbers["dist_1"].signature == f"Dist-1|level:corpus|{tail('re')}"
    assert found.numbers["words"].signature == f"mean length|{tail('re')}"


def test_split_at_spaces_and_in_lower_case_by_hand() -> None:
    # 7 (I am so sorry to hear that.) and 2 (So sorry!); so comes twice, the last words have their marks: 8 of 9.
    found = score_replies("s", REPLIES, "space", lower_case=True)
    assert found.numbers["dist_1"] == pytest.approx(100 * 8 / 9)
    assert found.numbers["dist_1"].signature == f"Dist-1|level:corpus|{tail('space', 'lower')}"


def test_bleu_is_sacrebleus_of_the_replies_with_a_reference() -> None:
    found = score_replies("s", REPLIES)
    replies = ["I am so sorry to hear that .", ""]
    references = [["I am so sorry , I hear .", "Oh no !"]]
    orders = [
        BLEU(tokenize="none", smooth_method="none", max_ngram_order=n, force=True).corpus_score(replies, references)
        for n in range(1, 5)
    ]
    assert found.numbers["avg_bleu"] == pytest.approx(sum(one.score for one in orders) / 4)
    theirs = BLEU(force=True).corpus_score([one.reply for one in REPLIES[:2]], [[*REPLIES[0].references, "Oh no!"]])
    assert found.numbers["bleu_4"] == pytest.approx(theirs.score)
    assert found.numbers["avg_bleu"].signature == (f"AVG BLEU|orders:1-4|smoothing:none|references:1|{tail('re', n=2)}")
    assert found.numbers["bleu_4"].signature.startswith("BLEU-4|case:kept|nrefs:1|tok:13a|smooth:exp|sacrebleu:")


def test_several_references_some_of_them_fewer() -> None:
    replies = [LoggedReply("a b c d e", references=("a b c d", "c d e f")), LoggedReply("x", references=("x",))]
    found = score_replies("s", replies)
    theirs = BLEU(force=True).corpus_score(["a b c d e", "x"], [["a b c d", "x"], ["c d e f", None]])  # type: ignore
    assert found.numbers["bleu_4"] == pytest.approx(theirs.score)
    assert "|references:1-2|" in found.numbers["avg_bleu"].signature


def test_items_add_up_to_the_corpus() -> None:
    found = score_replies("s", REPLIES)
    assert [(item["item"], item["line"], item["emotion"], item["words"]) for item in found.items] == [
        *((0, 3, "sad", 8), (1, 4, None, 0), (2, 5, None, 3))
    ]
    assert found.items[2]["bleu"] is None
    first, second = (BleuStatistics(**item["bleu"]) for item in found.items[:2])
    assert avg_bleu(first + second) == found.numbers["avg_bleu"]


def test_without_references_there_is_no_bleu() -> None:
    assert set(score_replies("s", [REPLIES[2]]).numbers) == {"words", "dist_1", "dist_2"}


def test_empty_replies_alone_have_a_length_and_nothing_else() -> None:
    found = score_replies("s", [LoggedReply(""), LoggedReply("  ")])
    assert found.numbers == {"words": 0.0}
    assert found.empty == 2


def test_no_replies_are_an_error() -> None:
    with pytest.raises(NotComputableError, match=r"^s: there is no reply to score$"):
        score_replies("s", [])


def test_without_sacrebleu_all_the_rest_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    found = score_replies("s", REPLIES)
    assert set(found.numbers) == {"words", "dist_1", "dist_2", "avg_bleu"}
    (missing,) = found.missing
    assert 'pip install "parlai-empathy[overlap]"' in missing


def test_variety_of_a_real_log_counted_another_way(real_data: Path) -> None:
    replies = read_replies_log(real_data / "peers" / "EmpDG_EmpDG.txt")
    pairs = Counter(pair for reply in replies for pair in pairwise(reply.reply.split()))
    found = score_replies("EmpDG", replies, "space")
    assert found.numbers["dist_2"] == pytest.approx(100 * len(pairs) / pairs.total())
