"""The peers' tokenizer, compared with NLTK and, if installed, its sentence data."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from parlai_empathy.agents.generative.peers_tokenizer import CONTRACTIONS, peers_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("I'm so sorry. It's hard!", "i am so sorry . it is hard !"),
        ("I can't, I won't.", "i can not , i will not ."),  # NLTK splits "cannot" in two
        ("She wouldn't say", "she would n't say"),  # not expanded by the peers
        ("Dr. Fell is OK. He left.", "dr. fell is ok. he left ."),
        ("It's on Park St. near the U.S. border.", "it is on park st. near the u.s. border ."),
        ("Mr. A, Mrs. B and Ms. C vs. D", "mr. a , mrs. b and ms. c vs. d"),
        ("my dog's", "my dog 's"),
        ("wait... what?", "wait ... what ?"),
    ],
)
def test_peers_words_split_and_expand_contractions(text: str, words: str) -> None:
    assert peers_words(text) == words.split()


def test_turns_are_separated_by_newline_tokens() -> None:
    assert peers_words("Hi.\nI don't know.") == ["hi", ".", "\n", "i", "do", "not", "know", "."]
    assert peers_words("\n") == ["\n"]


def test_words_of_real_texts_match_nltk(real_data: Path) -> None:
    """All but a few texts agree; the others have abbreviations that only the trained sentence data contain."""
    from nltk.tokenize import NLTKWordTokenizer

    from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

    trained = real_data / "nltk_data" / "tokenizers" / "punkt" / "PY3" / "english.pickle"
    if not trained.is_file():
        pytest.skip("NLTK's sentence data are not here")
    sentences, cut = pickle.loads(trained.read_bytes()), NLTKWordTokenizer()
    dialogues = read_empathetic_dialogues(real_data / "empatheticdialogues" / "test.csv")
    texts = [turn.text for dialogue in dialogues for turn in dialogue.turns][:3000]
    different = 0
    for text in texts:
        full = text.lower()
        for short, long in CONTRACTIONS.items():
            full = full.replace(short, long)
        different += peers_words(text) != [word for part in sentences.tokenize(full) for word in cut.tokenize(part)]
    assert different <= 3
