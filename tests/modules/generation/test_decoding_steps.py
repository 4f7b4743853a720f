"""Incremental decoding against decoding all tokens again at each step, with rows reordered, duplicated and removed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt
from torch import Tensor

from parlai_empathy.modules.generation.decoding_steps import ModelSteps, Steps, WordSteps, steps_of
from parlai_empathy.modules.generation.token_losses import WordGenerator

WORDS = 20
SIZES: dict[str, Any] = {
    "embedding_size": 12,
    "n_layers": 2,
    "n_heads": 3,
    "ffn_size": 16,
    "n_positions": 64,
    "embeddings_scale": True,
    "dropout": 0.1,  # must have no effect in evaluation
}


def generator(**changes: Any) -> WordGenerator:
    torch.manual_seed(0)
    dictionary = DictionaryAgent(Opt())
    dictionary.add_to_dict([f"w{i}" for i in range(WORDS - len(dictionary))])
    model = WordGenerator(Opt({**SIZES, **changes}), dictionary)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.requires_grad:
                weights.normal_(std=0.4)  # biases start as zeros, which would hide a mix-up
    return model.eval()


def contexts(count: int, seed: int) -> Tensor:
    """Return contexts of 1 to 9 words, padded on the right."""
    draw = torch.Generator().manual_seed(seed)
    tokens = torch.randint(4, WORDS, (count, 9), generator=draw)
    for row, length in zip(tokens, torch.randint(1, 10, (count,), generator=draw).tolist(), strict=True):
        row[length:] = 0
    return tokens


@torch.no_grad()
def check(
    model: WordGenerator, steps: Steps, states: Any, size: int, seed: int, count: int, **tolerance: float
) -> None:
    """Decode twenty random steps, more than the first allocation of the key-value cache can hold."""
    draw = torch.Generator().manual_seed(seed)
    slots, tokens = torch.arange(count) * size, torch.full((count, 1), 1)
    for number in range(20):
        whole, _ = model.decoder(tokens, model.reorder_encoder_states(states, slots // size))
        torch.testing.assert_close(steps.next(tokens).float(), whole[:, -1].float(), **tolerance)
        new = torch.arange(count * size) if number == 0 else slots
        if number > 0 and torch.rand(1, generator=draw) < 0.3 and len(slots) > 1:
            new = slots[torch.randperm(len(slots), generator=draw)[: int(len(slots) * 0.8)].sort().values]
        # Each row continues a previous row of the same example; every third step, its own.
        candidates = [(slots // size == slot // size).nonzero().squeeze(1) for slot in new]
        places = [int(rows[torch.randint(len(rows), (1,), generator=draw)]) for rows in candidates]
        if number % 3 == 2 and len(new) == len(slots):
            places = list(range(len(new)))
        parents = torch.tensor(places)
        steps.follow(parents, new)
        said = torch.randint(4, WORDS, (len(new), 1), generator=draw)
        slots, tokens = new, torch.cat([tokens[parents], said], dim=1)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_incremental_decoding_matches_full_decoding(seed: int, count: int, size: int) -> None:
    model = generator()
    with torch.no_grad():
        states = model.encoder(contexts(count, seed))
    for steps in (WordSteps(model.decoder, *states, size), ModelSteps(model, states)):
        check(model, steps, states, size, seed, count, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("changes", [{"activation": "gelu"}, {"embeddings_scale": False}, {"n_decoder_layers": 3}])
def test_incremental_decoding_matches_with_other_model_options(changes: dict[str, Any]) -> None:
    model = generator(**changes)
    states = model.encoder(contexts(3, 1))
    check(model, WordSteps(model.decoder, *states, 2), states, 2, 1, 3, atol=1e-4, rtol=1e-3)


def test_incremental_decoding_in_bfloat16_is_within_rounding() -> None:
    """Both computations use 8 significant bits; layer norms bring their outputs to about 1."""
    model = generator(n_layers=1)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        states = model.encoder(contexts(3, 1))
        check(model, WordSteps(model.decoder, *states, 2), states, 2, 1, 3, atol=0.15, rtol=0.1)


def test_unsupported_decoders_fall_back_to_model_steps() -> None:
    """Pre-layer-norm decoders, and decoders in training, where dropout would act, are called themselves."""
    model = generator()
    states = model.encoder(contexts(2, 1))
    assert isinstance(steps_of(model, states, 2), WordSteps)
    assert isinstance(steps_of(model.train(), states, 2), ModelSteps)
    other = generator(variant="prelayernorm")
    states = other.encoder(contexts(2, 1))
    steps = steps_of(other, states, 2)
    assert isinstance(steps, ModelSteps)
    check(other, steps, states, 2, 1, 2, atol=1e-4, rtol=1e-3)


def test_cache_is_not_reordered_when_rows_keep_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    model = generator()
    states = model.encoder(contexts(2, 1))
    steps = ModelSteps(model, states)
    slots = torch.arange(4)
    steps.next(torch.ones(2, 1, dtype=torch.long))
    steps.follow(torch.tensor([0, 0, 1, 1]), slots)
    steps.next(torch.ones(4, 2, dtype=torch.long))
    calls: list[Tensor] = []
    reorder = model.reorder_decoder_incremental_state

    def counted(cache: Any, rows: Tensor) -> Any:
        calls.append(rows)
        return reorder(cache, rows)

    monkeypatch.setattr(model, "reorder_decoder_incremental_state", counted)
    steps.follow(slots, slots)
    assert not calls
    steps.follow(torch.tensor([1, 0, 2, 3]), slots)
    assert len(calls) == 1
