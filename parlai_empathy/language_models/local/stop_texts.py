"""Stops a local model at stop texts of its answer, which may begin or end in the middle of a token."""

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
    :param answer: returns the answer in a row's tokens, given the row's number; None while the model thinks.
    :param prompt_width: the number of tokens before the answer, padding included.
    :param stop: texts that end an answer.
    """

    def __init__(
        self,
        decode: Callable[[list[int]], str],
        answer: Callable[[int, list[int]], str | None],
        prompt_width: int,
        stop: Sequence[str],
    ) -> None:
        self.decode = decode
        self.answer = answer
        self.prompt_width = prompt_width
        self.stop = stop
        self.ends: dict[int, int] = {}
        """The length of the answer in tokens, by row, for rows that reached a stop text."""
        # A token is at least one byte, so a stop text cannot reach further back than this.
        self._tail = max((len(one.encode()) for one in stop), default=0) + _MARGIN

    def __call__(self, tokens: Tensor, scores: Any, **_: Any) -> Tensor:
        """Return which rows have ended, ``(rows,)``."""
        if self.stop:
            for row, written in enumerate(tokens[:, self.prompt_width :].tolist()):
                if row not in self.ends and self._has_ended(row, written):
                    self.ends[row] = len(written)
        return torch.tensor([row in self.ends for row in range(len(tokens))], device=tokens.device)

    def _has_ended(self, row: int, written: list[int]) -> bool:
        # The whole answer is decoded only if a stop text was just written, perhaps by a model that still thinks.
        return self._is_in(self.decode(written[-self._tail :])) and self._is_in(self.answer(row, written) or "")

    def _is_in(self, text: str) -> bool:
        return any(one in text for one in self.stop)
