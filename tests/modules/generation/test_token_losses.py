"""Losses of target tokens, compared with ParlAI's own, which scores the whole padded batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt
from torch import Tensor
from torch.nn import functional as F

from parlai_empathy.modules.generation import token_losses
from parlai_empathy.modules.generation.token_losses import TrueTokenCriterion, WordGenerator
from parlai_empathy.modules.speed import length_buckets

WORDS = 20
SIZES: dict[str, Any] = {
    "embedding_size": 12,
    "n_layers": 2,
    "n_heads": 3,
    "ffn_size": 16,
    "n_positions": 64,
    "embeddings_scale": True,
    "dropout": 0.0,
}


def generator(words: int = WORDS, **changes: Any) -> WordGenerator:
    torch.manual_seed(0)
    dictionary = DictionaryAgent(Opt())
    dictionary.add_to_dict([f"w{i}" for i in range(words - len(dictionary))])
    return WordGenerator(Opt({**SIZES, **changes}), dictionary)


def batch(count: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Return contexts of 1 to 30 words and replies of 1 to 14, padded on the right to multiples of 8."""
    draw = torch.Generator().manual_seed(seed)
    xs = torch.randint(4, WORDS, (count, 32), generator=draw)
    ys = torch.randint(4, WORDS, (count, 16), generator=draw)
    for rows, most in ((xs, 30), (ys, 14)):
        for row, length in zip(rows, torch.randint(1, most + 1, (count,), generator=draw).tolist(), strict=True):
            row[length:] = 0
    return xs, ys


@pytest.mark.parametrize("count", [1, 5, 40])
def test_losses_and_gradients_match_whole_batch(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """40 texts exceed one chunk in encoding, decoding and scoring."""
    monkeypatch.setattr(length_buckets, "CPU_TOKENS", 160)
    monkeypatch.setattr(token_losses, "_CPU_SCORES", 60 * WORDS)
    monkeypatch.setattr(token_losses, "_SCORED", 1)
    model = generator()
    xs, ys = batch(count)
    losses, best, (states, mask) = model(xs, ys=ys)
    losses.sum().backward()
    gradients = {name: weights.grad.clone() for name, weights in model.named_parameters() if weights.requires_grad}
    model.zero_grad()
    model.eval()
    model.whole = True
    scores, expected_best, (expected_states, expected_mask) = model(xs, ys=ys)
    expected = F.cross_entropy(scores.flatten(0, 1), ys.flatten(), ignore_index=0, reduction="none").view(ys.shape)
    expected.sum().backward()
    assert torch.allclose(losses.squeeze(-1), expected, atol=1e-5)
    assert torch.equal(best[ys != 0], expected_best[ys != 0])
    assert not best[ys == 0].any()
    assert torch.allclose(states, expected_states, atol=1e-5)
    assert torch.equal(mask, expected_mask)
    for name, weights in model.named_parameters():
        if weights.requires_grad:
            assert torch.allclose(gradients[name], weights.grad, atol=1e-4), name


def test_losses_do_not_depend_on_padding() -> None:
    model = generator().eval()
    xs, ys = batch(3)
    alone = [model(x[x != 0].unsqueeze(0), ys=y[y != 0].unsqueeze(0))[0].sum() for x, y in zip(xs, ys, strict=True)]
    assert torch.allclose(model(xs, ys=ys)[0].sum(dim=(1, 2)), torch.stack(alone), atol=1e-4)


def test_empty_context_gives_finite_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(length_buckets, "CPU_TOKENS", 24)
    model = generator().eval()
    xs, ys = batch(3)
    xs[1] = 0
    losses = model(xs, ys=ys)[0].squeeze(-1)
    assert losses.isfinite().all()
    model.whole = True
    scores = model(xs, ys=ys)[0]
    expected = F.cross_entropy(scores.flatten(0, 1), ys.flatten(), ignore_index=0, reduction="none").view(ys.shape)
    assert torch.allclose(losses[[0, 2]], expected[[0, 2]], atol=1e-5)


def test_previous_encoder_states_are_reused() -> None:
    model = generator().eval()
    xs, ys = batch(3)
    losses, _, states = model(xs, ys=ys)
    again, _, same = model(xs, ys=ys, prev_enc=states)
    assert same is states
    assert torch.equal(losses, again)


def test_whole_scores_are_returned_only_in_evaluation() -> None:
    model = generator().train()
    model.whole = True
    xs, ys = batch(2)
    assert model(xs, ys=ys)[0].shape == (2, 16, 1)
    assert model.eval()(xs, ys=ys)[0].shape == (2, 16, WORDS)


def test_start_token_is_never_predicted() -> None:
    """The start token never occurs in a reply: ParlAI forbids it."""
    model = generator().eval()
    xs, ys = batch(2)
    assert (model(xs, ys=ys)[1] != model.START_IDX).all()


@pytest.mark.parametrize(("layers", "millions"), [({}, 85.12), ({"n_encoder_layers": 5}, 86.20)])
def test_parameter_count_matches_paper(layers: dict[str, int], millions: float) -> None:
    """Rashkin et al. (2019), Table 7: 85.1M, and 86.2M for the Large model; fixed positions are not trained.

    The model is built with few words; each missing word adds a row to the shared embedding.
    """
    model = generator(24, embedding_size=300, n_layers=4, n_heads=6, ffn_size=1200, **layers)
    learns = sum(weights.numel() for weights in model.parameters() if weights.requires_grad)
    assert round((learns + (250_006 - 24) * 300) / 1e6, 2) == millions


def test_criterion_accepts_losses_or_scores() -> None:
    criterion = TrueTokenCriterion(pad=0)
    assert criterion(torch.tensor([[0.5], [0.0]]), torch.tensor([3, 0])).tolist() == [0.5, 0.0]
    scores = torch.tensor([[0.0, 0.0], [9.0, 9.0]])
    assert criterion(scores, torch.tensor([1, 0])).tolist() == pytest.approx([0.6931, 0.0], abs=1e-4)  # ln 2; padding
