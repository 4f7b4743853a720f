"""The rules for replies written by raters. All texts here are invented."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.analysis.free_text import (
    FEWEST_WORDS,
    LEAST_ENGLISH,
    english_share,
    is_generic,
    is_gibberish,
    is_other_script,
    most_frequent_share,
    plain,
)

ENGLISH = (
    "I am so sorry that you had to go through all of this. What did your sister say when you told her about it? I "
    "would not have known what to do, but I think you did the right thing, and I hope they will see it that way too."
)
OTHERS = {
    "German": "Ich weiß nicht, was ich dazu sagen soll. Das ist wirklich schade, aber du wirst es schaffen. In der "
    "Schule war so etwas auch immer ein Problem, und man hat mir gesagt, dass es besser wird. Am Ende ist alles gut.",
    "Spanish": "No sé qué decirte, lo siento mucho. Espero que todo salga bien para ti y tu familia. Me parece que has "
    "hecho lo que has podido y no es culpa tuya. Mi hermano me dijo lo mismo cuando perdí a mi gato.",
    "French": "Je ne sais pas quoi te dire, je suis vraiment désolé. On se voit demain si tu veux, ça te fera du bien. "
    "Tu as fait de ton mieux et ce n'est pas ta faute. J'espère que tout ira bien pour toi et pour ta famille.",
    "Portuguese": "Eu não sei o que dizer, sinto muito por você. Espero que tudo dê certo para a sua família. Acho que "
    "você fez o que podia e a culpa não é sua. As coisas vão melhorar, do jeito que eu te disse no mês passado.",
    "Dutch": "Ik weet niet wat ik moet zeggen, het spijt me zo. Ik hoop dat alles goed komt voor jou en je familie. Je "
    "hebt gedaan wat je kon. We gaan morgen samen naar buiten, was dat niet leuk in de zomer?",
}


@pytest.mark.parametrize(
    "text", ["ok", "OK!!", "Thank you.", "I don't know", "i dont know...", "I don\u2019t know", "Yes"]
)
def test_stock_phrases_are_generic(text: str) -> None:
    assert is_generic(text)


@pytest.mark.parametrize("text", ["Which train did you miss?", "Yes, she told me about the exam.", "okra", "", "?"])
def test_other_texts_are_not_generic(text: str) -> None:
    assert not is_generic(text)


@pytest.mark.parametrize(
    "text",
    ["asdf", "sdfgh jklkjh", "xxxx", "bcd fgh", "qwerty", "zxcv zxcv no", "aFASDFASDF", "...", "", "aaaa", "-", "lkjh"],
)
def test_keyboard_mashing_is_gibberish(text: str) -> None:
    assert is_gibberish(text)


@pytest.mark.parametrize(
    "text",
    [
        *("my property", "Hmmmm", "shhhh!", "Noooo", "10:00", "why fly by my gym", "strengths", "a", "I", "rhythm"),
        *("привет", "你好吗", "größte", "asdf is no word", "power", "liberty"),
        "hello asdf",  # one half is not more than half
        *OTHERS.values(),
    ],
)
def test_words_of_any_language_are_not_gibberish(text: str) -> None:
    assert not is_gibberish(text)


def test_other_scripts_are_recognized() -> None:
    assert is_other_script("привет, как дела?")
    assert is_other_script("你好吗 ok")
    assert not is_other_script("ich weiß, Žižek schrieb über Ελλάδα")
    assert not is_other_script("12:30!")


def test_english_share_separates_english_from_other_languages() -> None:
    share = english_share([ENGLISH])
    assert share is not None
    assert share > 2 * LEAST_ENGLISH
    for text in OTHERS.values():
        found = english_share([text])
        assert found is not None
        assert found < LEAST_ENGLISH / 3


def test_english_share_needs_enough_words() -> None:
    words = ["what do you mean"] * 7  # 28 words
    assert english_share(words) is None
    # "do" and "cat" are not in the list.
    assert english_share([*words, "the cat"]) == pytest.approx((7 * 3 + 1) / FEWEST_WORDS)


def test_most_frequent_share_ignores_case_and_punctuation() -> None:
    assert most_frequent_share(["Good idea!", "good  idea", "No."]) == pytest.approx(2 / 3)
    assert most_frequent_share(["a", "b", "c", "d"]) == 0.25
    without_letters = ["...", "...", "?"]  # compared as they are
    assert most_frequent_share(without_letters) == pytest.approx(2 / 3)


def test_plain_normalizes_case_spaces_and_punctuation() -> None:
    assert plain("  Well,\tI DON\u2019T  know... 42!") == "well i don't know 42"


@given(st.text(max_size=60))
def test_arbitrary_text_is_handled(text: str) -> None:
    assert is_generic(text) in (True, False)
    assert is_gibberish(text) in (True, False)
    assert is_other_script(text) in (True, False)
    assert most_frequent_share([text, text]) == 1.0
    share = english_share([text] * 40)
    assert share is None or 0 <= share <= 1


def test_rules_rarely_flag_real_replies(real_data: Path) -> None:
    """The rules on the replies that HUMOD's authors kept: these shares justify the thresholds."""
    import json

    path = real_data / "humod" / "humod_9500.jsonl"
    if not path.is_file():
        pytest.skip("HUMOD is not here")
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [text for line in lines for text in json.loads(line)["human_replies"]]
    assert sum(map(is_gibberish, texts)) < len(texts) / 1000
    assert 0.03 < sum(map(is_generic, texts)) / len(texts) < 0.05
    assert not any(map(is_other_script, texts))
