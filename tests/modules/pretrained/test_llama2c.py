"""Models of llama2.c as Hugging Face models, compared with llama2.c's own formula in NumPy."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from full_disk import full_disk
from tiny_llama2c import PIECES, Llama, logits, random_llama, read_llama, write_tokenizer

from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.pretrained.llama2c import convert, main, read_model

SIZES = (16, 24, 3, 4, 2, len(PIECES), 64)  # two query heads share a key head


def hf_logits(folder: Path, tokens: list[int]) -> np.ndarray:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.no_grad():
        return model(torch.tensor([tokens])).logits[0].numpy()


def converted(llama: Llama, folder: Path) -> Path:
    convert(llama.write(folder / "m.bin"), write_tokenizer(folder / "t.bin"), folder / "hf")
    return folder / "hf"


@pytest.mark.parametrize("vocabulary", [len(PIECES), -len(PIECES)], ids=["shared classifier", "own classifier"])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_converted_model_has_same_logits_as_llama2c(vocabulary: int, kv_heads: int, tmp_path: Path) -> None:
    llama = random_llama((16, 24, 3, 4, kv_heads, vocabulary, 64), seed=kv_heads)
    tokens = np.random.default_rng(1).integers(0, len(PIECES), 40).tolist()
    expected = logits(llama, tokens)
    assert expected.std() > 0.1, "a comparison of zeros says nothing"
    np.testing.assert_allclose(hf_logits(converted(llama, tmp_path), tokens), expected, atol=1e-4)


def test_real_model_has_same_logits_as_llama2c(real_data: Path, tmp_path: Path) -> None:
    model = real_data / "tiny_lm" / "stories260K.bin"
    convert(model, model.with_name("tok512.bin"), tmp_path)
    tokens = [1, *np.random.default_rng(2).integers(0, 512, 199).tolist()]
    np.testing.assert_allclose(hf_logits(tmp_path, tokens), logits(read_llama(model), tokens), atol=1e-4)


def test_real_model_generates_a_story(real_data: Path, tmp_path: Path) -> None:
    model = real_data / "tiny_lm" / "stories260K.bin"
    convert(model, model.with_name("tok512.bin"), tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    written = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).generate(
        **tokenizer("Once upon a time", return_tensors="pt"), max_new_tokens=14, do_sample=False
    )
    assert tokenizer.decode(written[0], skip_special_tokens=True).startswith("Once upon a time, there was a")


def test_configuration_has_sizes_and_special_tokens(tmp_path: Path) -> None:
    config = transformers.AutoConfig.from_pretrained(converted(random_llama(SIZES), tmp_path))
    assert (config.hidden_size, config.intermediate_size, config.num_hidden_layers) == (16, 24, 3)
    assert (config.num_attention_heads, config.num_key_value_heads, config.max_position_embeddings) == (4, 2, 64)
    assert (config.bos_token_id, config.eos_token_id, config.vocab_size) == (1, 2, len(PIECES))
    assert config.tie_word_embeddings


def test_separate_classifier_weights_are_kept(tmp_path: Path) -> None:
    llama = random_llama((*SIZES[:5], -len(PIECES), 64))
    _, weights = read_model(llama.write(tmp_path / "m.bin"))
    np.testing.assert_array_equal(weights["lm_head.weight"].numpy(), llama.weights[13])
    _, shared = read_model(random_llama(SIZES).write(tmp_path / "s.bin"))
    assert "lm_head.weight" not in shared


def refused(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("bytes_left", [0, 10, 27, 28, 1000, -4, -1])
def test_truncated_file_raises_error(bytes_left: int, tmp_path: Path) -> None:
    path = random_llama(SIZES).write(tmp_path / "m.bin")
    path.write_bytes(path.read_bytes()[:bytes_left])
    assert "fetch the file again" in refused(path)


def test_file_with_trailing_bytes_raises_error(tmp_path: Path) -> None:
    path = random_llama(SIZES).write(tmp_path / "m.bin")
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"more")
    assert f"has {size + 4} bytes, but by its header it should have {size}" in refused(path)


@pytest.mark.parametrize(
    "header",
    [
        struct.pack("<I6i", 0x616B3432, 1, 16, 24, 3, 4, 2),  # later versions start with "ak42"
        struct.pack("<7i", 16, 24, 3, 5, 2, 300, 64),  # 16 is not a multiple of 5
        struct.pack("<7i", 16, 24, 3, 4, 3, 300, 64),  # 4 heads cannot share 3 key heads evenly
        struct.pack("<7i", 12, 24, 3, 4, 2, 300, 64),  # heads of size 3 cannot be halved
        struct.pack("<7i", 16, 24, 3, 4, 2, 0, 64),
        struct.pack("<7i", 16, -24, 3, 4, 2, 300, 64),
        b"PK\x03\x04" + bytes(24),
    ],
)
def test_other_file_formats_raise_error(header: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(header + bytes(100))
    assert "is not a llama2.c model in the legacy format" in refused(tmp_path / "m.bin")


def test_missing_file_error_names_the_file(tmp_path: Path) -> None:
    assert "cannot be read (No such file or directory)" in refused(tmp_path / "m.bin")


def test_mismatched_vocabulary_sizes_raise_error(tmp_path: Path) -> None:
    model = random_llama(SIZES).write(tmp_path / "m.bin")
    with pytest.raises(
        ModelFileError, match=f"has {len(PIECES) + 1} pieces, but .* has a vocabulary of {len(PIECES)}: name"
    ):
        convert(model, write_tokenizer(tmp_path / "t.bin", [*PIECES, "zz"]), tmp_path / "hf")
    assert not (tmp_path / "hf").exists()


def test_unwritable_folder_error_names_the_folder(tmp_path: Path) -> None:
    model, tokenizer = random_llama(SIZES).write(tmp_path / "m.bin"), write_tokenizer(tmp_path / "t.bin")
    with pytest.raises(ModelFileError, match=r"m\.bin/hf cannot be written \(Not a directory\): name another folder"):
        convert(model, tokenizer, model / "hf")


@pytest.mark.parametrize("size", [20, 2_000])
def test_full_disk_error_names_the_folder(size: int, tmp_path: Path) -> None:
    """The configuration has some 700 bytes, the weights 48,000; safetensors writes these."""
    model, tokenizer = random_llama(SIZES).write(tmp_path / "m.bin"), write_tokenizer(tmp_path / "t.bin")
    with full_disk(size), pytest.raises(ModelFileError, match=r"hf cannot be written \(.*File too large"):
        convert(model, tokenizer, tmp_path / "hf")


def test_main_converts_model_and_reports_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, tokenizer = random_llama(SIZES).write(tmp_path / "m.bin"), write_tokenizer(tmp_path / "t.bin")
    assert main([str(model), str(tokenizer), str(tmp_path / "hf")]) == 0
    assert capsys.readouterr().out == f"The model is in {tmp_path / 'hf'}\n"
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "hf").is_fast
    assert main([str(tokenizer), str(tokenizer), str(tmp_path / "hf")]) == 1
    assert capsys.readouterr().err.startswith(f"{tokenizer} is not a llama2.c model")
    assert main([]) == 2
    assert "MODEL.bin TOKENIZER.bin FOLDER" in capsys.readouterr().err


def test_module_without_arguments_prints_usage() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "parlai_empathy.modules.pretrained.llama2c"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: python -m parlai_empathy.modules.pretrained.llama2c")
