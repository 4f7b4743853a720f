"""The authors' published checkpoints: small ones compute the same here as in the authors' code."""

from __future__ import annotations

import argparse
import os
import sys
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from published_checkpoints import (
    DIM,
    HEADS,
    LAYERS,
    PIECES,
    POSITIONS,
    TEXTS,
    WORDS,
    bert_state,
    linear,
    theirs,
    transformer_state,
    word_dict,
    write,
)
from torch import Tensor
from transformers import BertConfig, BertModel

from parlai_empathy.agent_kit.trained.published import PAD, Published, read_published, their_words
from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.encoders.biencoder import BiEncoder, PretrainedBiEncoder, PretrainedTower


def padded(pad: int) -> Tensor:
    longest = max(map(len, TEXTS))
    return torch.tensor([text + [pad] * (longest - len(text)) for text in TEXTS])


def ours(published: Published) -> tuple[Tensor, Tensor]:
    pad = published.words.index(PAD)
    model = BiEncoder(len(published.words), pad, **published.sizes).eval()
    model.load_state_dict(published.weights)
    with torch.no_grad():
        contexts, replies = model(padded(pad), padded(pad))
    return contexts, replies


# --- the Transformer -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("normalised", [False, True])
def test_transformer_outputs_match_reference_computation(tmp_path: Path, old: bool, normalised: bool) -> None:
    state = transformer_state()
    published = read_published(write(tmp_path / "model.mdl", state, old=old, normalize_sent_emb=normalised))
    assert published.kind == "transformer"
    assert published.words == WORDS
    assert published.sizes == {
        "embedding_size": DIM,
        "n_layers": LAYERS,
        "n_heads": HEADS,
        "ffn_size": 4 * DIM,
        "n_positions": POSITIONS,
        "dropout": 0.0,
        "temperature": 1.0 if normalised else None,
    }
    for side, vectors in zip(("ctx", "cand"), ours(published), strict=True):
        expected = torch.stack([theirs(state, side, text) for text in TEXTS])
        if normalised:
            expected = expected / expected.norm(dim=1, keepdim=True)
        assert torch.allclose(vectors, expected, atol=1e-5)
    assert not torch.allclose(*ours(published), atol=0.01), "the sides differ"


def test_words_are_sorted_by_id(tmp_path: Path) -> None:
    numbers = {word: i for i, word in reversed(list(enumerate(WORDS)))}
    published = read_published(write(tmp_path / "model.mdl", transformer_state(), {"words": numbers, "iwords": []}))
    assert published.words == WORDS


def test_their_words_splits_at_spaces_and_punctuation() -> None:
    assert their_words("I'm glad...  Are you?!") == ["I", "'", "m", "glad", ".", ".", ".", "Are", "you", "?", "!"]
    assert their_words("well,so;it:was") == ["well", ",", "so", ";", "it", ":", "was"]
    assert their_words("a\tb") == ["a\tb"], "words end at spaces alone"
    assert their_words("a     b") == ["a", "", "b"], "5 spaces become 3, and then 2"
    assert their_words("") == [""]


# --- BERT ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tokenizer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return an instance of a class from the authors' library, which is not installed."""
    module = types.ModuleType("pytorch_pretrained_bert.tokenization")
    kinds = {name: type(name, (), {"__module__": module.__name__}) for name in ("BertTokenizer", "BasicTokenizer")}
    for name, kind in kinds.items():
        setattr(module, name, kind)
    monkeypatch.setitem(sys.modules, "pytorch_pretrained_bert", types.ModuleType("pytorch_pretrained_bert"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    made = kinds["BertTokenizer"]()
    made.__dict__.update(vocab=OrderedDict(dog=9), basic_tokenizer=kinds["BasicTokenizer"](), max_len=512)
    return made


@pytest.mark.parametrize("norm_names", [("weight", "bias"), ("gamma", "beta")])
def test_bert_towers_match_separate_bert_encoders(
    tmp_path: Path, tokenizer: Any, norm_names: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state, berts, _ = bert_state(norm_names)
    words = {**word_dict(PIECES), "bert_tokenizer": tokenizer}
    path = write(tmp_path / "bert.mdl", state, words, model="bert")
    monkeypatch.delitem(sys.modules, "pytorch_pretrained_bert.tokenization")
    published = read_published(path)
    assert published.kind == "bert"
    assert published.words[:9] == [
        "[PAD]",
        "[unused1]",
        "[unused2]",
        "[unused3]",
        "joyful",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
    ]
    sizes = published.sizes
    config = BertConfig(**sizes["config"])
    towers = [
        PretrainedTower(BertModel(config), 0, sizes["pooling"], sizes["projection"], sizes["length"]) for _ in range(2)
    ]
    model = PretrainedBiEncoder(*towers).eval()
    model.load_state_dict(published.weights)
    texts = [[9, 10, 11], [5], [1, 9, 9, 11, 10]]
    batch = torch.tensor([text + [0] * (5 - len(text)) for text in texts])
    with torch.no_grad():
        for side, bert, vectors in zip(("ctx", "cand"), berts, model(batch, batch), strict=True):
            for text, vector in zip(texts, vectors, strict=True):
                first = bert(input_ids=torch.tensor([text])).last_hidden_state[0, 0]
                assert torch.allclose(vector, linear(first, state, f"{side}_bert.additional_linear_layer"), atol=1e-4)


def test_bert_with_extra_transformer_layer_is_rejected(tmp_path: Path) -> None:
    state, _, _ = bert_state()
    state["ctx_bert.additional_transformer_layer.output.dense.weight"] = torch.zeros(1)
    with pytest.raises(ModelFileError, match="it has --bert-add-transformer-layer"):
        read_published(write(tmp_path / "bert.mdl", state, word_dict(PIECES)))


# --- unreadable files ------------------------------------------------------------------------------------------------


def test_loading_executes_no_pickled_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "was_here"),)

    for saved in (Evil(), {"state_dict": Evil(), "word_dict": {}, "opt": None}):
        torch.save(saved, tmp_path / "evil.mdl")
        with pytest.raises(ModelFileError, match=r"evil\.mdl is damaged, or holds more than tensors and plain data"):
            read_published(tmp_path / "evil.mdl")
    assert not (tmp_path / "was_here").exists()


@pytest.mark.parametrize(
    ("saved", "reason"),
    [
        ([1], "holds no dictionary: it is not a retrieval checkpoint"),
        ({"model": {}}, "lacks opt: it is not a retrieval checkpoint"),
        ({"state_dict": {"a": 1}, "word_dict": {}, "opt": {}}, "its state_dict holds more than tensors"),
        ({"state_dict": {}, "word_dict": [], "opt": {}}, "the words of its word_dict are not numbered from 0"),
        (
            {"state_dict": {}, "word_dict": {"words": {"a": 1}}, "opt": {}},
            "the words of its word_dict are not numbered from 0",
        ),
        (
            {"state_dict": {}, "word_dict": {"words": {"a": "0"}}, "opt": {}},
            "the words of its word_dict are not numbered from 0",
        ),
        ({"state_dict": {}, "word_dict": {"words": {"a": 0}}, "opt": {}}, "lacks embeddings.weight"),
    ],
)
def test_other_files_raise_model_file_error(tmp_path: Path, saved: Any, reason: str) -> None:
    torch.save(saved, tmp_path / "other.mdl")
    with pytest.raises(ModelFileError, match=rf"other\.mdl:? {reason}") as caught:
        read_published(tmp_path / "other.mdl")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "weight", "reason"),
    [
        ("embeddings.weight", torch.zeros(3, DIM), "embeddings.weight is 3 x 6, not 10 x any"),
        ("ctx_transformer.attentions.1.k_lin.bias", None, "lacks ctx_transformer.attentions.1.k_lin.bias"),
        ("cand_transformer.ffns.0.lin2.weight", torch.zeros(6, 6), "lin2.weight is 6 x 6, not 6 x 24"),
        ("cand_transformer.layer_norm1.0.weight", torch.zeros(6, 1), "weight is 6 x 1, not 6$"),
    ],
)
def test_mismatched_weights_raise_model_file_error(
    tmp_path: Path, name: str, weight: Tensor | None, reason: str
) -> None:
    state = transformer_state()
    state.pop(name)
    if weight is not None:
        state[name] = weight
    with pytest.raises(ModelFileError, match=reason):
        read_published(write(tmp_path / "model.mdl", state))


def test_missing_options_or_words_raise_model_file_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="2 layers and 4 heads for vectors of 6 numbers"):
        read_published(write(tmp_path / "model.mdl", transformer_state(), transformer_n_heads=4))
    words = [*WORDS[:5], "p", *WORDS[6:]]
    with pytest.raises(ModelFileError, match="lacks the word <PAD> or <UNK>"):
        read_published(write(tmp_path / "model.mdl", transformer_state(), word_dict(words)))
    saved = {"state_dict": transformer_state(), "word_dict": word_dict(WORDS), "opt": argparse.Namespace()}
    torch.save(saved, tmp_path / "model.mdl")
    with pytest.raises(ModelFileError, match="lacks transformer_n_heads"):
        read_published(tmp_path / "model.mdl")


def test_missing_and_truncated_files_raise_model_file_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"none\.mdl cannot be read"):
        read_published(tmp_path / "none.mdl")
    for old in (True, False):
        whole = write(tmp_path / "model.mdl", transformer_state(), old=old).read_bytes()
        for length in (0, 1, 100, len(whole) // 2, len(whole) - 1):
            (tmp_path / "cut.mdl").write_bytes(whole[:length])
            with pytest.raises(ModelFileError, match=r"cut\.mdl"):
                read_published(tmp_path / "cut.mdl")
