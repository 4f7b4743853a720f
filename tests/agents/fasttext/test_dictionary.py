"""The vocabulary of a fastText model, and its tokenization."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from tiny_fasttext import tiny_bin

from parlai_empathy.agents.fasttext.dictionary import FasttextDictionary, init_bin
from parlai_empathy.errors import ModelFileError


def options(**changes: Any) -> Opt:
    parser = ParlaiParser(True, False)
    FasttextDictionary.add_cmdline_args(parser, None)
    return Opt({**parser.parse_args([]), **changes})


def test_new_dictionary_starts_with_only_the_end_token() -> None:
    words = FasttextDictionary(options())
    assert words.tok2ind == {"</s>": 0}
    assert not words.is_prebuilt()
    words.add_to_dict(["a", "b", "b"])
    words.sort()
    assert words.tok2ind == {"</s>": 0, "b": 1, "a": 2}


def test_words_of_the_bin_file_keep_their_indices(tmp_path: Path) -> None:
    words = FasttextDictionary(options(init_model=str(tiny_bin(tmp_path / "m.bin"))))
    assert words.tok2ind == {"</s>": 0, "i": 1, "win": 2, "größe": 3}
    assert words.is_prebuilt()
    assert FasttextDictionary(words.opt, words.share()).tok2ind == words.tok2ind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" a  b\tc\nd\re\vf\fg\0h ", list("abcdefgh")),
        ("a\u00a0b\u2028c", ["a\u00a0b\u2028c"]),  # the library treats these as letters
        ("", []),
        (" ", []),
    ],
)
def test_space_tokenize_splits_at_ascii_separators_only(text: str, expected: list[str]) -> None:
    assert FasttextDictionary.space_tokenize(text) == expected


def test_bin_file_only_initialises_new_trainings(tmp_path: Path) -> None:
    path, model = tiny_bin(tmp_path / "m.bin"), tmp_path / "model"
    assert init_bin(Opt({})) is None
    assert init_bin(Opt({"init_model": "other/model"})) is None
    found = init_bin(Opt({"init_model": str(path), "model_file": str(model)}))
    assert found is not None
    assert found.path == path
    model.touch()
    assert init_bin(Opt({"init_model": str(path), "model_file": str(model)})) is None
    with pytest.raises(ModelFileError, match=r"no\.ftz cannot be read"):
        init_bin(Opt({"init_model": "no.ftz"}))
