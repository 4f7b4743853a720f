"""The dictionary of words: their spelling and ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.dictionaries.words import WordDictionary
from parlai_empathy.errors import ModelFileError

NONE = {"dict_nulltoken": "", "dict_starttoken": "", "dict_endtoken": "", "dict_unktoken": ""}


def dictionary(**changes: str) -> WordDictionary:
    parser = ParlaiParser(True, False)
    WordDictionary.add_cmdline_args(parser, None)
    return WordDictionary(Opt({**parser.parse_args([]), **NONE, **changes}))


ANY_WORD = st.text(st.characters(), max_size=4) | st.sampled_from(
    ["\udcff", "a\\n", "__UNK__", "__unk__", "\u2028", "\n"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ANY_WORD, unique=True, max_size=6))
def test_arbitrary_words_round_trip_in_order(tmp_path: Path, words: list[str]) -> None:
    saved = dictionary()
    saved.freq = {word: 7 - number for number, word in enumerate(words)}
    saved.number(words)
    saved.save(str(tmp_path / "model.dict"), sort=False)
    loaded = dictionary(dict_file=str(tmp_path / "model.dict"))
    assert list(loaded.tok2ind.items()) == [(word, number) for number, word in enumerate(words)]
    assert loaded.ind2tok == dict(enumerate(words))
    assert loaded.freq == saved.freq


def test_saving_sorts_words_by_frequency(tmp_path: Path) -> None:
    words = dictionary()
    words.add_to_dict(["b", "a", "c", "c"])
    words.save(str(tmp_path / "sub" / "model.dict"))
    assert list(dictionary(dict_file=str(tmp_path / "sub" / "model.dict")).tok2ind) == ["c", "a", "b"]


@pytest.mark.parametrize(
    "line", [b"word\t3", b"[1, 2, 3]", b'["a"]', b'["a", "b"]', b"3", b"", b'["\xff", 1]', b"\0\0"]
)
def test_invalid_line_error_names_the_line(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "model.dict").write_bytes(b'["a", 1]\n' + line + b"\n")
    with pytest.raises(ModelFileError, match=r"model\.dict, line 2: expected a word with its count"):
        dictionary(dict_file=str(tmp_path / "model.dict"))
