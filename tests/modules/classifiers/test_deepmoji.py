"""DeepMoji against its formulas, one text at a time, and independence of padding."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from parlai_empathy.modules.classifiers.deepmoji import DeepMoji, HardGateLSTM, PackedLSTM, WeightedMean

HIDDEN, DIM = 3, 4


def network(hard_gates: bool = True, embedding_dropout: float = 0.0, dropout: float = 0.0) -> DeepMoji:
    torch.manual_seed(3)
    model = DeepMoji(
        nn.Embedding(12, DIM),
        HIDDEN,
        5,
        hard_gates=hard_gates,
        embedding_dropout=embedding_dropout,
        dropout=dropout,
    )
    for weights in model.parameters():
        nn.init.normal_(weights, std=1.2)  # large enough to saturate the hard gates
    return model.eval()


def padded(texts: list[list[int]], extra: int = 0) -> tuple[Tensor, Tensor]:
    longest = max(map(len, texts)) + extra
    return torch.tensor([text + [0] * (longest - len(text)) for text in texts]), torch.tensor(list(map(len, texts)))


def one_direction(steps: Tensor, weights: dict[str, Tensor], end: str, hard: bool) -> Tensor:
    """Return the states of one LSTM direction, step by step (torch's order of gates: in, forget, new, out)."""
    gate = (lambda x: (0.2 * x + 0.5).clamp(0, 1)) if hard else torch.sigmoid
    h = c = torch.zeros(HIDDEN)
    states = []
    for step in steps:
        numbers = (
            weights[f"weight_ih_l0{end}"] @ step
            + weights[f"bias_ih_l0{end}"]
            + weights[f"weight_hh_l0{end}"] @ h
            + weights[f"bias_hh_l0{end}"]
        )
        i, f, g, o = numbers.split(HIDDEN)
        c = gate(f) * c + gate(i) * torch.tanh(g)
        h = gate(o) * torch.tanh(c)
        states.append(h)
    return torch.stack(states)


def both_directions(steps: Tensor, lstm: nn.Module, hard: bool) -> Tensor:
    weights = lstm.state_dict()
    backwards = one_direction(steps.flip(0), weights, "_reverse", hard).flip(0)
    return torch.cat([one_direction(steps, weights, "", hard), backwards], dim=1)


def straight(model: DeepMoji, text: list[int], hard: bool) -> Tensor:
    words = torch.tanh(model.embedding.weight[text])
    lower = both_directions(words, model.lstm_0, hard)
    upper = both_directions(lower, model.lstm_1, hard)
    states = torch.cat([upper, lower, words], dim=1)
    similarities = torch.exp(states @ model.attention.vector)
    return (similarities / similarities.sum()) @ states


@torch.no_grad()
@pytest.mark.parametrize("hard", [True, False])
def test_features_match_formulas(hard: bool) -> None:
    model = network(hard)
    texts = [[1, 2, 3, 4, 5], [7], [8, 8, 1], [2, 9, 10, 11]]
    features = model.features(*padded(texts))
    assert features.shape == (4, 4 * HIDDEN + DIM)
    for row, text in enumerate(texts):
        assert torch.allclose(features[row], straight(model, text, hard), atol=1e-5)
    assert torch.allclose(model(*padded(texts)), model.head(features), atol=1e-6)


def test_parameter_count_matches_hand_calculation() -> None:
    # One direction of an LSTM has 4 gates of (input + 512) x 512 weights and two biases of 512. Embeddings of size 256:
    # 4 x (768 x 512 + 1024) = 1,576,960, in both directions 3,153,920; states of 1,024: 4 x (1536 x 512 + 1024) x 2 =
    # 6,299,648. Attention: 2,304; head for 64 emoji: (2304 + 1) x 64 = 147,520; 50,000 words: 12,800,000.
    model = DeepMoji(nn.Embedding(50_000, 256), 512, 64, hard_gates=True, embedding_dropout=0.1, dropout=0.5)
    assert model.head.in_features == 2304
    assert (
        sum(weights.numel() for weights in model.parameters()) == 3_153_920 + 6_299_648 + 2_304 + 147_520 + 12_800_000
    )


def test_attention_matches_hand_calculation() -> None:
    # With the query (ln 2, 0), states (1, 6) and (0, 0) have weights 2/3 and 1/3; the third is beyond the length.
    attention = WeightedMean(2)
    with torch.no_grad():
        attention.vector.copy_(torch.tensor([torch.log(torch.tensor(2.0)), 0]))
        mean = attention(torch.tensor([[[1.0, 6], [0, 0], [9, 9]]]), torch.tensor([2]))
    assert mean[0].tolist() == pytest.approx([2 / 3, 4])


TEXTS = st.lists(st.lists(st.integers(0, 11), min_size=1, max_size=6), min_size=1, max_size=5)


@settings(max_examples=40)
@given(TEXTS, st.integers(0, 3), st.booleans())
def test_outputs_do_not_depend_on_padding_or_batch(texts: list[list[int]], extra: int, hard: bool) -> None:
    model = network(hard)
    with torch.no_grad():
        together = model(*padded(texts, extra))
        for row, text in enumerate(texts):
            assert torch.allclose(model(*padded([text]))[0], together[row], atol=1e-4)


@torch.no_grad()
def test_states_beyond_text_length_are_zero() -> None:
    for kind in (PackedLSTM, HardGateLSTM):
        states = kind(2, HIDDEN)(torch.randn(2, 4, 2), torch.tensor([4, 2]))
        assert states.shape == (2, 4, 2 * HIDDEN)
        assert states[1, 2:].abs().max() == 0


def test_hard_and_soft_gates_have_same_weight_shapes() -> None:
    shapes = [{n: w.shape for n, w in network(hard).state_dict().items()} for hard in (True, False)]
    assert shapes[0] == shapes[1]
    assert "lstm_0.weight_ih_l0_reverse" in shapes[0]


@pytest.mark.parametrize("hard", [True, False])
def test_every_parameter_gets_a_gradient(hard: bool) -> None:
    model = network(hard, 0.2, 0.5).train()
    model(*padded([[3, 4, 5], [7]])).sum().backward()
    assert [name for name, weights in model.named_parameters() if weights.grad is None] == []


def test_embedding_dropout_drops_same_dimensions_for_all_words() -> None:
    model = network(embedding_dropout=0.5).train()
    seen: list[Tensor] = []
    model.lstm_0.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    model(*padded([[3, 4, 5], [7, 8, 9]]))
    left_out = seen[0] == 0  # (2, 3, DIM)
    assert torch.equal(left_out[:, 0], left_out[:, 1])
    assert torch.equal(left_out[:, 0], left_out[:, 2])
    assert 0 < left_out.float().mean() < 1
    model.eval()
    assert torch.equal(model(*padded([[3, 4]])), model(*padded([[3, 4]])))


def test_features_are_dropped_before_the_head() -> None:
    model = network(dropout=1.0).train()
    assert torch.equal(model(*padded([[3, 4, 5]]))[0], model.head.bias)


def test_attention_starts_with_small_weights() -> None:
    """As in the published model: normally distributed with standard deviation .05."""
    assert float(WeightedMean(10_000).vector.detach().std()) == pytest.approx(0.05, rel=0.05)


def test_initialisation_opens_forget_gates() -> None:
    model = DeepMoji(nn.Embedding(5, DIM), HIDDEN, 2, hard_gates=False, embedding_dropout=0, dropout=0)
    bias = model.lstm_1.bias_ih_l0_reverse
    assert bias.tolist() == [0] * HIDDEN + [1] * HIDDEN + [0] * 2 * HIDDEN
    assert model.embedding.weight.abs().max() <= 0.5
    square = model.lstm_0.weight_hh_l0.T @ model.lstm_0.weight_hh_l0
    assert torch.allclose(square, torch.eye(HIDDEN), atol=1e-5)


def test_bfloat16_outputs_are_close_to_float32() -> None:
    model = network()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        short = model(*padded([[3, 4, 5], [7]])).float()
    with torch.no_grad():
        assert torch.allclose(short, model(*padded([[3, 4, 5], [7]])), atol=0.5)
