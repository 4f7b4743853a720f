"""Pools of replies: saved and loaded, rejected if broken, rebuilt for another model."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from parlai_empathy.agents.retrieval.pool import Pool, load_or_build, load_pool
from parlai_empathy.errors import ModelFileError

TEXTS = ["oh no", "naïve, isn't it? 😢", "two\nlines"]


def pool(fingerprint: str = "f00d") -> Pool:
    return Pool(TEXTS, torch.arange(12.0).view(3, 4), fingerprint)


def assert_equal(found: Pool, expected: Pool) -> None:
    assert found.texts == expected.texts
    assert torch.equal(found.encodings, expected.encodings)
    assert found.fingerprint == expected.fingerprint


def one_line(error: BaseException) -> str:
    message = str(error)
    assert "\n" not in message
    return message


# --- the file --------------------------------------------------------------------------------------------------------


def test_save_and_load_round_trip_leaves_no_other_files(tmp_path: Path) -> None:
    pool().save(tmp_path / "model.pool")
    assert_equal(load_pool(tmp_path / "model.pool"), pool())
    assert os.listdir(tmp_path) == ["model.pool"]


def test_saving_replaces_the_old_pool(tmp_path: Path) -> None:
    pool("old").save(tmp_path / "model.pool")
    pool("new").save(tmp_path / "model.pool")
    assert load_pool(tmp_path / "model.pool").fingerprint == "new"


def assert_refused(path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        load_pool(path)
    message = one_line(caught.value)
    assert str(path) in message
    assert "delete it" in message


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_file_raises_model_file_error(tmp_path: Path, share: float) -> None:
    path = tmp_path / "model.pool"
    pool().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert_refused(path)


@settings(max_examples=60)
@given(content=st.binary(max_size=300))
def test_random_bytes_raise_model_file_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("pool") / "model.pool"
    path.write_bytes(content)
    assert_refused(path)


@pytest.mark.parametrize(
    "stored",
    [
        torch.zeros(3),
        ["a", "b"],
        {"texts": TEXTS, "encodings": torch.zeros(3, 4)},  # no fingerprint
        {"texts": TEXTS, "encodings": torch.zeros(2, 4), "fingerprint": "f00d"},  # a reply without an encoding
        {"texts": 3, "encodings": torch.zeros(3, 4), "fingerprint": "f00d"},
    ],
    ids=["tensor", "list", "part is missing", "parts do not fit", "texts are no list"],
)
def test_file_with_wrong_content_raises_model_file_error(tmp_path: Path, stored: Any) -> None:
    torch.save(stored, tmp_path / "model.pool")
    assert_refused(tmp_path / "model.pool")


class Attack:
    """Unpickling this creates a folder: harmless, but proof of code execution."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.folder),)


def raw_pickle(stored: object, path: Path) -> None:
    path.write_bytes(pickle.dumps(stored, protocol=2))  # the protocol that torch uses


def torchs_old_format(stored: object, path: Path) -> None:
    torch.save(stored, path, _use_new_zipfile_serialization=False)


@pytest.mark.parametrize("write", [torch.save, torchs_old_format, raw_pickle])
def test_loading_executes_no_pickled_code(tmp_path: Path, write: Callable[[object, Path], None]) -> None:
    path, proof = tmp_path / "model.pool", tmp_path / "executed"
    write({"texts": ["a"], "encodings": torch.zeros(1, 2), "fingerprint": "x", "more": Attack(proof)}, path)
    assert_refused(path)
    assert not proof.exists()
    # The attack is real: plain unpickling executes it.
    if write is raw_pickle:
        pickle.loads(path.read_bytes())
    else:
        torch.load(path, weights_only=False)
    assert proof.exists()


SAVE_SLOWLY = """
import sys, time
import torch
from parlai_empathy.agents.retrieval.pool import Pool

class Slow:
    def __reduce__(self):
        print("saving", flush=True)
        time.sleep(600)

Pool([Slow()], torch.zeros(1, 2), "new").save(sys.argv[1])
"""


def test_process_killed_while_saving_leaves_the_old_pool(tmp_path: Path) -> None:
    path = tmp_path / "model.pool"
    pool("old").save(path)
    with subprocess.Popen([sys.executable, "-c", SAVE_SLOWLY, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "saving\n"
        child.kill()
        assert child.wait() == -signal.SIGKILL
    assert_equal(load_pool(path), pool("old"))
    pool("newer").save(path)
    assert load_pool(path).fingerprint == "newer"


# --- stored or new ---------------------------------------------------------------------------------------------------


def never(*_: object) -> Any:
    raise AssertionError("must not be called")


def encode(texts: list[str]) -> Tensor:
    """Return the texts' lengths in place of encodings."""
    return torch.tensor([[float(len(text))] for text in texts])


def test_stored_pool_of_same_model_is_reused(tmp_path: Path) -> None:
    pool("same").save(tmp_path / "model.pool")
    found, is_new = load_or_build(tmp_path / "model.pool", "same", texts=never, encode=never)
    assert not is_new
    assert_equal(found, pool("same"))


@pytest.mark.parametrize("stored", [None, "of another model"], ids=["nothing stored", "another model's"])
def test_pool_missing_or_of_another_model_is_rebuilt(tmp_path: Path, stored: str | None) -> None:
    if stored:
        pool(stored).save(tmp_path / "model.pool")
    found, is_new = load_or_build(tmp_path / "model.pool", "this", texts=lambda: ["a", "bcd"], encode=encode)
    assert is_new
    assert_equal(found, Pool(["a", "bcd"], torch.tensor([[1.0], [3.0]]), "this"))


def test_unsaved_model_gets_a_new_pool() -> None:
    assert load_or_build(None, "this", texts=lambda: ["a"], encode=encode)[1]


def test_damaged_stored_pool_raises_error_and_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "model.pool").write_bytes(b"not a pool")
    with pytest.raises(ModelFileError, match=r"model\.pool is not a readable pool"):
        load_or_build(tmp_path / "model.pool", "this", texts=lambda: ["a"], encode=encode)
    assert (tmp_path / "model.pool").read_bytes() == b"not a pool"


def test_empty_pool_raises_model_file_error() -> None:
    with pytest.raises(ModelFileError) as caught:
        load_or_build(None, "this", texts=list, encode=never)
    assert "pool of replies is empty" in one_line(caught.value)


# --- choosing --------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(n=st.integers(1, 6), replies=st.integers(1, 9), seed=st.integers(0, 999))
def test_best_reply_has_the_greatest_dot_product(n: int, replies: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    contexts = torch.randn(n, 3, generator=generator)
    encodings = torch.randn(replies, 3, generator=generator)
    texts = [f"reply {i}" for i in range(replies)]

    def score(context: int, reply: int) -> float:
        return sum(float(contexts[context, i]) * float(encodings[reply, i]) for i in range(3))

    expected = [texts[max(range(replies), key=lambda reply: score(context, reply))] for context in range(n)]
    assert Pool(texts, encodings, "x").best(contexts) == expected


def test_pool_name_has_its_size_and_changes_with_its_texts() -> None:
    def name(*texts: str) -> str:
        return Pool(list(texts), torch.zeros(len(texts), 1), "x").name

    assert name("a", "b").startswith("2-")
    assert name("a", "b") == name("a", "b")
    assert len({name("a", "b"), name("b", "a"), name("a", "c"), name("a"), name("a", "b", "c")}) == 5
