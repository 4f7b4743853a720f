"""A Hugging Face tokenizer in place of ParlAI's dictionary, and the folder that describes an encoder."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from full_disk import full_disk
from parlai.core.opt import Opt
from tiny_judge import WORDS, write_bert
from transformers import AutoTokenizer, BertConfig

from parlai_empathy.agent_kit.dictionaries.tokenizer import (
    TokenizerDictionary,
    encoder_folder,
    encoder_source,
    save_encoder,
)
from parlai_empathy.errors import ModelFileError


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "bert")


@pytest.fixture
def dictionary(bert: Path) -> TokenizerDictionary:
    return TokenizerDictionary(Opt({"hf_model": str(bert)}))


def test_dictionary_has_the_tokenizer_vocabulary(dictionary: TokenizerDictionary) -> None:
    assert len(dictionary) == len(WORDS) + 26
    for number, word in enumerate(WORDS):
        assert (dictionary[word], dictionary[number]) == (number, word)
    assert dictionary["nowhere to be found"] == dictionary["[UNK]"] == 1
    assert dictionary[len(dictionary)] == "[UNK]"  # a model may have more rows than the tokenizer has tokens
    assert dictionary.is_prebuilt()


def test_special_tokens_come_from_the_tokenizer(dictionary: TokenizerDictionary) -> None:
    assert [dictionary.null_token, dictionary.start_token, dictionary.end_token] == ["[PAD]", "[CLS]", "[SEP]"]
    assert dictionary.null_idx == 0


def test_text_is_converted_to_ids_and_back(dictionary: TokenizerDictionary) -> None:
    ids = dictionary.txt2vec("Hi, you")
    assert [dictionary[index] for index in ids] == ["h", "##i", ",", "y", "##o", "##u"]
    assert dictionary.vec2txt(ids) == "hi, you"
    assert dictionary.txt2vec("hi", tuple) == tuple(dictionary.txt2vec("hi"))


def test_settings_that_the_tokenizer_was_last_called_with_do_not_matter(dictionary: TokenizerDictionary) -> None:
    text = "Hi, you\nHi"
    expected = dictionary.tokenizer_of_encoder(text.replace("\n", " [SEP] "), add_special_tokens=False)["input_ids"]
    for settings in ({"truncation": True, "max_length": 3}, {"padding": "max_length", "max_length": 40}):
        dictionary.tokenizer_of_encoder("hi, you", **settings)
        assert dictionary.txt2vec(text) == expected
    assert len(expected) == 9


def test_lone_surrogates_become_question_marks(dictionary: TokenizerDictionary) -> None:
    """A terminal that is not set to UTF-8 passes them on, and the tokenizers library rejects them."""
    assert dictionary.txt2vec("hi \udce9") == dictionary.txt2vec("hi ?")


def test_save_writes_one_token_per_line(dictionary: TokenizerDictionary, tmp_path: Path) -> None:
    dictionary.save(str(tmp_path / "new" / "model.dict"))
    lines = (tmp_path / "new" / "model.dict").read_text().splitlines()
    assert lines[: len(WORDS)] == WORDS
    assert len(lines) == len(dictionary)
    dictionary.save()  # without a file name nothing is written


def test_full_disk_keeps_previous_file(dictionary: TokenizerDictionary, tmp_path: Path) -> None:
    dictionary.save(str(path := tmp_path / "model.dict"))
    former = path.read_text()
    with full_disk(), pytest.raises(OSError, match="File too large"):
        dictionary.save(str(path))
    assert path.read_text() == former
    assert list(tmp_path.iterdir()) == [path]


def test_copies_share_the_tokenizer(dictionary: TokenizerDictionary) -> None:
    shared = dictionary.share()
    copy = shared["class"](shared["opt"], shared)
    assert copy.tokenizer_of_encoder is dictionary.tokenizer_of_encoder
    assert len(copy) == len(dictionary)


def test_missing_tokenizer_error_names_hf_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^--hf-model .*nowhere cannot be loaded"):
        TokenizerDictionary(Opt({"hf_model": str(tmp_path / "nowhere")}))


# --- the encoder's folder --------------------------------------------------------------------------------------------


def described(path: Path, bert: Path, size: int) -> str:
    """Write a model file and its folder, with ``size`` in the configuration."""
    path.touch()
    save_encoder(str(path), AutoTokenizer.from_pretrained(bert), BertConfig(hidden_size=size))
    return str(path)


def test_encoder_source_prefers_model_file_then_init_model(tmp_path: Path, bert: Path) -> None:
    own, other = described(tmp_path / "own", bert, 8), described(tmp_path / "other", bert, 8)
    options: dict[str, Any] = {"hf_model": "name", "model_file": own, "init_model": other}
    assert encoder_source(Opt(options)) == f"{own}.encoder"
    assert encoder_source(Opt({**options, "model_file": str(tmp_path / "new")})) == f"{other}.encoder"
    assert encoder_source(Opt({**options, "model_file": None, "init_model": None})) == "name"
    assert encoder_source(Opt({"hf_model": "name"})) == "name"


def test_encoder_source_finds_init_model_of_the_zoo(tmp_path: Path, bert: Path) -> None:
    (folder := tmp_path / "models" / "empathy" / "epitome").mkdir(parents=True)
    other = described(folder / "model", bert, 8)
    opt = Opt({"hf_model": "name", "init_model": "zoo:empathy/epitome/model", "datapath": str(tmp_path)})
    assert encoder_source(opt) == f"{other}.encoder"


def test_encoder_folder_without_its_model_is_ignored(tmp_path: Path, bert: Path) -> None:
    """A left-over folder: its encoder would be built with random weights."""
    path = described(tmp_path / "model", bert, 8)
    Path(path).unlink()
    assert encoder_source(Opt({"hf_model": "name", "model_file": path})) == "name"


def test_saving_that_is_killed_at_any_moment_leaves_a_whole_encoder_folder(
    tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails at the first change of a file or folder, then at the second, and so on, until it succeeds."""
    path = described(tmp_path / "model", bert, 8)
    changes, fatal = 0, 0

    def deadly(change: Any) -> Any:
        def run(*args: Any, **options: Any) -> Any:
            nonlocal changes
            changes += 1
            if changes == fatal:
                raise KeyboardInterrupt
            return change(*args, **options)

        return run

    for owner, name in ((Path, "rename"), (Path, "replace"), (Path, "unlink"), (shutil, "rmtree")):
        monkeypatch.setattr(owner, name, deadly(getattr(owner, name)))
    is_saved = False
    while not is_saved:
        changes, fatal = 0, fatal + 1
        with suppress(KeyboardInterrupt):
            described(tmp_path / "model", bert, 8)
            is_saved = True
        assert encoder_source(Opt({"hf_model": "name", "model_file": path})) == f"{path}.encoder"
        assert BertConfig.from_pretrained(encoder_folder(path)).hidden_size == 8
        assert AutoTokenizer.from_pretrained(encoder_folder(path))("hi")["input_ids"]
    assert fatal > 3


def test_saving_replaces_old_encoder_folder(tmp_path: Path, bert: Path) -> None:
    path = described(tmp_path / "model", bert, 8)
    (encoder_folder(path) / "left.over").touch()
    (tmp_path / "model.encoder.part").mkdir()  # left by a run that was killed
    described(tmp_path / "model", bert, 16)
    assert BertConfig.from_pretrained(encoder_folder(path)).hidden_size == 16
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model", "model.encoder"]
    assert not (encoder_folder(path) / "left.over").exists()
    assert AutoTokenizer.from_pretrained(encoder_folder(path))("hi")["input_ids"]
