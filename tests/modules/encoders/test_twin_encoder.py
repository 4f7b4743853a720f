"""Context and reply encoded separately: the initial value of a single logit, and what it must not depend on."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from parlai_empathy.modules.encoders.twin_encoder import OFFSET, SCALE, TwinEncoder
from parlai_empathy.modules.speed import length_buckets

SIZES = {"vocab_size": 20, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def model_of(outputs: int = 1) -> TwinEncoder:
    torch.manual_seed(5)
    config = BertConfig(**SIZES, max_position_embeddings=40, initializer_range=0.5)
    return TwinEncoder(BertModel(config), outputs, "mean").eval()


def texts(count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return random texts of 2 to 12 tokens; padding is 0."""
    torch.manual_seed(1)
    lengths = torch.randint(2, 13, (count,))
    tokens = torch.randint(1, 20, (count, 12)) * (torch.arange(12) < lengths.unsqueeze(1))
    return tokens, torch.zeros_like(tokens), lengths


@torch.no_grad()
def test_initial_logit_is_the_scaled_cosine() -> None:
    model, (tokens, segments, lengths) = model_of(), texts(6)
    contexts, replies = torch.tensor([0, 0, 1, 2]), torch.tensor([3, 4, 4, 5])
    logits = model(tokens, segments, lengths, contexts, replies)

    def vector(place: int) -> Tensor:  # from the encoder alone, one text at a time, without padding
        states: Tensor = model.encoder(input_ids=tokens[place : place + 1, : lengths[place]]).last_hidden_state
        return states[0].mean(dim=0)

    cosines = [
        nn.functional.cosine_similarity(vector(c), vector(r), dim=0)
        for c, r in zip(contexts.tolist(), replies.tolist(), strict=True)
    ]
    assert logits[:, 0].tolist() == pytest.approx([SCALE * float(cosine) + OFFSET for cosine in cosines], abs=1e-4)
    assert logits.std() > 0.1, "else any constant would pass"


@torch.no_grad()
def test_missing_context_is_not_taken_from_the_last_text() -> None:
    model, (tokens, segments, lengths) = model_of(outputs=3), texts(4)
    alone = model(tokens, segments, lengths, torch.tensor([-1, -1]), torch.tensor([2, 3]))
    # As an index, -1 would select the last text, which must not become the context.
    others = model(tokens.flip(0), segments, lengths.flip(0), torch.tensor([-1, -1]), torch.tensor([1, 0]))
    assert torch.allclose(alone, others, atol=1e-5)
    with_context = model(tokens, segments, lengths, torch.tensor([0, 0]), torch.tensor([2, 3]))
    assert not torch.allclose(alone, with_context, atol=1e-3)


@torch.no_grad()
def test_outputs_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(length_buckets, "CPU_TOKENS", 160)  # several chunks
    model, (tokens, segments, lengths) = model_of(outputs=2), texts(70)
    contexts, replies = torch.arange(0, 69), torch.arange(1, 70)
    together = model(tokens, segments, lengths, contexts, replies)
    for place in (0, 33, 68):
        two = slice(place, place + 2)
        alone = model(tokens[two], segments[two], lengths[two], torch.tensor([0]), torch.tensor([1]))
        assert torch.allclose(alone[0], together[place], atol=1e-5)


def test_vectors_are_dropped_before_they_are_compared() -> None:
    model, (tokens, segments, lengths) = model_of(outputs=3).train(), texts(4)
    model.dropout.p = 1.0
    logits = model(tokens, segments, lengths, torch.tensor([0, 1]), torch.tensor([2, 3]))
    assert torch.equal(logits, model.head.bias.expand(2, 3))


def test_context_and_reply_both_get_gradients() -> None:
    model, (tokens, segments, lengths) = model_of(), texts(4)
    model(tokens, segments, lengths, torch.tensor([0, 1]), torch.tensor([2, 3])).sum().backward()
    assert model.head.weight.grad is not None
    assert (model.head.weight.grad.abs().sum(dim=0) > 0).all()
    weight = model.encoder.embeddings.word_embeddings.weight
    for text in range(4):
        used = tokens[text, : lengths[text]]
        assert (weight.grad[used].abs().sum(dim=1) > 0).all()


def test_logits_are_the_head_applied_to_features() -> None:
    model, inputs = model_of(outputs=3), texts(4)
    places = torch.tensor([0, -1]), torch.tensor([2, 3])
    with torch.no_grad():
        features = model.features(*inputs, *places)
        assert features.shape == (2, model.head.in_features)
        assert torch.equal(model.head(features), model(*inputs, *places))


def test_several_outputs_begin_with_different_weights() -> None:
    weights = model_of(outputs=3).head.weight.detach()
    assert len(weights.unique(dim=0)) == 3, "else all classes would learn the same"
