"""Metrics of the replies' words, compared with sacrebleu and with counting by hand."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from parlai_empathy import __version__
from parlai_empathy.errors import MissingDependencyError, NotComputableError
from parlai_empathy.metrics.avg_bleu import BleuStatistics, avg_bleu
from parlai_empathy.metrics.distinct import distinct
from parlai_empathy.metrics.nidf import Nidf
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.scored import Scored, stacked
from parlai_empathy.scoring.systems import ReplyMetric
from parlai_empathy.scoring.word_metrics import AvgBleu, CorpusBleu4, Length, Rarity, Variety, Words

REPLIES = [
    LoggedReply("I am so sorry to hear that.", ("a",), ("I am so sorry, I hear.",), "sad", line=3),
    LoggedReply("", ("a",), ("Oh no!",), line=4),
    LoggedReply("So sorry!", ("a",), line=5),
]
CUT = Words("space", lower_case=True)


def tail(tokens: str, case: str = "kept", n: int = 3, left_out: int = 0) -> str:
    last = f"|left_out:{left_out}" if left_out else ""
    return f"case:{case}|tokens:{tokens}|n:{n}{last}|version:{__version__}"


def said(*replies: str) -> list[LoggedReply]:
    return list(map(LoggedReply, replies))


def by_key(metric: ReplyMetric, replies: Sequence[LoggedReply]) -> dict[str, Scored]:
    return {one.key: one for one in metric.score(replies)}


def only(metric: ReplyMetric, replies: Sequence[LoggedReply]) -> Scored:
    (found,) = metric.score(replies)
    return found


# --- length ----------------------------------------------------------------------------------------------------------


def test_length_counts_tokens_including_empty_replies() -> None:
    # Punctuation marks are separate: 8 (I am so sorry to hear that .), 0 and 3 (So sorry !).
    found = only(Length(Words()), REPLIES)
    assert found.number == pytest.approx(11 / 3)
    assert found.number.signature == f"words a reply|{tail('re')}"
    assert found.items == (8, 0, 3)
    assert only(Length(CUT), REPLIES).items == (7, 0, 2)


# --- variety ---------------------------------------------------------------------------------------------------------


def test_dist_n_over_corpus() -> None:
    # Of the 11 words only sorry occurs twice: 10 distinct. Bigrams: 7 + 0 + 2 = 9, all distinct.
    found = by_key(Variety(Words()), REPLIES)
    assert found["dist_1"].number == pytest.approx(100 * 10 / 11)
    assert found["dist_2"].number == 100
    assert found["dist_1"].number.signature == f"Dist-1|level:corpus|{tail('re')}"
    assert not found["dist_1"].has_interval, "a reply that is drawn twice is no variety"
    assert [len(item) for item in found["dist_2"].items] == [7, 0, 2]
    assert found["dist_2"].record is None, "a single reply has no share among the words of all"


def test_dist_n_with_space_tokens_and_lower_case() -> None:
    # 7 (I am so sorry to hear that.) and 2 (So sorry!); so occurs twice, sorry! differs from sorry: 8 of 9.
    found = by_key(Variety(CUT), REPLIES)
    assert found["dist_1"].number == pytest.approx(100 * 8 / 9)
    assert found["dist_1"].number.signature == f"Dist-1|level:corpus|{tail('space', 'lower')}"


def test_dist_n_within_reply() -> None:
    # Ignoring case: "no No no" has 1 word of 3 and 1 bigram of 2; "oh no" has all; "oh" has no bigram; "" has nothing.
    found = by_key(Variety(Words("space")), said("no No no", "oh no", "oh", ""))
    assert found["dist_1_reply"].items == (pytest.approx(1 / 3), 1, 1, None)
    assert found["dist_2_reply"].items == (0.5, 1, None, None)
    assert found["dist_1_reply"].number == pytest.approx((1 / 3 + 1 + 1) / 3)
    assert found["dist_2_reply"].number == 0.75
    signature = found["dist_2_reply"].number.signature
    assert signature == f"Dist-2 in a reply|level:reply|{tail('space', 'lower', 2, 2)}"
    assert found["dist_1"].number == pytest.approx(100 * 3 / 6), "no, No and oh: over all replies case is kept"


def test_single_word_replies_have_no_dist_2() -> None:
    assert list(by_key(Variety(CUT), said("a", "", "b"))) == ["dist_1", "dist_1_reply"]


def test_dist_n_of_only_empty_replies_raises() -> None:
    with pytest.raises(NotComputableError, match=r"^Dist-n: no reply has a word$"):
        Variety(CUT).score(said("", " "))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=8), st.data())
def test_dist_n_of_selected_items_matches_direct_computation(replies: list[list[str]], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(replies) - 1), min_size=1, max_size=8))
    chosen = [replies[place] for place in places]
    for order in (1, 2):
        found = by_key(Variety(CUT), [LoggedReply("x y"), *said(*map(" ".join, replies))])[f"dist_{order}"]
        items = stacked([found.items[place + 1] for place in places])
        if max(map(len, chosen)) < order:
            with pytest.raises(NotComputableError, match=r"^Dist-n: no reply is long enough$"):
                found.value(items)
        else:
            assert found.value(items) == pytest.approx(distinct(chosen, order))


def test_dist_2_of_published_log_matches_direct_count(real_data: Path) -> None:
    replies = read_replies_log(real_data / "peers" / "EmpDG_EmpDG.txt")
    pairs = Counter(pair for reply in replies for pair in pairwise(reply.reply.split()))
    found = by_key(Variety(Words("space")), replies)
    assert found["dist_2"].number == pytest.approx(100 * len(pairs) / pairs.total())


# --- rarity ----------------------------------------------------------------------------------------------------------


def test_nidf_mean_and_max() -> None:
    # The most common word has 0, the rarest 1; a count of 2 is half-way between 1 and 4 on a log scale.
    nidf = Nidf({"the": 4, "cat": 2, "sat": 1}, "mine")
    found = only(Rarity(Words(), nidf), said("The cat!", "sat", "dog", ""))
    assert found.items == (pytest.approx(0.25), 1, None, None)
    assert found.number == pytest.approx(0.625)
    assert found.number.signature == (
        f"NIDF|words:mean|case:lower|tokens:re|counts:mine|n:2|left_out:2|version:{__version__}"
    )
    largest = only(Rarity(Words(), nidf, "max"), said("The cat!", "sat"))
    assert largest.items == (pytest.approx(0.5), 1)
    assert "|words:max|" in largest.number.signature


def test_nidf_without_known_words_raises() -> None:
    with pytest.raises(NotComputableError, match=r"^NIDF: it cannot be computed for any reply$"):
        Rarity(Words(), Nidf({"a": 1, "b": 2}, "mine")).score(said("x", ""))


# --- BLEU ------------------------------------------------------------------------------------------------------------


def test_bleu_matches_sacrebleu_on_replies_with_references() -> None:
    replies = ["I am so sorry to hear that .", ""]
    references = [["I am so sorry , I hear .", "Oh no !"]]
    orders = [
        BLEU(tokenize="none", smooth_method="none", max_ngram_order=n, force=True).corpus_score(replies, references)
        for n in range(1, 5)
    ]
    average = only(AvgBleu(Words()), REPLIES)
    assert average.number == pytest.approx(sum(one.score for one in orders) / 4)
    assert average.left_out == 1
    assert average.number.signature == f"AVG BLEU|orders:1-4|smoothing:none|references:1|{tail('re', n=2, left_out=1)}"
    theirs = BLEU(force=True).corpus_score([one.reply for one in REPLIES[:2]], [[*REPLIES[0].references, "Oh no!"]])
    four = only(CorpusBleu4(Words()), REPLIES)
    assert four.number == pytest.approx(theirs.score)
    assert four.number.signature.startswith("BLEU-4|case:kept|nrefs:1|tok:13a|smooth:exp|sacrebleu:")
    assert four.number.signature.endswith(f"|n:2|version:{__version__}")
    assert (four.items, four.left_out) == ((), 0)


def test_bleu_respects_lower_case_option() -> None:
    replies = [LoggedReply("SO SORRY FOR YOU", references=("so sorry for you",))]
    for metric in (AvgBleu, CorpusBleu4):
        assert only(metric(CUT), replies).number == pytest.approx(100)
        assert only(metric(Words("space")), replies).number == 0


def test_bleu_with_varying_number_of_references() -> None:
    replies = [LoggedReply("a b c d e", references=("a b c d", "c d e f")), LoggedReply("x", references=("x", " "))]
    assert "|references:1-2|" in only(AvgBleu(Words()), replies[::-1]).number.signature
    theirs = BLEU(force=True).corpus_score(["a b c d e", "x"], [["a b c d", "x"], ["c d e f", None]])  # type: ignore
    assert only(CorpusBleu4(Words()), replies).number == pytest.approx(theirs.score)
    assert "|references:1-2|" in only(AvgBleu(Words()), replies).number.signature


def test_bleu_statistics_of_replies_add_up_to_corpus_bleu() -> None:
    found = only(AvgBleu(Words()), REPLIES)
    assert found.items[2] is None
    kept = [BleuStatistics(**found.record(item)) for item in found.items[:2]]
    assert avg_bleu(kept[0] + kept[1]) == found.number
    # I am so sorry; hear; the final mark: 6 of 8 words. I am so sorry has 3 bigrams, of 7.
    assert found.record(found.items[0]) == {
        "matches": [6, 3, 2, 1],
        "totals": [8, 7, 6, 5],
        "reply_length": 8,
        "reference_length": 8,
    }


@pytest.mark.parametrize("metric", [AvgBleu(CUT), CorpusBleu4(CUT)])
def test_bleu_without_references_raises(metric: ReplyMetric) -> None:
    with pytest.raises(NotComputableError, match=r"^(AVG BLEU|BLEU-4): .*no reply"):
        metric.score([REPLIES[2], LoggedReply("b", references=(" ",))])


def test_missing_sacrebleu_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(MissingDependencyError, match=r'^BLEU-4 needs .*pip install "parlai-empathy\[overlap\]"$'):
        CorpusBleu4(Words()).score(REPLIES)
