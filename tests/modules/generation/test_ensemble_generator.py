"""A frozen encoder whose states are projected with a classifier's features, for a decoder that is trained."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt

from parlai_empathy.modules.generation.ensemble_generator import EnsembleGenerator
from parlai_empathy.modules.generation.token_losses import WordGenerator

WORDS, DIM, FEATURES = 20, 12, 3
SIZES: dict[str, Any] = {
    "embedding_size": DIM,
    "n_layers": 1,
    "n_heads": 3,
    "ffn_size": 16,
    "n_positions": 16,
    "embeddings_scale": True,
    "dropout": 0.0,
}
TOKENS = torch.tensor([[5, 6, 7, 0], [8, 9, 0, 0]])
REPLIES = torch.tensor([[7, 8, 2], [9, 2, 0]])


@pytest.fixture
def base() -> WordGenerator:
    torch.manual_seed(0)
    dictionary = DictionaryAgent(Opt())
    dictionary.add_to_dict([f"w{i}" for i in range(WORDS - len(dictionary))])
    return WordGenerator(Opt(SIZES), dictionary).eval()


def test_it_starts_as_its_base(base: WordGenerator) -> None:
    model = EnsembleGenerator(base, DIM, FEATURES, is_random=False).eval()
    features = torch.randn(2, FEATURES)
    states, mask = model.encoder(TOKENS, features)
    expected, expected_mask = base.encoder(TOKENS)
    torch.testing.assert_close(states, expected)
    assert torch.equal(mask, expected_mask)
    torch.testing.assert_close(model(TOKENS, features, ys=REPLIES)[0], base(TOKENS, ys=REPLIES)[0])
    assert model.words == WORDS
    assert model.reorder_encoder_states((states, mask), [1, 0])[0].equal(states.flip(0))


def test_each_state_is_projected_with_the_features_of_its_own_context(base: WordGenerator) -> None:
    model = EnsembleGenerator(base, DIM, FEATURES, is_random=True)
    features = torch.randn(2, FEATURES)
    states, _ = model.encoder(TOKENS, features)
    frozen, _ = base.encoder(TOKENS)
    linear = model.projection.linear
    for row in range(2):
        for place in range(4):
            expected = linear.weight @ torch.cat([frozen[row, place], features[row]]) + linear.bias
            torch.testing.assert_close(states[row, place], expected)


def test_training_changes_decoder_and_projection_but_not_the_base(base: WordGenerator) -> None:
    before = {name: values.clone() for name, values in base.state_dict().items()}
    base.requires_grad_(False)  # as a frozen part is
    model = EnsembleGenerator(base, DIM, FEATURES, is_random=False)
    model(TOKENS, torch.randn(2, FEATURES), ys=REPLIES)[0].sum().backward()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            assert weight.grad is not None, name
            weight.sub_(weight.grad)
    assert all(torch.equal(values, before[name]) for name, values in base.state_dict().items())
    assert not torch.equal(model.writer.embeddings.weight, base.embeddings.weight)
    assert model.projection.linear.weight.grad.abs().sum() > 0


def test_the_base_and_a_second_encoder_are_not_saved(base: WordGenerator) -> None:
    model = EnsembleGenerator(base, DIM, FEATURES, is_random=False)
    saved = set(model.state_dict())
    assert not [name for name in saved if "encoder" in name.split(".")]
    decoder = {f"writer.{name}" for name in base.state_dict() if name.split(".")[0] != "encoder"}
    assert saved == decoder | {"START", "projection.linear.weight", "projection.linear.bias"}
