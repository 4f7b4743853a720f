"""Token ids of contexts with their replies, truncated to a length: the context's oldest words are dropped first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from parlai_empathy.files.text_file import as_unicode


def pair_tokens(
    tokenizer: Any, contexts: Sequence[str], replies: Sequence[str], longest: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Encode each context with its reply, as the tokenizer's model was trained to read two texts.

    If the two are too long, the context loses its first tokens. The reply may take up at least half of the available
    length, and more if the context leaves room; the rest of it is truncated. A reply with an empty context is encoded
    alone, and so is a context with an empty reply.

    :param tokenizer: a fast Hugging Face tokenizer. Its own truncation shortens only one of the texts, and fails if
        that is not enough.
    :param longest: maximum number of tokens, special tokens included.
    :returns: tokens and segments (0 context, 1 reply), both ``(n, length)`` and padded on the right, and the number of
        tokens of each, ``(n,)``.
    """
    backend = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.no_truncation()
    encoded = backend.encode_batch([as_unicode(text) for text in (*contexts, *replies)], add_special_tokens=False)
    rows = [
        _joined(backend, context, reply, longest)
        for context, reply in zip(encoded[: len(contexts)], encoded[len(contexts) :], strict=True)
    ]
    pad = tokenizer.pad_token_id or 0
    tokens = [torch.tensor(ids or [pad]) for ids, _ in rows]  # an empty text gets one padding token
    segments = [torch.tensor(kinds or [0]) for _, kinds in rows]
    lengths = torch.tensor([len(row) for row in tokens])
    return pad_sequence(tokens, batch_first=True, padding_value=pad), pad_sequence(segments, batch_first=True), lengths


def _joined(backend: Any, context: Any, reply: Any, longest: int) -> tuple[list[int], list[int]]:
    """Return the tokens and segments of both, with special tokens.

    They are joined before they are cut: the library's own truncation keeps all that it cuts off, in parts, and would
    then join each part of the context with each part of the reply.
    """
    joined = backend.post_process(*([text for text in (context, reply) if len(text)] or [reply]))
    ids, segments = joined.ids, joined.type_ids
    if len(ids) <= longest:
        return ids, segments
    room = longest - (len(ids) - len(context) - len(reply))
    of_reply = min(len(reply), max(room // 2, room - len(context)))
    of_texts = [place for place, is_added in enumerate(joined.special_tokens_mask) if not is_added]
    cut = {*of_texts[: len(context) + of_reply - room], *of_texts[len(context) + of_reply :]}
    kept = [place for place in range(len(ids)) if place not in cut]
    return [ids[place] for place in kept], [segments[place] for place in kept]


def twin_tokens(tokenizer: Any, contexts: Sequence[str], replies: Sequence[str], longest: int) -> tuple[Tensor, ...]:
    """Encode each distinct text once, for encoders that read contexts and replies separately.

    A context that is too long loses its first tokens, a reply its last ones.

    :returns: tokens and segments, ``(texts, length)``; lengths, ``(texts,)``; and for each pair the indices of its
        context, -1 for an empty one, and of its reply, ``(n,)``.
    """
    before, after = list(dict.fromkeys(text for text in contexts if text)), list(dict.fromkeys(replies))
    places = {text: place for place, text in enumerate(before)}
    encoded = pair_tokens(tokenizer, [*before, *[""] * len(after)], [*[""] * len(before), *after], longest)
    of_reply = {text: len(before) + place for place, text in enumerate(after)}
    context_places = torch.tensor([places.get(text, -1) for text in contexts])
    return *encoded, context_places, torch.tensor([of_reply[text] for text in replies])
