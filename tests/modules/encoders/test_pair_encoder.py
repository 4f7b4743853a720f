"""The encoder with a head: what its outputs depend on, and what they must not depend on."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from parlai_empathy.modules.encoders.pair_encoder import POOLINGS, PairEncoder
from parlai_empathy.modules.speed import length_buckets


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the chunk size, so that a few texts make several chunks."""
    monkeypatch.setattr(length_buckets, "CPU_TOKENS", 160)


SIZES = {"vocab_size": 20, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def model_of(pooling: str = "mean", outputs: int = 3, **changes: Any) -> PairEncoder:
    torch.manual_seed(5)
    config = BertConfig(**{**SIZES, "max_position_embeddings": 40, "initializer_range": 0.5, **changes})
    return PairEncoder(BertModel(config), outputs, pooling).eval()


def texts(count: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Return random texts of different lengths, the second half of each a reply; padding is 0."""
    torch.manual_seed(seed)
    lengths = torch.randint(2, 20, (count,))
    lengths[0] = 20
    inside = torch.arange(20) < lengths.unsqueeze(1)
    tokens = torch.randint(1, 20, (count, 20)) * inside
    segments = (torch.arange(20) >= lengths.unsqueeze(1) // 2).long() * inside
    return tokens, segments, lengths


def read(model: PairEncoder, *inputs: Tensor) -> Tensor:
    with torch.no_grad():
        logits: Tensor = model(*inputs)
    return logits


@pytest.mark.parametrize("pooling", POOLINGS)
def test_outputs_do_not_depend_on_the_batch(pooling: str) -> None:
    """Outputs do not depend on padding, the other texts or the chunks, and keep their order."""
    model = model_of(pooling)
    tokens, segments, lengths = texts(70)  # more than five chunks
    together = read(model, tokens, segments, lengths)
    assert together.shape == (70, 3)
    for i, length in enumerate(lengths.tolist()):
        alone = read(model, tokens[i : i + 1, :length], segments[i : i + 1, :length], lengths[i : i + 1])
        assert torch.allclose(alone[0], together[i], atol=1e-5)


def test_different_texts_have_different_outputs() -> None:
    tokens, segments, lengths = texts(70)
    logits = read(model_of(), tokens, segments, lengths)
    assert (torch.cdist(logits, logits) + torch.eye(70) > 1e-3).all(), "else the test above would prove nothing"


def test_padding_token_within_a_text_is_not_masked() -> None:
    """A text may contain the padding token's name; lengths, not ids, mark where a text ends."""
    tokens, segments, lengths = texts(40)
    tokens[3, 1] = 0
    together = read(model_of(), tokens, segments, lengths)
    length = int(lengths[3])
    alone = read(model_of(), tokens[3:4, :length], segments[3:4, :length], lengths[3:4])
    assert torch.allclose(alone[0], together[3], atol=1e-5)


def test_poolings_match_mean_and_first_state() -> None:
    tokens, segments, lengths = texts(5)
    for pooling in POOLINGS:
        model = model_of(pooling)
        for i, length in enumerate(lengths.tolist()):
            with torch.no_grad():
                states = model.encoder(
                    input_ids=tokens[i : i + 1, :length], token_type_ids=segments[i : i + 1, :length]
                ).last_hidden_state[0]
                expected = model.head(states[0] if pooling == "first" else states.mean(dim=0))
            assert torch.allclose(read(model, tokens, segments, lengths)[i], expected, atol=1e-5)


def test_segments_affect_only_encoders_with_segment_embeddings() -> None:
    tokens, segments, lengths = texts(5)
    for types, changes_something in ((2, True), (1, False)):
        model = model_of(type_vocab_size=types)
        with_segments = read(model, tokens, segments, lengths)
        without = read(model, tokens, torch.zeros_like(segments), lengths)
        assert torch.allclose(with_segments, without) is not changes_something


def test_all_used_parameters_get_gradients_with_chunks() -> None:
    model = model_of().train()
    model(*texts(40)).sum().backward()
    unused = {name for name, weights in model.named_parameters() if weights.grad is None}
    assert {name.split(".")[1] for name in unused} <= {"pooler"}, "BERT's own, made for another task"
    assert model.head.weight.grad is not None


@pytest.mark.parametrize("pooling", POOLINGS)
def test_logits_are_the_head_applied_to_features(pooling: str) -> None:
    model, inputs = model_of(pooling), texts(40)
    with torch.no_grad():
        features = model.features(*inputs)
        assert features.shape == (40, model.head.in_features)
        assert torch.allclose(model.head(features), read(model, *inputs), atol=1e-6)


def test_features_are_dropped_before_the_head() -> None:
    model = model_of().train()
    assert model.dropout.p == 0.1
    model.dropout.p = 1.0
    assert torch.equal(model(*texts(5)), model.head.bias.expand(5, 3))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_bfloat16_outputs_match_float32_and_other_batches_within_rounding(pooling: str) -> None:
    """Rounding errors stay below 4 %.

    bfloat16 has a rounding error of at most 2^-9, and some 20 roundings in two layers add up to 4 % at most. A batch
    only changes the order of summation, in single precision, before rounding: some roundings may then go the other way,
    which is less than all of them going one way.
    """
    model, (tokens, segments, lengths) = model_of(pooling), texts(70)
    exact = read(model, tokens, segments, lengths)
    with torch.autocast("cpu", torch.bfloat16):
        features = model.features
        with torch.no_grad():
            together = features(tokens, segments, lengths)
            alone = [
                features(tokens[i : i + 1, :length], segments[i : i + 1, :length], lengths[i : i + 1])
                for i, length in enumerate(lengths.tolist())
            ]
    with torch.no_grad():
        near = 0.04 * float(model.features(tokens, segments, lengths).abs().max())
        assert torch.allclose(model.head(together), exact, atol=near * float(model.head.weight.abs().sum(dim=1).max()))
    assert torch.allclose(torch.cat(alone), together, atol=near)
    assert together.dtype == torch.float32


@pytest.mark.parametrize("fused", [True, False])
def test_evaluation_between_training_steps_uses_updated_weights(fused: bool) -> None:
    model, inputs = model_of(), texts(40)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, fused=fused)
    for _ in range(3):
        with torch.autocast("cpu", torch.bfloat16):
            short = read(model.eval(), *inputs)
            assert torch.equal(short, read(copy.deepcopy(model), *inputs)), "a new model has nothing to remember"
            model.train()(*inputs).square().sum().backward()
        optimizer.step()
        with torch.autocast("cpu", torch.bfloat16):
            assert not torch.allclose(read(model.eval(), *inputs), short, atol=0.1)
