"""Dictionaries and tokenizers of generators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.opt import Opt
from tiny_generators import KINDS, write_language_model
from tokenizers import normalizers

from parlai_empathy.agents.generative.dictionary import (
    GenerativeDictionary,
    GeneratorTokenizer,
    ReadableDictionary,
    written,
)

# --- words -----------------------------------------------------------------------------------------------------------


def words(tokenizer: str, *texts: str) -> ReadableDictionary:
    dictionary = ReadableDictionary(Opt(dict_tokenizer=tokenizer, dict_lower=True))
    for text in texts:
        dictionary.add_to_dict(dictionary.tokenize(text))
    return dictionary


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        ("i ' m sorry .", "i'm sorry."),
        ('they would n\'t say , " no " !', 'they would n\'t say, " no "!'.replace("would n't", "wouldn't")),
        ("my dog 's ( old ) bed", "my dog's ( old) bed"),
        ("so ... what ? !", "so... what?!"),
        ("`` yes ''", '" yes "'),
        ("the ' best ' dog", "the ' best ' dog"),
        ("at 5 : 30 , 10 % off", "at 5: 30, 10% off"),
        ("", ""),
    ],
)
def test_detokenization_restores_spacing_and_quotes(apart: str, together: str) -> None:
    assert written(apart) == together


@pytest.mark.parametrize("tokenizer", ["re", "peers"])
def test_detokenized_text_retokenizes_to_the_same_words(tokenizer: str) -> None:
    texts = ["I'm so sorry, she wouldn't say that!", "Oh no... What's wrong?", "My mom's dog (Rex) is 10%  bigger: ok."]
    dictionary = words(tokenizer, *texts)
    for text in texts:
        tokens = dictionary.txt2vec(text)
        assert dictionary.txt2vec(dictionary.vec2txt(tokens)) == tokens


@given(st.lists(st.sampled_from(["i", "'", "m", ".", ",", "?", "dog", "(", ")", "s", "10", "%"]), max_size=12))
def test_detokenization_loses_no_tokens(tokens: list[str]) -> None:
    dictionary = words("re")
    assert dictionary.tokenize(written(" ".join(tokens))) == tokens


def test_other_tokenizers_keep_parlai_spacing() -> None:
    dictionary = words("space", "hello , you")
    assert dictionary.vec2txt(dictionary.txt2vec("hello , you")) == "hello , you"


def test_peers_tokenizer_expands_contractions() -> None:
    dictionary = words("peers", "I'm here.")
    assert dictionary.tokenize("I'm here.") == ["i", "am", "here", "."]
    assert dictionary.txt2vec("i am here") == dictionary.txt2vec("I'm here")


# --- tokens ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    return {name: write_language_model(name, root / name) for name in KINDS}


def tokens_of(folder: Path) -> GeneratorTokenizer:
    return GeneratorTokenizer(Opt(hf_model=str(folder)))


@pytest.mark.parametrize(
    ("name", "null", "start", "end", "before", "behind"),
    [
        ("t5", "<pad>", "<pad>", "</s>", [], ["</s>"]),
        ("bart", "<pad>", "<s>", "</s>", ["<s>"], ["</s>"]),
        ("gpt2", "__null__", "__null__", "</s>", [], []),
        ("llama", "__null__", "<s>", "</s>", ["<s>"], []),
    ],
)
def test_special_tokens_of_each_model_kind(
    folders: dict[str, Path], name: str, null: str, start: str, end: str, before: list[str], behind: list[str]
) -> None:
    dictionary = tokens_of(folders[name])
    assert [dictionary.null_token, dictionary.start_token, dictionary.end_token] == [null, start, end]
    assert [dictionary[index] for index in dictionary.before] == before
    assert [dictionary[index] for index in dictionary.behind] == behind
    ids = [dictionary[token] for token in (null, start, end)]
    assert len(set(ids[1:])) == 2, "ParlAI's searches end a reply that begins with its end"
    assert ids[0] != ids[2], "padding is not learnt, the end is"


@pytest.mark.parametrize(
    ("name", "expected"), [("t5", ["<pad>"]), ("bart", ["</s>", "<s>"]), ("gpt2", ["</s>"]), ("llama", ["</s>"])]
)
def test_reply_start_tokens_of_each_model_kind(folders: dict[str, Path], name: str, expected: list[str]) -> None:
    import transformers

    dictionary = tokens_of(folders[name])
    config = transformers.AutoConfig.from_pretrained(folders[name])
    assert [dictionary[index] for index in dictionary.begins_with(KINDS[name], config)] == expected


@pytest.mark.parametrize("name", KINDS)
def test_turns_are_separated_by_the_end_token(folders: dict[str, Path], name: str) -> None:
    dictionary = tokens_of(folders[name])
    one, other, end = dictionary.txt2vec("hi"), dictionary.txt2vec("you"), dictionary[dictionary.end_token]
    assert dictionary.txt2vec("hi\nyou") == [*one, end, *other]
    assert dictionary.vec2txt([*one, dictionary.null_idx]) == "hi"
    assert dictionary.txt2vec("") == []


def test_padding_token_equal_to_end_token_is_replaced(folders: dict[str, Path]) -> None:
    """As is often done with GPT-2: the model would never learn to end."""
    tokenizer: Any = tokens_of(folders["gpt2"]).tokenizer_of_encoder
    tokenizer.pad_token = tokenizer.eos_token
    dictionary = GeneratorTokenizer(Opt(), {"tokenizer": tokenizer})
    assert dictionary.null_idx == len(tokenizer) == len(dictionary) - 1


@pytest.mark.parametrize("lower", [False, True])
def test_case_is_lowered_where_the_tokenizer_does_so(folders: dict[str, Path], lower: bool) -> None:
    tokenizer: Any = tokens_of(folders["gpt2"]).tokenizer_of_encoder
    if lower:
        tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert GeneratorTokenizer(Opt(dict_lower=True), {"tokenizer": tokenizer}).lower is lower


def test_hf_model_option_selects_the_tokenizer(folders: dict[str, Path]) -> None:
    assert type(GenerativeDictionary(Opt())) is ReadableDictionary
    assert type(GenerativeDictionary(Opt(hf_model=str(folders["t5"])))) is GeneratorTokenizer
