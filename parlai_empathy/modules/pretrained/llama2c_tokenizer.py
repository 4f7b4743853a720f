"""llama2.c's tokenizer as a Hugging Face tokenizer.

llama2.c puts a space before a text and splits it into characters (one that is not in the vocabulary, into its bytes).
Then it merges the two neighbours whose merged piece has the best score, the leftmost first, until no merge is left.
This is byte-pair encoding in which each way to form a piece is a merge, ranked by the piece's score. Three rare
differences remain. If a piece can be formed in two ways at once ("aa" + "a" and "a" + "aa"), llama2.c takes the
leftmost one, Hugging Face the same one each time. In a text that contains "<s>" or "</s>", Hugging Face sees the
special token. And spaces are represented by "▁", as in Llama's own tokenizer, so that character in a text counts as a
space.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlai_empathy.errors import ModelFileError
from parlai_empathy.modules.pretrained.hugging_face import transformers_library

UNKNOWN, BEGIN, END = range(3)
_SPECIAL = ("<unk>", "<s>", "</s>")
"""llama2.c's files have line breaks around the last two; the text of a special token is never used."""

_SPACE = "▁"
_FIRST_BYTE = len(_SPECIAL)
_FIRST_PIECE = _FIRST_BYTE + 256


@dataclass(frozen=True)
class Piece:
    """A token: its text, and its score, by which merges are ranked."""

    text: str
    score: float


def read_tokenizer(path: Path) -> Any:
    """Read a llama2.c tokenizer file as a Hugging Face tokenizer.

    :raises ModelFileError: if the file cannot be read, is truncated, or is of another kind.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, processors

    # Tokenizers before 0.20 cannot save a merge of pieces with spaces in them.
    pieces = [Piece(piece.text.replace(" ", _SPACE), piece.score) for piece in read_pieces(path)]
    ids = {piece.text: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(ids, _merges(pieces), unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(_SPACE), normalizers.Replace(" ", _SPACE)])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", BEGIN)]
    )
    return transformers_library().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def read_pieces(path: Path) -> list[Piece]:
    """Read the vocabulary of a tokenizer file.

    The file starts with the length of the longest piece. Then each piece has its score, its length in bytes (four bytes
    each, little-endian), and the bytes themselves.

    :raises ModelFileError: if the file cannot be read, is truncated, or is of another kind.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read ({error.strerror}): name a llama2.c tokenizer") from error
    try:
        pieces = _pieces(content)
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise ModelFileError(
            f"{path} is not a llama2.c tokenizer, or truncated ({error}): fetch the file again"
        ) from error
    bytes_there = [piece.text for piece in pieces[_FIRST_BYTE:_FIRST_PIECE]]
    if bytes_there != [f"<0x{byte:02X}>" for byte in range(256)]:
        raise ModelFileError(
            f"{path} lacks a piece for each byte: only llama2.c tokenizers with byte fallback are supported"
        )
    if len({piece.text for piece in pieces}) != len(pieces):
        raise ModelFileError(f"{path} has a duplicate piece: fetch the file again")
    return pieces


def _pieces(content: bytes) -> list[Piece]:
    (longest,) = struct.unpack_from("<i", content)
    pieces: list[Piece] = []
    place = 4
    while place < len(content):
        score, length = struct.unpack_from("<fi", content, place)
        place += 8
        if not 0 <= length <= longest or place + length > len(content) or not math.isfinite(score):
            raise ValueError(f"piece {len(pieces)} is broken")
        text = content[place : place + length].decode("utf-8")
        pieces.append(Piece(_SPECIAL[len(pieces)] if len(pieces) < len(_SPECIAL) else text, score))
        place += length
    return pieces


def _merges(pieces: list[Piece]) -> list[tuple[str, str]]:
    """Return each way to form a piece from two others, the best pieces first."""
    known = {piece.text for piece in pieces[_FIRST_PIECE:]}
    ordered = sorted(pieces[_FIRST_PIECE:], key=lambda piece: -piece.score)
    return [
        (piece.text[:place], piece.text[place:])
        for piece in ordered
        for place in range(1, len(piece.text))
        if piece.text[:place] in known and piece.text[place:] in known
    ]
