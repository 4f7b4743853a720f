"""EPITOME's bi-encoder, compared with a second implementation that takes one pair at a time."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from parlai_empathy.modules.classifiers.epitome import Epitome, token_states
from parlai_empathy.modules.speed import length_buckets

SIZE = 16


def encoder() -> Any:
    config = BertConfig(
        vocab_size=30, hidden_size=SIZE, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    return BertModel(config).eval()


def network(responders: int = 1, pooling: str = "first", dropout: float = 0.0) -> Epitome:
    torch.manual_seed(3)
    model = Epitome(encoder(), [encoder() for _ in range(responders)], 3, pooling, dropout).eval()
    for part in model.mechanisms.parameters():  # biases start as zeros, which would hide mistakes
        torch.nn.init.normal_(part, std=0.3)
    return model


POSTS = torch.tensor([[2, 5, 6, 3, 0], [2, 7, 8, 9, 3]])
POST_LENGTHS = torch.tensor([4, 5])
RESPONSES = torch.tensor([[2, 11, 12, 3], [2, 13, 3, 0], [2, 14, 15, 3]])
RESPONSE_LENGTHS = torch.tensor([4, 3, 4])
PAIRS = [(0, 1), (1, 0), (1, 1), (0, 2)]  # indices of a post and a response


def judge(model: Epitome, pairs: list[tuple[int, int]] = PAIRS) -> tuple[Tensor, Tensor]:
    posts = model.seeker_states(POSTS, POST_LENGTHS)
    seen = torch.arange(POSTS.size(1)) < POST_LENGTHS.unsqueeze(1)
    post_of, response_of = (torch.tensor(places) for places in zip(*pairs, strict=True))
    return model(posts, seen, post_of, RESPONSES, RESPONSE_LENGTHS, response_of)


def by_hand(model: Any, post: int, response: int, part: int, pooling: str) -> tuple[Tensor, Tensor]:
    """Compute one pair without padding, with torch's own attention."""
    tokens = RESPONSES[response : response + 1, : RESPONSE_LENGTHS[response]]
    theirs = model.seeker(POSTS[post : post + 1, : POST_LENGTHS[post]]).last_hidden_state
    ours = model.responders[part if len(model.responders) > 1 else 0](tokens).last_hidden_state
    mechanism = model.mechanisms[part]
    attended = torch.nn.functional.scaled_dot_product_attention(
        mechanism.query(ours), mechanism.key(theirs), mechanism.value(theirs)
    )
    ours = ours + mechanism.out(attended)
    vector = ours[:, 0] if pooling == "first" else ours.mean(dim=1)
    dense, last = mechanism.level[1], mechanism.level[4]
    return last(dense(vector).relu())[0], mechanism.rationale[1](ours)[0]


@pytest.mark.parametrize("responders", [1, 3])
@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_outputs_match_the_papers_architecture(responders: int, pooling: str) -> None:
    model = network(responders, pooling)
    with torch.no_grad():
        levels, rationales = judge(model)
        for row, (post, response) in enumerate(PAIRS):
            for part in range(3):
                level, rationale = by_hand(model, post, response, part, pooling)
                assert torch.allclose(levels[row, part], level, atol=1e-5)
                assert torch.allclose(rationales[row, part, : len(rationale)], rationale, atol=1e-5)


def test_outputs_for_a_pair_do_not_depend_on_the_batch() -> None:
    model = network()
    with torch.no_grad():
        levels, rationales = judge(model)
        for row, pair in enumerate(PAIRS):
            alone = judge(model, [pair])
            assert torch.allclose(alone[0][0], levels[row], atol=1e-6)
            assert torch.allclose(alone[1][0], rationales[row], atol=1e-6)


def test_attending_to_padding_changes_levels() -> None:
    """As in the original, whose scores depend on how much a post is padded."""
    model = network()
    where = torch.tensor([0])
    with torch.no_grad():
        states = model.seeker_states(POSTS, POST_LENGTHS, whole=True)
        masked, unmasked = (
            model(states[:1], seen, where, RESPONSES[:1], RESPONSE_LENGTHS[:1], where)[0]
            for seen in (torch.arange(5)[None] < 4, torch.ones(1, 5, dtype=torch.bool))
        )
    assert not torch.allclose(masked, unmasked, atol=1e-4)


def test_seeker_encoder_is_frozen_and_other_parts_train() -> None:
    model = network(3, dropout=0.1).train()
    levels, rationales = judge(model)
    (levels.sum() + rationales.square().sum()).backward()
    assert not any(part.requires_grad for part in model.seeker.parameters())
    used = [name for name, part in model.named_parameters() if part.grad is not None and part.grad.abs().sum() > 0]
    for name in ("responders.2.encoder", "mechanisms.1.query", "mechanisms.0.level", "mechanisms.2.rationale"):
        assert any(part.startswith(name) for part in used), name


def test_attention_weights_and_their_output_are_dropped() -> None:
    model = network(dropout=0.1).train()
    dropped: list[Tensor] = []
    model.mechanisms[0].dropout.register_forward_hook(lambda _, inputs, __: dropped.append(inputs[0]))  # type: ignore[union-attr]
    judge(model)
    weights, added = dropped
    assert torch.allclose(weights.sum(dim=-1), torch.ones(4, RESPONSES.size(1)))
    assert added.shape == (4, RESPONSES.size(1), SIZE)


def test_seeker_encoder_stays_in_eval_mode() -> None:
    model = network().train()
    assert model.training
    assert not any(part.training for part in model.seeker.modules())
    assert torch.equal(model.seeker_states(POSTS, POST_LENGTHS), model.seeker_states(POSTS, POST_LENGTHS))


def test_new_layers_are_initialised_as_in_the_original() -> None:
    """Normally distributed with standard deviation .02, biases 0: that of 1,024 weights is within a tenth of .02."""
    model = Epitome(encoder(), [encoder()], 4, "first", 0.1)
    weights = torch.cat([part.query.weight.flatten() for part in model.mechanisms])  # type: ignore[union-attr, operator]
    assert float(weights.detach().std()) == pytest.approx(0.02, rel=0.1)
    assert all(not part.abs().sum() for name, part in model.mechanisms.named_parameters() if name.endswith("bias"))


@pytest.mark.parametrize("most", [1, 100, 2048])
def test_token_states_in_batches_match_single_texts(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One at a time, in batches sorted by length, or all at once: 40 texts of 20 tokens are 800."""
    monkeypatch.setattr(length_buckets, "CPU_TOKENS", most)
    torch.manual_seed(1)
    lengths = torch.randint(1, 21, (40,))
    tokens = torch.randint(5, 30, (40, 20)) * (torch.arange(20) < lengths.unsqueeze(1))
    one = encoder()
    with torch.no_grad():
        states = token_states(one, tokens, lengths)
        assert states.shape == (40, 20, SIZE)
        for row, length in enumerate(lengths.tolist()):
            alone = one(tokens[row : row + 1, :length]).last_hidden_state[0]
            assert torch.allclose(states[row, :length], alone, atol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize("most", [1, 9])
def test_outputs_do_not_depend_on_chunk_size(pooling: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Posts of similar length are batched together: of the four pairs, one has a post of 4 tokens, the others of 5."""
    model = network(pooling=pooling)
    whole = judge(model)
    monkeypatch.setattr(length_buckets, "CPU_TOKENS", most)
    levels, rationales = judge(model)
    assert torch.allclose(levels, whole[0], atol=1e-5)
    for number, (_, response) in enumerate(PAIRS):
        length = RESPONSE_LENGTHS[response]  # padding is not compared
        assert torch.allclose(rationales[number, :, :length], whole[1][number, :, :length], atol=1e-5)


@torch.no_grad()
def test_responses_may_come_in_any_order() -> None:
    model, pairs = network(), [(0, 2), (1, 0), (1, 1)]  # each response once
    levels, rationales = judge(model, pairs)
    for place, (post, response) in enumerate(pairs):
        level, rationale = by_hand(model, post, response, 0, "first")
        torch.testing.assert_close(levels[place, 0], level)
        torch.testing.assert_close(rationales[place, 0, : len(rationale)], rationale)
