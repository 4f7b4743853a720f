"""Stops a local model at stop texts, which may begin or end in the middle of a token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

# The decoded tail may begin in the middle of a character: this many extra tokens make sure that it is complete.
_MARGIN = 8


class StopTexts:
    """A stopping criterion for Hugging Face's ``generate``.

    :param decode: returns the text of token ids.
    :param prompt_width: the number of tokens before the answer, padding included.
    :param stop: texts that end an answer.
    """

    def __init__(self, decode: Callable[[list[int]], str], prompt_width: int, stop: Sequence[str]) -> None:
        self.decode = decode
        self.prompt_width = prompt_width
        self.stop = stop
        self.ends: dict[int, int] = {}
        """The length of the answer in tokens, by row, for rows that reached a stop text."""
        # A token is at least one byte, so a stop text cannot reach further back than this.
        self._tail = max((len(one.encode()) for one in stop), default=0) + _MARGIN

    def __call__(self, tokens: Tensor, scores: Any, **_: Any) -> Tensor:
        """Return which rows have ended, ``(rows,)``."""
        written = tokens.size(1) - self.prompt_width
        if self.stop:
            for row, tail in enumerate(tokens[:, self.prompt_width :][:, -self._tail :].tolist()):
                if row not in self.ends and self._reached(tail):
                    self.ends[row] = written
        return torch.tensor([row in self.ends for row in range(len(tokens))], device=tokens.device)

    def _reached(self, tail: list[int]) -> bool:
        text = self.decode(tail)
        return any(one in text for one in self.stop)
