"""The hierarchical attention network: its size, its attention by hand, and independence of padding."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from parlai_empathy.modules.classifiers.han import Attention, AttentiveLSTM, HierarchicalAttention

PAD = 2  # not 0, to expose a hard-coded 0
Texts = list[list[int]]


def network(outputs: int = 3, dropout: float = 0.0) -> HierarchicalAttention:
    torch.manual_seed(3)
    model = HierarchicalAttention(nn.Embedding(12, 6, padding_idx=PAD), 5, outputs, dropout)
    for weights in model.parameters():
        nn.init.normal_(weights, std=0.7)  # larger than at initialisation, so that differences are visible
    return model.eval()


def tensors(contexts: list[Texts], replies: Texts, extra: int = 0) -> tuple[Tensor, Tensor]:
    """Return padded inputs for the network, with ``extra`` columns of padding more than needed."""
    most = max(1, *map(len, contexts)) + extra
    longest = max(1, *(len(turn) for turns in contexts for turn in turns), *map(len, replies), 1) + extra
    empty = [PAD] * longest
    padded = [[turn + empty[len(turn) :] for turn in turns] + [empty] * (most - len(turns)) for turns in contexts]
    return torch.tensor(padded), torch.tensor([reply + empty[len(reply) :] for reply in replies])


def read(model: nn.Module, contexts: list[Texts], replies: Texts, extra: int = 0) -> Tensor:
    with torch.no_grad():
        logits: Tensor = model(*tensors(contexts, replies, extra))
    return logits


# --- attention -------------------------------------------------------------------------------------------------------


def test_attention_matches_hand_calculation() -> None:
    # The hidden layer is the identity and the query (1, 0): a state's weight is e to the tanh of its first element.
    # With tanh(x) = ln 2, states (x, 4) and (0, 1), and a third beyond the length, the weights are 2/3 and 1/3, and the
    # mean of the second elements is 2/3 x 4 + 1/3 x 1 = 3.
    attention = Attention(2)
    with torch.no_grad():
        attention.hidden.weight.copy_(torch.eye(2))
        attention.hidden.bias.zero_()
        attention.query.weight.copy_(torch.tensor([[1.0, 0.0]]))
        x = math.atanh(math.log(2))
        mean = attention(torch.tensor([[[x, 4.0], [0.0, 1.0], [9.0, 9.0]]]), torch.tensor([2]))
    assert mean[0].tolist() == pytest.approx([2 / 3 * x, 3.0])


def test_batched_sequences_match_equations_one_by_one() -> None:
    """Compare with equations 5 to 7 of Yang et al. (2016), without batches, masks or packing."""
    torch.manual_seed(1)
    reader = AttentiveLSTM(4, 3)
    steps, lengths = torch.randn(5, 7, 4), torch.tensor([7, 1, 0, 4, 7])
    with torch.no_grad():
        vectors = reader(steps, lengths)
        for row, length in enumerate(lengths.tolist()):
            if not length:
                assert vectors[row].tolist() == [0.0] * 6
                continue
            states = nn.LSTM.forward(reader.lstm, steps[row, :length].unsqueeze(0))[0][0]
            u = torch.tanh(states @ reader.attention.hidden.weight.T + reader.attention.hidden.bias)
            similarities = torch.exp(u @ reader.attention.query.weight[0])
            weights = similarities / similarities.sum()
            assert torch.allclose(vectors[row], weights @ states, atol=1e-6)


def test_empty_sequences_give_zero_vectors() -> None:
    reader = AttentiveLSTM(4, 3)
    assert reader(torch.randn(2, 3, 4), torch.tensor([0, 0])).tolist() == [[0.0] * 6] * 2


# --- the network -----------------------------------------------------------------------------------------------------


def test_parameter_count_matches_hand_calculation() -> None:
    # One direction of an LSTM has 4 gates of (input + 100) x 100 weights and two biases of 100. Embeddings of size 50:
    # 4 x (150 x 100 + 200) = 60,800, in both directions 121,600; turns of 200: 4 x (300 x 100 + 200) x 2 = 241,600.
    # An attention over states of 200: 200 x 200 + 200 + 200 = 40,400. Turns, context and reply have one each.
    # The head: 400 x 5 + 5 = 2,005. In all 121,600 x 2 + 241,600 + 40,400 x 3 + 2,005, and 50 per word.
    model = HierarchicalAttention(nn.Embedding(1000, 50, padding_idx=0), 100, 5, 0.3)
    assert sum(weights.numel() for weights in model.parameters()) == 608_005 + 50_000


WORDS = st.lists(st.sampled_from([0, 1, *range(3, 12)]), min_size=1, max_size=5)
PAIRS = st.lists(st.tuples(st.lists(WORDS, max_size=4), WORDS | st.just([])), min_size=1, max_size=6)


@given(PAIRS, st.integers(0, 3))
def test_outputs_do_not_depend_on_padding_or_batch(pairs: list[tuple[Texts, list[int]]], extra: int) -> None:
    model = network()
    contexts, replies = [context for context, _ in pairs], [reply for _, reply in pairs]
    together = read(model, contexts, replies, extra)
    assert together.shape == (len(pairs), 3)
    for row, (context, reply) in enumerate(pairs):
        assert torch.allclose(read(model, [context], [reply])[0], together[row], atol=1e-5)


def test_order_and_content_of_turns_and_reply_affect_logits() -> None:
    model = network()
    base = ([[3, 4], [5, 6]], [7, 8])
    others = [
        ([[5, 6], [3, 4]], [7, 8]),  # the order of turns
        ([[4, 3], [5, 6]], [7, 8]),  # the order of words in a turn
        ([[3, 4], [5, 6]], [8, 7]),  # the order of words in the reply
        ([[3, 4], [5, 9]], [7, 8]),
        ([[5, 6]], [7, 8]),
        ([], [7, 8]),
        ([[3, 4], [5, 6]], []),
    ]
    logits = read(model, [base[0], *(turns for turns, _ in others)], [base[1], *(reply for _, reply in others)])
    assert ((logits[1:] - logits[0]).abs().amax(dim=1) > 1e-3).all()


def test_empty_context_is_the_zero_vector() -> None:
    model = network()
    with torch.no_grad():
        reply = model.reply_reader(model.embedding(torch.tensor([[7, 8]])), torch.tensor([2]))
        expected = model.head(torch.cat([torch.zeros(1, 10), reply], dim=1))
    assert torch.allclose(read(model, [[]], [[7, 8]]), expected, atol=1e-6)


def test_shared_turns_are_encoded_once() -> None:
    model = network()
    seen = []
    model.turn_reader.register_forward_hook(lambda _, inputs, __: seen.append(len(inputs[0])))
    read(model, [[[3, 4], [5]]] * 50, [[7]] * 50)
    assert seen == [2]


def test_every_parameter_gets_a_gradient_except_padding() -> None:
    model = network(dropout=0.5).train()
    model(*tensors([[[3, 4], [5]], []], [[7], [8, 9]])).sum().backward()
    assert [name for name, weights in model.named_parameters() if weights.grad is None] == []
    assert model.embedding.weight.grad is not None
    assert model.embedding.weight.grad[PAD].abs().sum() == 0
    assert model.embedding.weight.grad[8].abs().sum() > 0


def test_dropout_is_active_only_in_training() -> None:
    model = network(dropout=0.5)
    inputs = tensors([[[3, 4], [5]]], [[7]])
    with torch.no_grad():
        assert torch.equal(model(*inputs), model(*inputs))
        assert not torch.equal(model.train()(*inputs), model(*inputs))


def test_word_vectors_are_dropped() -> None:
    model = network(dropout=1.0).train()
    one, other = (model.features(*tensors(*texts)) for texts in (([[[3, 4], [5]]], [[7]]), ([[[8, 9], [6]]], [[4]])))
    assert torch.equal(one, other)


def test_features_are_dropped_before_the_head() -> None:
    model = network(dropout=1.0).train()
    assert torch.equal(model(*tensors([[[3, 4], [5]]], [[7]]))[0], model.head.bias)


def test_bfloat16_outputs_are_close_to_float32() -> None:
    model = network()
    with torch.autocast("cpu", torch.bfloat16):
        short = read(model, [[[3, 4], [5]], []], [[7], []])
    assert torch.allclose(short.float(), read(model, [[[3, 4], [5]], []], [[7], []]), atol=0.2)


def test_logits_are_the_head_applied_to_features() -> None:
    model = network()
    inputs = tensors([[[3, 4], [5]], []], [[7], [8, 9]])
    with torch.no_grad():
        features = model.features(*inputs)
        assert features.shape == (2, model.head.in_features)
        assert torch.equal(model.head(features), model(*inputs))
