"""Gradients computed in chunks equal those of the whole batch, with dropout too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from parlai_empathy.modules.encoders.biencoder import BiEncoder, PretrainedBiEncoder, PretrainedTower, TwoTowers
from parlai_empathy.modules.encoders.contrastive import contrastive_losses
from parlai_empathy.modules.encoders.gradient_cache import CachedEncoding, average_gradients


def towers(dropout: float) -> tuple[nn.Sequential, nn.Sequential]:
    torch.manual_seed(3)
    made = [nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Dropout(dropout), nn.Linear(24, 5)) for _ in range(2)]
    return made[0], made[1]


def tokens() -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(1)
    return torch.randint(20, (7, 3), generator=draw), torch.randint(20, (7, 3), generator=draw)


def cached(chunk: int, dropout: float) -> tuple[float, list[Tensor]]:
    models = towers(dropout)
    torch.manual_seed(8)
    encoded = [CachedEncoding(model, part, chunk) for model, part in zip(models, tokens(), strict=True)]
    loss = contrastive_losses(encoded[0].vectors, encoded[1].vectors)[0].mean()
    loss.backward()
    for part in encoded:
        part.backward()
    return loss.item(), [weights.grad for model in models for weights in model.parameters() if weights.grad is not None]


def plain(dropout: float, chunk: int) -> tuple[float, list[Tensor]]:
    """Compute the whole batch in one graph; with dropout, draw once per chunk, as the cache does."""
    models = towers(dropout)
    torch.manual_seed(8)
    vectors = [
        torch.cat([model(rows) for rows in part.split(chunk)]) for model, part in zip(models, tokens(), strict=True)
    ]
    loss = contrastive_losses(vectors[0], vectors[1])[0].mean()
    loss.backward()
    return loss.item(), [weights.grad for model in models for weights in model.parameters() if weights.grad is not None]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_chunked_gradients_match_whole_batch(chunk: int, dropout: float) -> None:
    loss, gradients = cached(chunk, dropout)
    expected_loss, expected = plain(dropout, chunk if dropout else 7)
    assert loss == pytest.approx(expected_loss)
    assert len(gradients) == len(expected) == 6
    for ours, theirs in zip(gradients, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def pretrained() -> PretrainedBiEncoder:
    sizes = {"vocab_size": 20, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(**sizes, intermediate_size=16, hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.2)
    return PretrainedBiEncoder(PretrainedTower(BertModel(config), 0, "mean", 0, None))


def transformer() -> BiEncoder:
    sizes = {"embedding_size": 12, "n_layers": 2, "n_heads": 2, "ffn_size": 16, "n_positions": 9}
    return BiEncoder(20, 0, dropout=0.2, **sizes)


@pytest.mark.parametrize("made", [transformer, pretrained])
def test_both_passes_of_an_encoder_draw_the_same_dropout(made: Callable[[], TwoTowers]) -> None:
    torch.manual_seed(3)
    model, gradients = made().train(), []
    read = torch.randint(1, 20, (2, 7, 9))
    read[1, ::2, 3:] = 0  # replies of two lengths
    for is_cached in (True, False):
        model.zero_grad()
        torch.manual_seed(8)
        towers = list(zip((model.contexts, model.replies), read, strict=True))
        if is_cached:
            encoded = [CachedEncoding(tower, tokens, 3) for tower, tokens in towers]
            contrastive_losses(*(part.vectors for part in encoded))[0].mean().backward()
            for part in encoded:
                part.backward()
        else:
            vectors = [torch.cat([tower(rows) for rows in tokens.split(3)]) for tower, tokens in towers]
            contrastive_losses(*vectors)[0].mean().backward()
        gradients.append({name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None})
    assert len(gradients[0]) > 10
    torch.testing.assert_close(*gradients)


def test_backward_restores_random_state() -> None:
    model, _ = towers(0.5)
    torch.manual_seed(8)
    encoding = CachedEncoding(model, tokens()[0], 2)
    encoding.vectors.sum().backward()
    before = torch.get_rng_state()
    encoding.backward()
    assert torch.equal(torch.get_rng_state(), before)


def test_average_gradients_in_single_process_keeps_gradients(process_group: None) -> None:
    model = nn.Linear(2, 1, bias=True)
    model(torch.ones(1, 2)).sum().backward()
    model.bias.grad = None  # a weight without a gradient in this process
    average_gradients(model)
    assert model.weight.grad is not None
    assert model.weight.grad.tolist() == [[1.0, 1.0]]
    assert model.bias.grad is not None
    assert model.bias.grad.tolist() == [0.0]


def test_second_pass_does_not_rewind_the_random_numbers() -> None:
    model = towers(dropout=0.5)[0]
    encoded = CachedEncoding(model, tokens()[0], 3)
    encoded.vectors.sum().backward()
    state = torch.get_rng_state()
    encoded.backward()
    assert torch.equal(torch.get_rng_state(), state), "else the next step would draw the same dropout again"
