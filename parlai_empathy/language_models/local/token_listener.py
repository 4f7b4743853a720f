"""Follows a local model while it writes one answer, token by token."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# How vocabularies in the way of Llama's name a byte of a character for which they have no token.
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


class TokenListener:
    """For Hugging Face's ``generate`` a stopping criterion, which stops nothing: it is called after each token.

    :param tell: gets the answer's tokens so far.
    :param prompt_width: how many tokens stand before the answer.
    """

    def __init__(self, tell: Callable[[list[int]], None], prompt_width: int) -> None:
        self.tell = tell
        self.prompt_width = prompt_width

    def __call__(self, tokens: Tensor, scores: Any, **_: Any) -> Tensor:
        """No row has ended, ``(1,)``."""
        self.tell(tokens[0, self.prompt_width :].tolist())
        return torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)


def settled(tokenizer: Any, row: list[int]) -> list[int]:
    """An answer's tokens without those at its end that further ones may turn into other characters.

    Bytes in a row are decoded together, and one byte that fits no character makes all of them unreadable.

    :param tokenizer: a Hugging Face tokenizer.
    """
    names = tokenizer.convert_ids_to_tokens(row)
    while names and _BYTE.fullmatch(names[-1] or ""):  # a model may have tokens that its tokenizer has no name for
        names.pop()
    return row[: len(names)]
