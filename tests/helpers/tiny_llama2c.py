"""llama2.c's two files, written from the description of the format, and its forward pass and encoder in NumPy."""

from __future__ import annotations

import functools
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

# Invented pieces in the order of their merges, and the characters of which they consist.
_JOINED = (" t", "he", " a", "in", " the", "ing", "an", " an", "er", " s", "am", " I", " am", "ad", " sad", "yo", "you")
_SINGLE = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,:!?'é"
PIECES = ["<unk>", "\n<s>\n", "\n</s>\n", *(f"<0x{byte:02X}>" for byte in range(256)), *_JOINED, *_SINGLE]


def write_tokenizer(path: Path, pieces: list[str] = PIECES) -> Path:
    """Write a tokenizer's file; the pieces after the bytes have the scores 0, -1, -2 and so on."""
    coded = [piece.encode() for piece in pieces]
    content = struct.pack("<i", max(map(len, coded)))
    for number, piece in enumerate(coded):
        content += struct.pack("<fi", -max(0.0, number - 259.0), len(piece)) + piece
    path.write_bytes(content)
    return path


@dataclass
class Llama:
    """A model of llama2.c.

    :param sizes: dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size (negative: untied classifier), seq_len.
    :param weights: in the file's order.
    """

    sizes: tuple[int, ...]
    weights: list[Array]

    def write(self, path: Path) -> Path:
        path.write_bytes(
            struct.pack("<7i", *self.sizes) + b"".join(part.astype("<f4").tobytes() for part in self.weights)
        )
        return path


def shapes(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the shapes of the weights, in the file's order."""
    dim, hidden, layers, heads, kv_heads, vocabulary, length = sizes
    kv, half = dim // heads * kv_heads, dim // heads // 2
    found: list[tuple[int, ...]] = [(abs(vocabulary), dim), (layers, dim), (layers, dim, dim)]
    found += [(layers, kv, dim), (layers, kv, dim), (layers, dim, dim), (layers, dim)]
    found += [(layers, hidden, dim), (layers, dim, hidden), (layers, hidden, dim), (dim,)]
    found += [(length, half), (length, half)]
    return found if vocabulary > 0 else [*found, (-vocabulary, dim)]


def random_llama(sizes: tuple[int, ...], seed: int = 0) -> Llama:
    """Return a model with random weights and correct tables of rotary positions."""
    random = np.random.default_rng(seed)
    weights = [random.normal(0, 0.3, shape).astype(np.float32) for shape in shapes(sizes)]
    for number in (1, 6, 10):
        weights[number] += 1  # the weights of the norms
    half = sizes[0] // sizes[3] // 2
    angles = np.outer(np.arange(sizes[6]), 10000.0 ** (-np.arange(half) / half))
    weights[11], weights[12] = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    return Llama(sizes, weights)


def read_llama(path: Path) -> Llama:
    """Read a model's file."""
    content = path.read_bytes()
    sizes = struct.unpack("<7i", content[:28])
    numbers = np.frombuffer(content[28:], "<f4")
    weights = []
    for shape in shapes(sizes):
        weights.append(numbers[: math.prod(shape)].reshape(shape))
        numbers = numbers[math.prod(shape) :]
    assert len(numbers) == 0
    return Llama(sizes, weights)


def _norm(x: Array, weight: Array) -> Array:
    result: Array = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * weight
    return result


def _turn(x: Array, cosines: Array, sines: Array) -> Array:
    """Rotate each pair of adjacent elements by the angle of its position. ``x``: (time, heads, head_dim)."""
    even, odd, cosines, sines = x[..., 0::2], x[..., 1::2], cosines[:, None], sines[:, None]
    result = np.empty_like(x)
    result[..., 0::2] = even * cosines - odd * sines
    result[..., 1::2] = even * sines + odd * cosines
    return result


def logits(llama: Llama, tokens: list[int]) -> Array:
    """Return the logits of llama2.c's forward pass for each position, (time, vocabulary)."""
    dim, _, layers, heads, kv_heads, _, _ = llama.sizes
    embedding, norm1, wq, wk, wv, wo, norm2, w1, w2, w3, norm, cosines, sines = llama.weights[:13]
    time, size = len(tokens), dim // heads
    cosines, sines = cosines[:time], sines[:time]
    x = embedding[tokens]
    unseen = np.triu(np.full((time, time), -np.inf), 1)
    for layer in range(layers):
        y = _norm(x, norm1[layer])
        q = _turn((y @ wq[layer].T).reshape(time, heads, size), cosines, sines)
        k = _turn((y @ wk[layer].T).reshape(time, kv_heads, size), cosines, sines)
        v = (y @ wv[layer].T).reshape(time, kv_heads, size)
        read = []
        for head in range(heads):
            group = head // (heads // kv_heads)
            scores = q[:, head] @ k[:, group].T / math.sqrt(size) + unseen
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            read.append(shares / shares.sum(axis=1, keepdims=True) @ v[:, group])
        x = x + np.concatenate(read, axis=1) @ wo[layer].T
        y = _norm(x, norm2[layer])
        gate = y @ w1[layer].T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ w3[layer].T)) @ w2[layer].T
    classifier = llama.weights[13] if len(llama.weights) == 14 else embedding
    result: Array = (_norm(x, norm) @ classifier.T).astype(np.float32)
    return result


def read_vocabulary(path: Path) -> list[tuple[bytes, float]]:
    """Return the pieces and scores in a tokenizer's file."""
    content, place, found = path.read_bytes(), 4, []
    while place < len(content):
        score, length = struct.unpack_from("<fi", content, place)
        found.append((content[place + 8 : place + 8 + length], score))
        place += 8 + length
    return found


@functools.cache
def _numbers(vocabulary: tuple[tuple[bytes, float], ...]) -> dict[bytes, int]:
    return {piece: number for number, (piece, _) in enumerate(vocabulary)}


def encode(vocabulary: list[tuple[bytes, float]], text: str) -> list[int]:
    """llama2.c's encoder: prepend a space, split into characters or bytes, then repeatedly merge the best pair."""
    ids = _numbers(tuple(vocabulary))
    tokens: list[int] = []
    for character in f" {text}" if text else "":
        coded = character.encode()
        tokens += [ids[coded]] if coded in ids else [byte + 3 for byte in coded]
    while True:
        joined: list[tuple[float, int, int]] = []
        for place in range(len(tokens) - 1):
            number = ids.get(vocabulary[tokens[place]][0] + vocabulary[tokens[place + 1]][0])
            if number is not None:
                joined.append((-vocabulary[number][1], place, number))
        if not joined:
            return [1, *tokens]
        _, place, number = min(joined)
        tokens[place : place + 2] = [number]


def write_llama_folder(folder: Path, real_data: Path | None = None, chat: bool = True) -> Path:
    """Write a model in Hugging Face's format: stories260K if it is available, else a random model of the same kind.

    :param chat: whether its tokenizer gets a chat template.
    """
    from parlai_empathy.modules.pretrained.llama2c import convert

    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer = folder / "model.bin", folder / "tokenizer.bin"
    if real_data is not None and (real_data / "tiny_lm").is_dir():
        model, tokenizer = real_data / "tiny_lm" / "stories260K.bin", real_data / "tiny_lm" / "tok512.bin"
    else:
        random_llama((32, 48, 2, 4, 2, len(PIECES), 256), seed=4).write(model)
        write_tokenizer(tokenizer)
    convert(model, tokenizer, folder / "hf")
    if chat:
        add_chat_template(folder / "hf")
    return folder / "hf"


CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'system' and not loop.first %}{{ raise_exception('system comes first') }}{% endif %}"
    "{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def add_chat_template(folder: Path) -> None:
    """Add a simple chat template to a tokenizer's folder."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
