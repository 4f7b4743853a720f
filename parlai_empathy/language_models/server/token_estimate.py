"""How many tokens a prompt may have, where the model's tokenizer is not at hand.

English has about four letters a token under the usual vocabularies of 30,000 pieces and more. To cut a prompt that
would have fitted costs an example; to send one that is too long costs the answer: so the estimate errs high. A
vocabulary of a few thousand pieces needs more tokens than this.
"""

from __future__ import annotations

import re

from parlai_empathy.language_models.prompt import Prompt

# What OpenAI's chat format puts round a message, and what its answer begins with.
_PER_MESSAGE = 4
_PER_CHAT = 3

_LETTERS_PER_TOKEN = 4
_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\S\n]+|\n+|.", re.DOTALL)


def estimate_tokens(prompt: Prompt) -> int:
    """An estimate on the high side for English and its like, 0 or more."""
    if isinstance(prompt, str):
        return sum(map(_of_piece, _PIECE.findall(prompt)))
    return _PER_CHAT + sum(_PER_MESSAGE + estimate_tokens(message.content) for message in prompt)


def _of_piece(piece: str) -> int:
    if piece == " ":
        return 0  # part of the word behind it
    if piece.isascii() and piece.isalpha():
        return -(-len(piece) // _LETTERS_PER_TOKEN)
    if piece.isspace():
        return -(-len(piece) // _LETTERS_PER_TOKEN)
    return len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))
