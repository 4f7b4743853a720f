"""Estimates the number of tokens of a prompt without the model's tokenizer.

English has about four letters per token with the usual vocabularies of 30,000 tokens and more. The estimate errs on the
high side: shortening a prompt that would have fitted costs an example, but sending one that is too long costs the
answer. Vocabularies of a few thousand tokens need more tokens than estimated.
"""

from __future__ import annotations

import re

from parlai_empathy.language_models.prompt import Prompt

# The tokens that OpenAI's chat format adds to each message, and to the start of the answer.
_PER_MESSAGE = 4
_PER_CHAT = 3

_LETTERS_PER_TOKEN = 4
_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\S\n]+|\n+|.", re.DOTALL)


def estimate_tokens(prompt: Prompt) -> int:
    """Return an estimate, 0 or more, that errs on the high side for English and similar languages."""
    if isinstance(prompt, str):
        return sum(map(_estimate_piece, _PIECE.findall(prompt)))
    return _PER_CHAT + sum(_PER_MESSAGE + estimate_tokens(message.content) for message in prompt)


def _estimate_piece(piece: str) -> int:
    if piece == " ":
        return 0  # part of the next word
    if piece.isspace() or (piece.isascii() and piece.isalpha()):
        return -(-len(piece) // _LETTERS_PER_TOKEN)
    return len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))
