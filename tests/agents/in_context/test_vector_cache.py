"""Vectors cached in a file: when they are loaded, and when they are computed again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from parlai_empathy.agents.in_context.vector_cache import load_or_encode
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.encoders.sentence_encoder import Vectors

TEXTS = ["I won.", "I fell.", "It rained."]


class Counting:
    """An encoder that counts the texts that it encodes."""

    name = "counting"

    def __init__(self, weight: float = 0.0, settings: str = "plain") -> None:
        self.model: nn.Module = nn.Linear(1, 1)
        nn.init.constant_(self.model.weight, weight)  # type: ignore[arg-type]
        nn.init.constant_(self.model.bias, weight)  # type: ignore[arg-type]
        self.settings = settings
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        vectors = np.array([[len(text), 1.0] for text in texts], dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def made(folder: Path, encoder: Counting, texts: list[str] = TEXTS) -> bool:
    """Assert that the vectors are correct; return whether they were computed."""
    before = encoder.encoded
    found = load_or_encode(folder, "texts", texts, encoder)
    np.testing.assert_array_equal(found, Counting().encode(texts))
    assert encoder.encoded - before in (0, len(texts))
    return encoder.encoded > before


def test_texts_are_encoded_once(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"
    assert made(folder, Counting())
    assert not made(folder, Counting())
    (path,) = folder.iterdir()  # and no temporary file
    assert path.name.startswith("texts-")


@pytest.mark.parametrize(
    ("encoder", "texts"),
    [
        (Counting(weight=0.5), TEXTS),
        (Counting(settings="longer"), TEXTS),
        (Counting(), ["I won.", "I fell.", "It snowed."]),
        (Counting(), TEXTS[:2]),
        (Counting(), TEXTS[::-1]),
        (Counting(), ["I won.\nI fell.", "It rained."]),
    ],
)
def test_different_texts_or_encoders_use_separate_files(tmp_path: Path, encoder: Counting, texts: list[str]) -> None:
    assert made(tmp_path, Counting())
    assert made(tmp_path, encoder, texts)
    assert not made(tmp_path, Counting())


def broken_files() -> dict[str, bytes]:
    """Possible contents of a file that is truncated or of other origin."""
    return {"empty": b"", "cut": b"\x93NUMPY\x01\x00v\x00{", "text": b"no vectors", "pickle": b"\x80\x04N."}


@pytest.mark.parametrize("content", broken_files().values(), ids=broken_files())
def test_corrupt_cache_file_is_recomputed(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    assert made(tmp_path, Counting())
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    assert made(tmp_path, Counting())
    assert not made(tmp_path, Counting())


@pytest.mark.parametrize(
    "array",
    [
        np.ones((3, 2), np.float32),
        np.ones((2, 2), np.float32) / 2**0.5,
        np.ones(3),
        np.full((3, 2), np.nan, np.float32),
    ],
)
def test_cache_file_with_wrong_values_is_recomputed(tmp_path: Path, array: np.ndarray) -> None:  # type: ignore[type-arg]
    assert made(tmp_path, Counting())
    (path,) = tmp_path.iterdir()
    np.save(path, array)
    assert made(tmp_path, Counting())


def test_interrupted_write_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(file: object, *_: object, **__: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path, Counting())
    assert made(tmp_path, Counting())
    assert not made(tmp_path, Counting())


def test_unwritable_folder_raises_option_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OptionError, match=r"cannot be written .*: name a writable folder with --datapath"):
        load_or_encode(tmp_path / "file" / "below", "texts", TEXTS, Counting())


def test_equal_weights_share_a_cache_file(tmp_path: Path) -> None:
    """The file's name does not depend on the object's identity or on the tensors' memory addresses."""
    first, second = Counting(0.25), Counting(0.25)
    second.model.load_state_dict({name: torch.clone(value) for name, value in first.model.state_dict().items()})
    assert made(tmp_path, first)
    assert not made(tmp_path, second)
