"""Reports the tokens of one answer while a local model generates it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# A byte token of a Llama-style vocabulary, for characters without a token.
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


class TokenListener:
    """A stopping criterion for Hugging Face's ``generate`` that never stops it, but is called after each token.

    :param report: called with the answer's token ids so far.
    :param prompt_width: the number of tokens before the answer.
    """

    def __init__(self, report: Callable[[list[int]], None], prompt_width: int) -> None:
        self.report = report
        self.prompt_width = prompt_width

    def __call__(self, tokens: Tensor, scores: Any, **_: Any) -> Tensor:
        """Return that the row has not ended, ``(1,)``."""
        self.report(tokens[0, self.prompt_width :].tolist())
        return torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)


def settled(tokenizer: Any, row: list[int]) -> list[int]:
    """Return an answer's tokens without its trailing byte tokens, whose text may still change.

    Consecutive bytes are decoded together, and a single invalid byte makes all of them unreadable.

    :param tokenizer: a Hugging Face tokenizer.
    """
    names = tokenizer.convert_ids_to_tokens(row)
    while names and _BYTE.fullmatch(names[-1] or ""):  # a model may have tokens that its tokenizer lacks
        names.pop()
    return row[: len(names)]
