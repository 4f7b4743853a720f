"""The text encoder against ParlAI's Transformer with the same weights, and its parts against their formulas."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from parlai.agents.transformer.modules import TransformerEncoder as ParlaisEncoder
from parlai.core.opt import Opt
from torch import Tensor, nn

from parlai_empathy.modules.encoders import transformer
from parlai_empathy.modules.encoders.transformer import EncoderLayer, TransformerEncoder, sinusoids
from parlai_empathy.modules.speed import length_buckets

PAD = 0
WORDS = 23
DIM = 12
SIZES = {"n_layers": 2, "n_heads": 3, "ffn_size": 20, "n_positions": 16}


def encoder(dropout: float = 0.0, length: float | None = None) -> TransformerEncoder:
    """Return a small encoder with random weights throughout: biases start as zeros, and zeros would hide a mix-up."""
    torch.manual_seed(3)
    embedding = nn.Embedding(WORDS, DIM, padding_idx=PAD)
    model = TransformerEncoder(embedding, **SIZES, dropout=dropout, length=length)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.requires_grad:
                weights.normal_(std=0.4)
        embedding.weight[PAD].zero_()
    return model.eval()


def parlais_encoder(ours: TransformerEncoder) -> ParlaisEncoder:
    """Return ParlAI's encoder with our weights: post-norm ("aiayn"), scaled embeddings, mean of the tokens."""
    opt = Opt(**SIZES, embedding_size=DIM, embeddings_scale=True, variant="aiayn", activation="relu", dropout=0.0)
    theirs = ParlaisEncoder(opt, WORDS, ours.embedding, PAD, "mean")
    for their_layer, layer in zip(theirs.layers, ours.layers, strict=True):
        attention = their_layer.attention
        for rows, linear in enumerate((attention.q_lin, attention.k_lin, attention.v_lin)):
            linear.weight.data = layer.self_attn.in_proj_weight.data[rows * DIM : (rows + 1) * DIM]
            linear.bias.data = layer.self_attn.in_proj_bias.data[rows * DIM : (rows + 1) * DIM]
        attention.out_lin.load_state_dict(layer.self_attn.out_proj.state_dict())
        their_layer.ffn.lin1.load_state_dict(layer.linear1.state_dict())
        their_layer.ffn.lin2.load_state_dict(layer.linear2.state_dict())
        their_layer.norm1.load_state_dict(layer.norm1.state_dict())
        their_layer.norm2.load_state_dict(layer.norm2.state_dict())
    return theirs.eval()


def padded(texts: list[list[int]], extra: int = 0) -> Tensor:
    """Return ``texts`` in one tensor, with ``extra`` columns of padding after the longest."""
    longest = max(map(len, texts)) + extra
    return torch.tensor([text + [PAD] * (longest - len(text)) for text in texts])


words = st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=SIZES["n_positions"])
batches = st.lists(words, min_size=1, max_size=5)


# With gradients, torch runs the layers one operation at a time; without, in one fused kernel. Test both.
@pytest.mark.parametrize("gradients", [True, False], ids=["with gradients", "without gradients"])
@settings(max_examples=25)
@given(texts=batches)
def test_vectors_match_parlai_transformer(gradients: bool, texts: list[list[int]]) -> None:
    ours = encoder()
    with torch.set_grad_enabled(gradients):
        expected = parlais_encoder(ours)(padded(texts))
        torch.testing.assert_close(ours(padded(texts)), expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("gradients", [True, False], ids=["with gradients", "without gradients"])
@settings(max_examples=25)
@given(texts=batches, extra=st.integers(0, 3))
def test_vectors_do_not_depend_on_padding_or_batch(gradients: bool, texts: list[list[int]], extra: int) -> None:
    texts = [text[: SIZES["n_positions"] - extra] for text in texts]
    model = encoder()
    with torch.set_grad_enabled(gradients):
        together = model(padded(texts, extra))
        alone = torch.cat([model(padded([text])) for text in texts])
    torch.testing.assert_close(together, alone, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("gradients", [True, False], ids=["with gradients", "without gradients"])
def test_vectors_keep_their_order_if_texts_are_read_in_chunks(gradients: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(length_buckets, "CPU_TOKENS", 40)
    torch.manual_seed(0)
    lengths = torch.randint(1, SIZES["n_positions"] + 1, (30,))
    texts = [torch.randint(1, WORDS, (length,)).tolist() for length in lengths.tolist()]
    model = encoder()
    with torch.set_grad_enabled(gradients):
        together = model(padded(texts))
        alone = torch.cat([model(padded([text])) for text in texts])
    torch.testing.assert_close(together, alone, atol=2e-5, rtol=1e-4)


@settings(max_examples=25)
@given(texts=batches, extra=st.integers(0, 3))
def test_vectors_and_gradients_are_the_same_if_a_gpu_computes_true_tokens_alone(
    texts: list[list[int]], extra: int
) -> None:
    texts = [text[: SIZES["n_positions"] - extra] for text in texts]
    whole, alone = encoder(), encoder()
    expected = whole(padded(texts, extra))
    with pytest.MonkeyPatch.context() as change:
        seen: list[int] = []
        layer = EncoderLayer.forward
        change.setattr(EncoderLayer, "forward", lambda *a, **k: (seen.append(len(a[1])), layer(*a, **k))[1])
        change.setattr(transformer, "_on_gpu", lambda tokens: True)
        found = alone(padded(texts, extra))
        assert seen == [sum(map(len, texts))] * SIZES["n_layers"]
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)
    for vectors in (found, expected):
        vectors.pow(2).sum().backward()
    for (name, weights), others in zip(whole.named_parameters(), alone.parameters(), strict=True):
        if weights.grad is not None:
            torch.testing.assert_close(others.grad, weights.grad, atol=1e-4, rtol=1e-3, msg=name)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_layer_outputs_and_gradients_match_torch(dropout: float) -> None:
    """Same states and same gradients of weights and states; with dropout, the same mean of the outputs."""
    torch.manual_seed(0)
    layer = EncoderLayer(DIM, 3, dim_feedforward=20, dropout=dropout, batch_first=True).double()
    torchs = nn.TransformerEncoderLayer(DIM, 3, dim_feedforward=20, dropout=dropout, batch_first=True).double()
    torchs.load_state_dict(layer.state_dict())
    padding = torch.arange(7) >= torch.tensor([[7], [3], [1], [5]])
    states = torch.randn(4, 7, DIM, dtype=torch.double)
    draws = 4000 if dropout else 1
    means, gradients = [], []
    for one in (layer, torchs):
        begun = states.clone().requires_grad_()
        mean = sum(one(begun, src_key_padding_mask=padding) for _ in range(draws)) / draws
        (mean * ~padding.unsqueeze(-1)).pow(3).sum().backward()
        means.append(mean[~padding])
        gradients.append([begun.grad, *(weights.grad for weights in one.parameters())])
    tolerance = 0.2 if dropout else 1e-10
    torch.testing.assert_close(*means, atol=tolerance, rtol=0)
    if not dropout:
        torch.testing.assert_close(*gradients)


def test_dropout_is_where_torch_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """After words and positions; in each layer of the attention's weights and output, and of both linear layers'."""
    found: list[tuple[int, ...]] = []

    def dropped(states: Tensor, p: float, training: bool) -> Tensor:
        assert (p, training) == (0.3, True)
        found.append(tuple(states.shape))
        return states

    monkeypatch.setattr(transformer, "dropped", dropped)
    encoder(dropout=0.3).train()(padded([[1, 2, 3, 4, 5], [6]]))
    assert found == [(2, 5, DIM), *[(2, 3, 5, 5), (2, 5, DIM), (2, 5, 20), (2, 5, DIM)] * 2]


def test_bfloat16_gradients_are_close_to_float32() -> None:
    model, short = encoder(), encoder()
    texts = padded([[1, 2, 3, 4, 5], [6], [7, 8]])
    model(texts).pow(2).sum().backward()
    with torch.autocast("cpu", torch.bfloat16):
        short(texts).pow(2).sum().backward()
    for (name, weights), rounded in zip(model.named_parameters(), short.parameters(), strict=True):
        if weights.grad is not None:
            assert torch.cosine_similarity(weights.grad.flatten(), rounded.grad.flatten(), dim=0) > 0.99, name


def test_word_order_changes_the_vector() -> None:
    forwards, backwards = encoder()(torch.tensor([[4, 5, 6], [6, 5, 4]]))
    assert not torch.allclose(forwards, backwards, atol=1e-3)


def test_every_trained_weight_gets_finite_gradient_from_padded_batch() -> None:
    model = encoder().train()
    model(padded([[1, 2, 3], [4]])).pow(2).sum().backward()
    for name, weights in model.named_parameters():
        if name != "positions":
            assert weights.grad is not None, name
            assert weights.grad.isfinite().all(), name
            assert weights.grad.abs().sum() > 0, name


def test_positions_are_saved_but_not_trained() -> None:
    model = encoder()
    assert "positions" in model.state_dict()
    assert not model.positions.requires_grad


def test_dropout_is_active_only_in_training() -> None:
    model, text = encoder(dropout=0.5), torch.tensor([[1, 2, 3, 4]])
    torch.testing.assert_close(model(text), encoder()(text))  # the same weights without dropout
    model.train()
    assert not torch.allclose(model(text), model(text))


def test_vectors_are_scaled_to_length_keeping_direction() -> None:
    texts = padded([[1, 2, 3], [4], [5, 6]])
    plain, scaled = encoder()(texts), encoder(length=2.5)(texts)
    torch.testing.assert_close(scaled.norm(dim=1), torch.full((3,), 2.5))
    torch.testing.assert_close(torch.cosine_similarity(plain, scaled), torch.ones(3))


# --- the parts -------------------------------------------------------------------------------------------------------


def test_sinusoids_match_hand_calculation() -> None:
    # Position 0: sin 0 = 0 and cos 0 = 1. Position 1, dimension 4: the frequencies are 1 and 10000^(-2/4) = 0.01, so
    # sin 1 = 0.841471, cos 1 = 0.540302, sin 0.01 = 0.0099998, cos 0.01 = 0.99995.
    expected = [[0.0, 1.0, 0.0, 1.0], [0.841471, 0.540302, 0.0099998, 0.99995]]
    torch.testing.assert_close(sinusoids(2, 4), torch.tensor(expected), atol=1e-6, rtol=0)


@pytest.mark.parametrize("dim", [1, 2, 7, 300])
def test_sinusoids_match_the_papers_formula(dim: int) -> None:
    table = sinusoids(100, dim)
    assert table.shape == (100, dim)
    for position in (0, 1, 17, 99):
        for column in range(dim):
            angle = position / 10000 ** (2 * (column // 2) / dim)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert table[position, column].item() == pytest.approx(expected, abs=2e-5)


def test_training_draws_the_same_dropout_without_gradients() -> None:
    """As gradient caching needs it."""
    torch.manual_seed(2)
    layer = EncoderLayer(8, 2, dim_feedforward=16, dropout=0.5, batch_first=True).train()
    states, padding = torch.randn(3, 4, 8), torch.zeros(3, 4, dtype=torch.bool)
    torch.manual_seed(3)
    expected = layer(states, src_key_padding_mask=padding)
    torch.manual_seed(3)
    with torch.no_grad():
        torch.testing.assert_close(layer(states, src_key_padding_mask=padding), expected.detach())
