"""The order of words: special or published ones, then the task's by decreasing frequency."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from tiny_torchmoji import WORDS, write_torchmoji

from parlai_empathy.agents.deepmoji.dictionary import DeepmojiDictionary, begins_with_published
from parlai_empathy.agents.deepmoji.words import SPECIAL


def dictionary(**changes: Any) -> DeepmojiDictionary:
    parser = ParlaiParser(True, False)
    DeepmojiDictionary.add_cmdline_args(parser, None)
    return DeepmojiDictionary(Opt({**parser.parse_args([]), "extend_vocabulary": 2, **changes}))


def test_new_dictionary_has_special_words_first_then_by_frequency(tmp_path: Path) -> None:
    words = dictionary(dict_file=str(tmp_path / "m.dict"))
    words.add_to_dict(words.tokenize("B a, a b B"))
    words.save()
    assert list(words.tok2ind) == [*SPECIAL, "b", "a", ","]
    assert list(dictionary(dict_file=str(tmp_path / "m.dict")).tok2ind) == list(words.tok2ind)
    assert words.txt2vec("a qqq\nb") == [7, 1, 5, 6]


def test_published_words_keep_their_indices(tmp_path: Path) -> None:
    words = dictionary(deepmoji_weights=str(write_torchmoji(tmp_path)))
    words.add_to_dict(words.tokenize("the z z y x x x I i i i i i"))
    words.sort()
    assert list(words.tok2ind) == [*WORDS, "x", "z"], "there is room for two"
    assert words.freq["i"] == 6


def test_dict_minfreq_leaves_out_rare_words() -> None:
    words = dictionary(dict_minfreq=2)
    words.add_to_dict(["a", "a", "b"])
    words.sort()
    assert list(words.tok2ind) == [*SPECIAL, "a"]


def test_published_vocabulary_replaces_leftover_dictionary_file(tmp_path: Path) -> None:
    old = dictionary(dict_file=str(tmp_path / "m.dict"))
    old.add_to_dict(["old"])
    old.save()
    new = dictionary(dict_file=str(tmp_path / "m.dict"), deepmoji_weights=str(write_torchmoji(tmp_path / "published")))
    assert list(new.tok2ind) == WORDS


def test_published_weights_only_initialise_new_trainings(tmp_path: Path) -> None:
    model = tmp_path / "model"
    assert not begins_with_published(Opt({"deepmoji_weights": None}))
    assert begins_with_published(Opt({"deepmoji_weights": "w", "model_file": str(model)}))
    model.touch()
    assert not begins_with_published(Opt({"deepmoji_weights": "w", "model_file": str(model)}))
    assert not begins_with_published(Opt({"deepmoji_weights": "w", "init_model": str(model)}))
