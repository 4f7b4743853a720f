"""The authors' checkpoints: small ones in their layout, and their computation, written down here text by text."""

from __future__ import annotations

import argparse
import math
import os
import sys
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from parlai_empathy.agents.published import PAD, Published, read_published, their_words
from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.biencoder import BiEncoder, PretrainedBiEncoder, PretrainedTower

DIM, HEADS, LAYERS, POSITIONS = 6, 2, 2, 20
# The authors' dictionaries end with these six, in this order.
WORDS = ["the", "dog", "'", "won", "<UNK>", PAD, "__PAD__", "<PER>", "<SOC>", "<EOC>"]
TEXTS = [[1, 3], [0, 1, 2, 8, 3, 4, 0], [9], [4, 3, 2, 1, 0, 1, 2, 3]]


def transformer_state(dim: int = DIM, layers: int = LAYERS) -> dict[str, Tensor]:
    """Weights by the authors' names."""
    torch.manual_seed(2)
    embedding = torch.randn(len(WORDS), dim) * 0.7
    state = {"embeddings.weight": embedding}
    for side in ("ctx", "cand"):
        tower = f"{side}_transformer"
        state[f"{tower}.position_embeddings.weight"] = torch.randn(POSITIONS, dim)
        state[f"{tower}.embeddings.weight"] = embedding
        for layer in range(layers):
            for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
                state[f"{tower}.attentions.{layer}.{part}.weight"] = torch.randn(dim, dim) * 0.5
                state[f"{tower}.attentions.{layer}.{part}.bias"] = torch.randn(dim) * 0.5
            for norm in ("layer_norm1", "layer_norm2"):
                state[f"{tower}.{norm}.{layer}.weight"] = torch.randn(dim) + 1
                state[f"{tower}.{norm}.{layer}.bias"] = torch.randn(dim)
            state[f"{tower}.ffns.{layer}.lin1.weight"] = torch.randn(4 * dim, dim) * 0.5
            state[f"{tower}.ffns.{layer}.lin1.bias"] = torch.randn(4 * dim)
            state[f"{tower}.ffns.{layer}.lin2.weight"] = torch.randn(dim, 4 * dim) * 0.5
            state[f"{tower}.ffns.{layer}.lin2.bias"] = torch.randn(dim)
    return state


def word_dict(words: list[str]) -> dict[str, Any]:
    return {"words": {word: i for i, word in enumerate(words)}, "iwords": words, "wordcounts": {"the": 3}}


OPT = {"model": "transformer", "transformer_n_heads": HEADS, "normalize_sent_emb": False, "transformer_dropout": 0.0}


def write(path: Path, state: Any, words: Any = None, *, old: bool = True, **changes: Any) -> Path:
    """A file as torch 1.0 wrote it; ``old`` is its format."""
    saved = {
        "state_dict": OrderedDict(state),
        "word_dict": words or word_dict(WORDS),
        "opt": argparse.Namespace(**{**OPT, **changes}),
        "optim_dict": {"state": {0: {"step": 1}}, "param_groups": [{"lr": 8e-4, "params": [0]}]},
    }
    torch.save(saved, path, _use_new_zipfile_serialization=not old)
    return path


def norm(numbers: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    centred = numbers - numbers.mean(dim=-1, keepdim=True)
    deviation = torch.sqrt((centred**2).mean(dim=-1, keepdim=True) + 1e-5)
    return centred / deviation * state[f"{name}.weight"] + state[f"{name}.bias"]


def linear(numbers: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    return numbers @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def theirs(state: dict[str, Tensor], side: str, text: list[int]) -> Tensor:
    """One text's vector: no batch, hence no padding and no mask."""
    tower = f"{side}_transformer"
    states = state["embeddings.weight"][text] + state[f"{tower}.position_embeddings.weight"][: len(text)]
    for layer in range(LAYERS):
        attention = f"{tower}.attentions.{layer}"
        q, k, v = (linear(states, state, f"{attention}.{part}_lin") for part in "qkv")
        heads = []
        for head in torch.arange(DIM).split(DIM // HEADS):
            weights = torch.softmax(q[:, head] @ k[:, head].T / math.sqrt(len(head)), dim=1)
            heads.append(weights @ v[:, head])
        attended = linear(torch.cat(heads, dim=1), state, f"{attention}.out_lin")
        states = norm(states + attended, state, f"{tower}.layer_norm1.{layer}")
        hidden = linear(states, state, f"{tower}.ffns.{layer}.lin1").clamp(min=0)
        states = norm(
            states + linear(hidden, state, f"{tower}.ffns.{layer}.lin2"), state, f"{tower}.layer_norm2.{layer}"
        )
    return states.mean(dim=0)


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
def test_our_model_computes_what_theirs_does(tmp_path: Path, old: bool, normalised: bool) -> None:
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


def test_words_are_ordered_by_their_numbers(tmp_path: Path) -> None:
    numbers = {word: i for i, word in reversed(list(enumerate(WORDS)))}
    published = read_published(write(tmp_path / "model.mdl", transformer_state(), {"words": numbers, "iwords": []}))
    assert published.words == WORDS


def test_their_words() -> None:
    assert their_words("I'm glad...  Are you?!") == ["I", "'", "m", "glad", ".", ".", ".", "Are", "you", "?", "!"]
    assert their_words("well,so;it:was") == ["well", ",", "so", ";", "it", ":", "was"]
    assert their_words("a\tb") == ["a\tb"], "words end at spaces alone"
    assert their_words("a     b") == ["a", "", "b"], "5 spaces become 3, and then 2"
    assert their_words("") == [""]


# --- BERT ------------------------------------------------------------------------------------------------------------

PIECES = ["<PAD>", "<SOC>", "__PAD__", "<PER>", "joyful", "<UNK>", "[CLS]", "<EOC>", "[MASK]", "dog", "##s", "won"]


def bert_state(
    norm_names: tuple[str, str] = ("weight", "bias"),
) -> tuple[dict[str, Tensor], list[BertModel], BertConfig]:
    """Two BERTs and their weights by the authors' names."""
    torch.manual_seed(4)
    config = BertConfig(vocab_size=len(PIECES), hidden_size=64, num_hidden_layers=2, num_attention_heads=1,
                        intermediate_size=20, max_position_embeddings=30, initializer_range=0.4)  # fmt: skip
    berts = [BertModel(config).eval() for _ in range(2)]
    state: dict[str, Tensor] = {}
    for side, bert in zip(("ctx", "cand"), berts, strict=True):
        for name, weight in bert.state_dict().items():
            if "position_ids" not in name:
                kinds = dict(zip(("weight", "bias"), norm_names, strict=True))
                stem, _, kind = name.rpartition(".")
                own = f"{stem}.{kinds[kind]}" if stem.endswith("LayerNorm") else name
                state[f"{side}_bert.bert_model.{own}"] = weight
        state[f"{side}_bert.additional_linear_layer.weight"] = torch.randn(5, 64)
        state[f"{side}_bert.additional_linear_layer.bias"] = torch.randn(5)
    return state, berts, config


@pytest.fixture
def tokenizer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An object of a class of the library that the authors used, which is not installed."""
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
def test_their_bert_fits_our_towers(
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


def test_an_extra_layer_of_bert_is_refused(tmp_path: Path) -> None:
    state, _, _ = bert_state()
    state["ctx_bert.additional_transformer_layer.output.dense.weight"] = torch.zeros(1)
    with pytest.raises(ModelFileError, match="it has --bert-add-transformer-layer"):
        read_published(write(tmp_path / "bert.mdl", state, word_dict(PIECES)))


# --- what cannot be read ---------------------------------------------------------------------------------------------


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "was_here"),)

    for saved in (Evil(), {"state_dict": Evil(), "word_dict": {}, "opt": None}):
        torch.save(saved, tmp_path / "evil.mdl")
        with pytest.raises(ModelFileError, match=r"evil\.mdl is broken, or holds more than tensors and plain data"):
            read_published(tmp_path / "evil.mdl")
    assert not (tmp_path / "was_here").exists()


@pytest.mark.parametrize(
    ("saved", "reason"),
    [
        ([1], "holds no dictionary: it is no checkpoint"),
        ({"model": {}}, "lacks opt: it is no checkpoint"),
        ({"state_dict": {"a": 1}, "word_dict": {}, "opt": {}}, "its state_dict holds more than tensors"),
        ({"state_dict": {}, "word_dict": [], "opt": {}}, "its word_dict has no words that are numbered from 0"),
        ({"state_dict": {}, "word_dict": {"words": {"a": 1}}, "opt": {}}, "its word_dict has no words that are num"),
        ({"state_dict": {}, "word_dict": {"words": {"a": "0"}}, "opt": {}}, "its word_dict has no words that are"),
        ({"state_dict": {}, "word_dict": {"words": {"a": 0}}, "opt": {}}, "lacks embeddings.weight"),
    ],
)
def test_other_files_are_named(tmp_path: Path, saved: Any, reason: str) -> None:
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
def test_weights_that_do_not_fit_are_named(tmp_path: Path, name: str, weight: Tensor | None, reason: str) -> None:
    state = transformer_state()
    state.pop(name)
    if weight is not None:
        state[name] = weight
    with pytest.raises(ModelFileError, match=reason):
        read_published(write(tmp_path / "model.mdl", state))


def test_options_and_words_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="2 layers and 4 heads for vectors of 6 numbers"):
        read_published(write(tmp_path / "model.mdl", transformer_state(), transformer_n_heads=4))
    words = [*WORDS[:5], "p", *WORDS[6:]]
    with pytest.raises(ModelFileError, match="lacks the word <PAD> or <UNK>"):
        read_published(write(tmp_path / "model.mdl", transformer_state(), word_dict(words)))
    saved = {"state_dict": transformer_state(), "word_dict": word_dict(WORDS), "opt": argparse.Namespace()}
    torch.save(saved, tmp_path / "model.mdl")
    with pytest.raises(ModelFileError, match="lacks transformer_n_heads"):
        read_published(tmp_path / "model.mdl")


def test_missing_and_cut_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"none\.mdl cannot be read"):
        read_published(tmp_path / "none.mdl")
    for old in (True, False):
        whole = write(tmp_path / "model.mdl", transformer_state(), old=old).read_bytes()
        for length in (0, 1, 100, len(whole) // 2, len(whole) - 1):
            (tmp_path / "cut.mdl").write_bytes(whole[:length])
            with pytest.raises(ModelFileError, match=r"cut\.mdl"):
                read_published(tmp_path / "cut.mdl")
