"""Finding raters' quotations in a response."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.epitome.spans import clean, find_spans, merged, quotations

_SPAN = st.tuples(st.integers(0, 20), st.integers(1, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))
_WORDS = st.lists(
    st.sampled_from(["so", "sorry", "for", "you", "friend", ",", ".", "how", "it", "?"]), min_size=1, max_size=15
)


def found(text: str, *quoted: str) -> list[str]:
    spans, missing = find_spans(text, quoted)
    assert missing == []
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a  b\tc\n", "a b c"),
        ("I &lt;3 you &amp; yours", "I <3 you & yours"),
        ("over &amp;#x200B; there", "over there"),  # a zero-width space, escaped twice
        ("  ", ""),
    ],
)
def test_clean_normalizes_whitespace_and_html_entities(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [("", []), ("|", []), ("one|", ["one"]), ("one|two  parts|", ["one", "two parts"]), ("one | |two", ["one", "two"])],
)
def test_quotations_are_separated_by_bars(field: str, expected: list[str]) -> None:
    assert quotations(field) == expected


def test_exact_quotations_are_found_in_text_order() -> None:
    assert found("I am sorry. Go out. How are you?", "How are you?", "I am sorry.") == ["I am sorry.", "How are you?"]


@pytest.mark.parametrize(
    ("text", "quoted", "expected"),
    [
        (
            "We on this forum have all been there too.",
            "We on this have all been there",
            "We on this forum have all been there",
        ),
        ("Go. i am so SORRY to hear that", "I am so sorry to hear that", "i am so SORRY to hear that"),
        ("I am sorry to hear that , really .", "I am sorry to hear that, really", "I am sorry to hear that , really"),
        (
            "Yes. I know how you feel and it will pass.",
            ";I know how you feel and it will pass.",
            "I know how you feel and it will pass.",
        ),
    ],
)
def test_slightly_different_quotations_are_found(text: str, quoted: str, expected: str) -> None:
    assert found(text, quoted) == [expected]


def test_distant_full_stop_is_not_part_of_the_span() -> None:
    text = "I feel so sorry for you today. Go for a walk and drink some water, then call a doctor."
    assert found(text, "I feel so sorry for you tonight.")[0].endswith("you today.")


def test_missing_quotations_are_returned() -> None:
    assert find_spans("Drink some water.", ["I am so sorry", "water"]) == (((11, 16),), ["I am so sorry"])
    assert find_spans("", ["sorry"]) == ((), ["sorry"])


def test_scattered_words_do_not_match() -> None:
    text = "so he went out and was late for work and she was sorry that I hear of it only now"
    assert find_spans(text, ["so sorry for that"])[1] == ["so sorry for that"]


@given(_WORDS, st.data())
def test_any_run_of_words_is_found_exactly(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    part = " ".join(words[first : data.draw(st.integers(first + 1, len(words)))])
    ((start, end),), missing = find_spans(text, [part])
    assert (text[start:end], missing) == (part, [])


@given(st.lists(_SPAN, max_size=8))
def test_merged_spans_cover_same_positions_without_touching(spans: list[tuple[int, int]]) -> None:
    whole = merged(spans)
    assert {place for start, end in whole for place in range(start, end)} == {
        place for start, end in spans for place in range(start, end)
    }
    assert all(one[1] < other[0] for one, other in pairwise(whole))
