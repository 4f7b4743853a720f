"""Token losses of generators, without the cost of padding, on which most of the training time would be spent.

ParlAI computes scores over the whole vocabulary at every position of a padded batch. If replies differ in length, most
of these positions are padding, and most of the other work is for padding too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from parlai.agents.transformer.modules import TransformerGeneratorModel
from parlai.core.torch_generator_agent import TorchGeneratorModel
from torch import Tensor, nn
from torch.nn import functional as F

from parlai_empathy.modules.speed.embedding_lookup import looked_up_together
from parlai_empathy.modules.speed.length_buckets import length_buckets

# Texts that a CPU encodes or decodes at a time: with two threads, small batches take a fifth less time than the largest
# ones that would fit.
_CPU_TEXTS = 16
# Tokens that a GPU encodes or decodes at a time, padding included: more than 512 messages and their replies. Each chunk
# starts as many pieces of work as a whole batch, which takes longer than the work itself if the model is small.
_GPU_TOKENS = 131_072
# Scores that are computed at a time. A CPU: 32 MB, up to which the C library reuses freed memory (see
# :data:`parlai_empathy.modules.speed.length_buckets.CPU_TOKENS`). A GPU: 2 GB, 2,147 tokens of the paper's vocabulary.
_CPU_SCORES, _GPU_SCORES = 8_000_000, 2**29
# Tokens that are scored at a time if they are fewer: the gradient of each product is as large as the vocabulary.
_SCORED = 128


class TrueTokenLosses(TorchGeneratorModel):
    """A mixin for ParlAI generators: the forward pass returns losses instead of scores.

    It encodes and decodes texts of similar length together. The results are those of the whole batch.
    """

    whole = False
    """Whether to return the scores over the whole vocabulary anyway, for inspection; ignored in training."""

    @property
    @abstractmethod
    def words(self) -> int:
        """Size of the decoder's vocabulary."""

    def forward(
        self, *xs: Any, ys: Tensor | None = None, prev_enc: Any = None, **options: Any
    ) -> tuple[Tensor, Tensor, Any]:
        """Predict each next token of the replies.

        :param xs: the encoder's inputs; the first is the contexts' token ids, ``(batch, length)``.
        :param ys: the replies' token ids, end tokens included, ``(batch, time)``.
        :param prev_enc: the encoder's output, if it was computed before.
        :returns: each token's loss in nats, ``(batch, time, 1)``, 0 for padding; the most probable tokens, ``(batch,
            time)``; the encoder's output. If :attr:`whole`, scores ``(batch, time, vocabulary)`` replace the losses.
        """
        if self.whole and not self.training:
            scores, best, states = super().forward(*xs, ys=ys, prev_enc=prev_enc, **options)
            return scores.float(), best, states  # ParlAI converts them to NumPy, which has no bfloat16
        assert ys is not None
        states = self.encode(*xs) if prev_enc is None else prev_enc
        losses, best = self._token_losses(states, ys)
        return losses.unsqueeze(-1), best, states

    def encode(self, *xs: Any) -> Any:
        """Return the output of :meth:`encoder` for a batch, but faster if texts differ in length.

        :param xs: the encoder's inputs; the first is the contexts' token ids, ``(batch, length)``.
        """
        tokens = xs[0]
        is_token = tokens != self.NULL_IDX
        chunks = length_buckets(is_token.sum(dim=1), most=_CPU_TEXTS, gpu_tokens=_GPU_TOKENS)
        if len(chunks) == 1:
            return self.encoder(*xs)
        texts = [tokens[rows, : _width(is_token[rows])] for rows in chunks]
        with _looked_up(self.encoder, texts):
            parts = [
                self.encoder(text, *(x[rows] if torch.is_tensor(x) else x for x in xs[1:]))
                for text, rows in zip(texts, chunks, strict=True)
            ]
        back = torch.cat(chunks).argsort()
        states, mask = (
            torch.cat([_widened(part, tokens.size(1)) for part in kind])[back] for kind in zip(*parts, strict=True)
        )
        return states, mask

    def _token_losses(self, states: Any, ys: Tensor) -> tuple[Tensor, Tensor]:
        """Return the losses of true tokens and the most probable tokens, both ``(batch, time)``."""
        is_token = ys != self.NULL_IDX
        losses = torch.zeros(ys.shape, device=ys.device)
        best = torch.full_like(ys, self.NULL_IDX)
        latent, row, column = self._written(states, ys, is_token)
        for part in torch.split(torch.arange(len(latent), device=ys.device), self._scored_at_once(ys.device)):
            scores = self.output(latent[part].unsqueeze(0)).squeeze(0).float()  # (true tokens, vocabulary)
            place = (row[part], column[part])
            losses[place] = F.cross_entropy(scores, ys[place], reduction="none")
            best[place] = scores.max(dim=1).indices  # several times as fast as argmax
        return losses, best

    def _scored_at_once(self, device: torch.device) -> int:
        """Return how many true tokens to score at a time."""
        return max(_SCORED, (_CPU_SCORES if device.type == "cpu" else _GPU_SCORES) // self.words)

    def _written(self, states: Any, ys: Tensor, is_token: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the decoder's output for true tokens, ``(tokens, dim)``, and their rows and columns, ``(tokens,)``."""
        chunks = length_buckets(is_token.sum(dim=1), states[1].sum(dim=1), _CPU_TEXTS, _GPU_TOKENS)
        texts = [
            self._get_initial_forced_decoder_input(len(rows), ys[rows, : _width(is_token[rows]) - 1]) for rows in chunks
        ]
        parts = []
        with _looked_up(self.decoder, texts):
            for text, rows, own in zip(texts, chunks, _chosen(states, chunks), strict=True):
                latent, _ = self.decoder(text, own)  # (rows, width, dim)
                row, column = is_token[rows, : text.size(1)].nonzero(as_tuple=True)
                parts.append((latent[row, column], rows[row], column))
        latents, row, column = (torch.cat(kind) for kind in zip(*parts, strict=True))
        return latents, row, column


def _chosen(states: tuple[Tensor, Tensor], chunks: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Return the encoder's output for each chunk, without columns that are padding in all its rows."""
    order, sizes = torch.cat(list(chunks)), [len(rows) for rows in chunks]
    # A single indexing for all chunks: the gradient of each indexing is as large as all the states.
    taken = zip(*(torch.split(kind[order], sizes) for kind in states), strict=True)
    return [(read[:, : _width(mask)], mask[:, : _width(mask)]) for read, mask in taken]


def _width(is_token: Tensor) -> int:
    """Return the number of columns with tokens, rounded up to a multiple of 8 (if there are as many).

    Rounding limits the number of different shapes: a CPU is slow on each new one.

    :param is_token: ``(rows, columns)`` booleans; False is padding, on the right.
    """
    longest = max(1, int(is_token.sum(dim=1).max()))  # at least one column, even for empty contexts
    return min(is_token.size(1), -(-longest // 8) * 8)


def _looked_up(reader: Any, texts: Sequence[Tensor]) -> AbstractContextManager[None]:
    """Within this context, look up the embeddings of texts for a ParlAI encoder or decoder all at once."""
    embeddings = getattr(reader, "embeddings", None)
    return nullcontext() if embeddings is None else looked_up_together(embeddings, texts)


def _widened(tensor: Tensor, columns: int) -> Tensor:
    """Pad with zeros to ``columns`` columns: ``(rows, columns, ...)``."""
    wide = tensor.new_zeros(len(tensor), columns, *tensor.shape[2:])
    wide[:, : tensor.size(1)] = tensor
    return wide


class TrueTokenCriterion(nn.Module):
    """ParlAI's criterion for :class:`TrueTokenLosses`: returns losses unchanged, or the cross-entropy of scores."""

    def __init__(self, pad: int) -> None:
        super().__init__()
        self.pad = pad

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Return the loss at each position, ``(n,)``.

        :param scores: ``(n, 1)``, the losses, or ``(n, vocabulary)``, the scores.
        :param targets: ``(n,)``
        """
        if scores.size(1) == 1:
            return scores.squeeze(1)
        return F.cross_entropy(scores.float(), targets, ignore_index=self.pad, reduction="none")


class WordGenerator(TrueTokenLosses, TransformerGeneratorModel):
    """ParlAI's encoder-decoder Transformer over words (Vaswani et al. 2017), with the losses of true tokens.

    With 250,006 words, embeddings of size 300, 4 layers on each side, 6 heads and 1,200 hidden units it is the
    generative model of Rashkin et al. (2019, section 4.1), with 85.1M trainable parameters.
    """

    @property
    def words(self) -> int:
        """Vocabulary size, special tokens included."""
        return int(self.embeddings.num_embeddings)
