"""Loading model files: what is read, and what is refused."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sample_models import Bomb
from torch import nn

from parlai_empathy.agent_kit.trained.weights import load_model
from parlai_empathy.errors import ModelFileError


class Net(nn.Module):
    """A model with a body and a head."""

    def __init__(self, body: int = 3, outputs: int = 1) -> None:
        super().__init__()
        self.body = nn.Linear(2, body)
        self.head = nn.Linear(body, outputs)


def load_into(net: Net, path: Path) -> dict[str, Any]:
    return load_model(str(path), net.load_state_dict)


def is_equal(net: Net, other: Net, part: str = "") -> bool:
    weights, others = net.state_dict(), other.state_dict()
    return all(torch.equal(weights[name], others[name]) for name in weights if name.startswith(part))


# --- loading ---------------------------------------------------------------------------------------------------------


def test_load_model_reads_weights_and_other_state(tmp_path: Path) -> None:
    saved, net = Net(), Net()
    torch.save({"model": saved.state_dict(), "number_training_updates": 7}, tmp_path / "model")
    assert load_into(net, tmp_path / "model")["number_training_updates"] == 7
    assert is_equal(net, saved)


# ParlAI's schedulers save NumPy scalars such as this.
RATE = np.sqrt(np.float64(0.5))


@pytest.mark.parametrize("module", ["numpy.core.multiarray", "numpy._core.multiarray"])
def test_scalars_saved_by_numpy_1_and_2_are_read(tmp_path: Path, module: str) -> None:
    """The function that unpickles them has moved; a file may be older or newer than the installed NumPy."""
    path = tmp_path / "model"
    torch.save({"model": Net().state_dict(), "lr_scheduler": {"_last_lr": [RATE]}}, path)
    pickled = written_by(path, module)
    assert f"c{module}\nscalar\n".encode() in pickled
    assert load_into(Net(), path)["lr_scheduler"]["_last_lr"] == [RATE]


def written_by(path: Path, module: str) -> bytes:
    """Rewrite a model file as if saved by the NumPy with the function in ``module``, and return the new pickle."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (name,) = (name for name in files if name.endswith("/data.pkl"))
    files[name] = re.sub(rb"cnumpy\._?core\.multiarray\n", f"c{module}\n".encode(), files[name])
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in files.items():
            archive.writestr(each, content)
    return files[name]


def test_loading_executes_no_pickled_code(tmp_path: Path) -> None:
    torch.save({"model": Net().state_dict(), "extra": Bomb(tmp_path / "executed")}, tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"^\S+/model contains getattr, and is not loaded: only tensors and plain"):
        load_into(Net(), tmp_path / "model")
    assert not (tmp_path / "executed").exists()
    torch.load(tmp_path / "model", weights_only=False)
    assert (tmp_path / "executed").exists(), "the file would have executed something"


def refusal(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        load_into(Net(), path)
    return str(caught.value)


def test_weights_of_another_size_do_not_fit_the_options(tmp_path: Path) -> None:
    torch.save({"model": Net(body=4).state_dict()}, path := tmp_path / "model")
    its = rf"its options or dictionary \({path}\.opt, {path}\.dict\)"
    assert re.fullmatch(rf"{path} does not fit {its} or this command's options: size mismatch .*", refusal(path))
    Path(f"{path}.opt").write_text('{"model": "empathy:prepend"}')
    assert refusal(path).startswith(f"{path}, a model of empathy:prepend, does not fit its options or dictionary")


@pytest.mark.parametrize("content", [{"weights": 1}, [1], None])
def test_file_of_something_else_than_a_model_is_refused(tmp_path: Path, content: object) -> None:
    torch.save(content, path := tmp_path / "model")
    assert refusal(path) == f"{path} is no model file that ParlAI saved: it has no weights under the key 'model'"


def test_file_that_cannot_be_opened_is_named_with_the_reason(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "missing", "No such file or directory"), (tmp_path, "Is a directory")):
        assert refusal(path) == f"{path}: the model file cannot be read: {reason}"


# From some length on, torch fails to seek in a file that is cut off; what it reads before that decides other errors.
@pytest.mark.parametrize("length", [0, 1, 10, 500, 20_000])
def test_damaged_file_is_to_be_fetched_or_trained_again(tmp_path: Path, length: int) -> None:
    torch.save({"model": {"weight": torch.zeros(10_000)}}, tmp_path / "whole")
    (path := tmp_path / "cut").write_bytes((tmp_path / "whole").read_bytes()[:length])
    assert refusal(path) == f"{path} is cut off or damaged, or no model file: fetch it again, or train again"
    (tmp_path / "cut.checkpoint").touch()
    assert refusal(path).endswith(
        f"or delete it and train again: the training resumes from {tmp_path / 'cut.checkpoint'}"
    )


@pytest.mark.parametrize("text", ["junk\n", "not a model\nat all"])
def test_text_file_is_no_model_file(tmp_path: Path, text: str) -> None:
    (path := tmp_path / "model").write_text(text)
    assert "or no model file: fetch it again" in refusal(path)


def test_fp16_hint_of_parlai_is_removed_from_error(tmp_path: Path) -> None:
    torch.save({"model": Net().state_dict()}, tmp_path / "model")

    def refuse(_: object) -> None:
        raise RuntimeError("Error(s) in loading:\n\tsize mismatch for x\n-----------------\nTry adding --fp16 true")

    with pytest.raises(ModelFileError, match=r"size mismatch for x$"):
        load_model(str(tmp_path / "model"), refuse)


def test_model_file_error_is_passed_on_unchanged(tmp_path: Path) -> None:
    torch.save({"model": Net().state_dict()}, tmp_path / "model")

    def refuse(_: object) -> None:
        raise ModelFileError("say this")

    with pytest.raises(ModelFileError, match=r"^say this$"):
        load_model(str(tmp_path / "model"), refuse)
