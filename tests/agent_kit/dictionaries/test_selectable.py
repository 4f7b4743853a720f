"""The dictionary that is either words or a tokenizer, as ParlAI uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser, class2str, str2class
from tiny_judge import write_bert

from parlai_empathy.agent_kit.dictionaries.selectable import SelectableDictionary, TextDictionary
from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary
from parlai_empathy.errors import ModelFileError, OptionError


class OwnWords(TextDictionary):
    """A subclass of the dictionary of words."""


class Chosen(SelectableDictionary):
    """The class under test, with that subclass for words."""

    words = OwnWords


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_bert(tmp_path_factory.mktemp("bert") / "bert"))


@pytest.mark.parametrize("named", [{}, {"hf_model": None}, {"hf_model": ""}])
def test_word_dictionary_is_used_without_hf_model(named: dict[str, str]) -> None:
    assert type(SelectableDictionary(Opt(named))) is TextDictionary
    assert type(Chosen(Opt(named))) is OwnWords


def test_tokenizer_dictionary_is_used_with_hf_model(bert: str) -> None:
    for kind in (SelectableDictionary, Chosen):
        assert type(kind(Opt(hf_model=bert))) is TokenizerDictionary


def test_word_dictionary_uses_given_options() -> None:
    dictionary = SelectableDictionary(Opt(dict_lower=True))
    dictionary.add_to_dict(dictionary.tokenize("Hello THERE"))
    assert dictionary.txt2vec("hello there") == [4, 5]  # after the four special tokens


def test_typed_padding_is_an_unknown_word() -> None:
    """As padding it would be ignored, and a text of nothing else would have no vector."""
    dictionary = SelectableDictionary(Opt())
    dictionary.add_to_dict(dictionary.tokenize("hello"))
    unknown, hello = dictionary["__unk__"], dictionary["hello"]
    assert dictionary.txt2vec("__null__ hello") == [unknown, hello]
    assert dictionary[dictionary.null_token] == 0
    assert dictionary.tok2ind["__null__"] == 0


def test_tokenizer_without_its_files_is_one_line() -> None:
    """ParlAI ends in a traceback."""
    with pytest.raises(
        OptionError, match=r"^--dict-tokenizer bytelevelbpe lacks .*--bpe-vocab is required.*, such as re$"
    ):
        SelectableDictionary(Opt(dict_tokenizer="bytelevelbpe"))


def test_tokenizer_of_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parlai.utils.bpe.SUBWORD_BPE_INSTALLED", False)
    with pytest.raises(OptionError, match=r"^--dict-tokenizer bpe lacks .*subword-nmt"):
        SelectableDictionary(Opt(dict_tokenizer="bpe"))


def test_other_errors_of_parlais_dictionary_pass_unchanged(tmp_path: Path) -> None:
    (tmp_path / "dict").mkdir()
    with pytest.raises(IsADirectoryError):
        SelectableDictionary(Opt(dict_file=str(tmp_path / "dict")))


def test_dictionary_of_another_agent_raises_model_file_error(tmp_path: Path) -> None:
    """An interrupted training of a judge may have left it: all words would be unknown."""
    path = tmp_path / "m.dict"
    path.write_text('["</s>", 3]\n["i", 2]\n')
    with pytest.raises(ModelFileError, match=rf"^{path} is the dictionary of another kind of agent: delete it"):
        Chosen(Opt(dict_file=str(path)))


@pytest.mark.parametrize(("option", "value"), [("dict_lower", False), ("dict_tokenizer", "split")])
def test_dictionary_whose_words_were_read_in_another_way_raises_model_file_error(
    tmp_path: Path, option: str, value: bool | str
) -> None:
    """A training that failed may have left it: words that are read in another way are unknown."""
    path = tmp_path / "m.dict"
    own = {"dict_file": str(path), "dict_lower": True, "dict_tokenizer": "re"}
    left = Chosen(Opt(own))
    left.add_to_dict(left.tokenize("hello"))
    left.save()
    assert Chosen(Opt(own))["hello"] == 4
    with pytest.raises(
        ModelFileError, match=rf"^{path} was built with --dict-\w+ (True|re), not {value}: use that .*, or delete the"
    ):
        Chosen(Opt({**own, option: value}))
    Path(f"{path}.opt").unlink()
    assert Chosen(Opt({**own, option: value}))["hello"] == 4  # one that was fetched without its options is used


def test_class_name_in_options_selects_the_dictionary(bert: str) -> None:
    """As in ``parlai train_model``: from a class name in the options, before the agent exists."""
    for kind, made in ((SelectableDictionary, TextDictionary), (Chosen, OwnWords)):
        found = str2class(class2str(kind))
        assert type(found(Opt())) is made
        assert type(found(Opt(hf_model=bert))) is TokenizerDictionary


def test_shared_copies_keep_the_selected_class(bert: str) -> None:
    for options, kind in ((Opt(), OwnWords), (Opt(hf_model=bert), TokenizerDictionary)):
        original = Chosen(options)
        shared = original.share()
        copy = shared["class"](shared["opt"], shared)
        assert type(copy) is kind
        assert copy.tok2ind == original.tok2ind


def test_parser_accepts_dictionary_options() -> None:
    parser = ParlaiParser(add_parlai_args=False)
    SelectableDictionary.add_cmdline_args(parser)
    assert parser.parse_args(["--dict-lower", "true"])["dict_lower"] is True
