"""Tokenized texts, with the mapping between character spans and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from parlai_empathy.files.text_file import as_unicode
from parlai_empathy.tasks.epitome.spans import Span


@dataclass(frozen=True)
class Tokens:
    """A text's tokens, special ones included.

    :param ids: token ids, at least one.
    :param places: each token's character span in the text; None for special tokens.
    """

    ids: tuple[int, ...]
    places: tuple[Span | None, ...]

    def marks(self, spans: Iterable[Sequence[int]]) -> list[bool]:
        """Return for each token whether it overlaps one of the spans."""
        spans = list(spans)
        return [
            place is not None and any(start < place[1] and place[0] < end for start, end in spans)
            for place in self.places
        ]

    def spans(self, marks: Sequence[bool]) -> list[Span]:
        """Return the character spans of runs of marked tokens."""
        found: list[Span] = []
        before = False
        for place, mark in zip(self.places, marks, strict=True):
            marked = mark and place is not None
            if marked and place is not None:
                found[-1:] = [(found[-1][0], place[1])] if before else [*found[-1:], place]
            before = marked
        return [(start, end) for start, end in found if start < end]  # the token of a lone space has an empty span


def tokens_of(tokenizer: Any, texts: Sequence[str], longest: int) -> list[Tokens]:
    """Tokenize texts, truncating long ones at the end. Unpaired surrogates are read as ``?``.

    :param tokenizer: a fast Hugging Face tokenizer.
    :param longest: maximum tokens per text, special ones included.
    """
    backend = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.no_truncation()
    room = longest - backend.num_special_tokens_to_add(False)
    encoded = []
    for encoding in backend.encode_batch([as_unicode(text) for text in texts], add_special_tokens=False):
        encoding.truncate(room)
        encoded.append(backend.post_process(encoding))
    pad = tokenizer.pad_token_id or 0
    return [_tokens(encoding, pad) for encoding in encoded]


def _tokens(encoding: Any, pad: int) -> Tokens:
    if not encoding.ids:  # no tokens, not even special ones: counts as one padding token
        return Tokens((pad,), (None,))
    places = [
        None if special else (int(start), int(end))
        for (start, end), special in zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    ]
    return Tokens(tuple(encoding.ids), tuple(places))


def padded(rows: Sequence[Tokens], pad: int, length: int | None = None) -> tuple[Tensor, Tensor]:
    """Pad texts to one tensor.

    :param length: the length to pad to; by default that of the longest text.
    :returns: ids, ``(n, length)``, padded on the right, and the number of tokens of each text, ``(n,)``.
    """
    ids = [torch.tensor(row.ids) for row in rows]
    lengths = torch.tensor([len(row.ids) for row in rows])
    tensor = pad_sequence(ids, batch_first=True, padding_value=pad)
    missing = (length or 0) - tensor.size(1)
    return (torch.nn.functional.pad(tensor, (0, missing), value=pad) if missing > 0 else tensor), lengths
