"""The network computed by hand: pooling, layers, the mean of two vectors; and the frozen parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tiny_judge import write_bert
from transformers import AutoTokenizer, BertModel

from parlai_empathy.agents.predictive_engagement.network import EngagementNetwork, FrozenReader
from parlai_empathy.modules.encoders.pair_tokens import pair_tokens

TEXTS = ["hi", "what a day!", "a" * 30]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    return write_bert(tmp_path_factory.mktemp("network") / "bert")


def reader_of(folder: Path, pooling: str = "mean", layer: int = -1) -> FrozenReader:
    return FrozenReader(BertModel.from_pretrained(folder), pooling, layer)


def tokens_of(folder: Path, texts: Sequence[str]) -> tuple[torch.Tensor, ...]:
    return pair_tokens(AutoTokenizer.from_pretrained(folder), texts, [""] * len(texts), 64)


@pytest.mark.parametrize("pooling", ["mean", "max"])
@pytest.mark.parametrize("layer", [-1, -2])
def test_vectors_pool_layer_states_without_padding(folder: Path, pooling: str, layer: int) -> None:
    encoder, tokenizer = BertModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    found = reader_of(folder, pooling, layer).vectors(*tokens_of(folder, TEXTS))
    for text, vector in zip(TEXTS, found, strict=True):
        with torch.no_grad():
            states = encoder(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[layer][0]
        expected = states.mean(dim=0) if pooling == "mean" else states.max(dim=0).values
        assert torch.allclose(vector, expected, atol=1e-5)


def test_reader_stays_frozen_and_in_eval_mode(folder: Path) -> None:
    untrained = FrozenReader(BertModel(BertModel.from_pretrained(folder).config), "mean", -1)
    assert not any(module.training for module in untrained.modules()), (
        "what is made of a configuration begins otherwise"
    )
    network = EngagementNetwork(reader_of(folder), [4], 2, 0.5).train()
    assert network.training
    assert network.dropout.training
    assert not any(module.training for module in network.reader.modules())
    assert not any(weight.requires_grad for weight in network.reader.parameters())
    assert {name for name, weight in network.named_parameters() if weight.requires_grad} == {
        *("layers.0.weight", "layers.0.bias", "head.weight", "head.bias")
    }


def test_network_matches_manual_calculation(folder: Path) -> None:
    network = EngagementNetwork(reader_of(folder), [3, 2], 1, 0.8).eval()
    size = network.reader.encoder.config.hidden_size
    with torch.no_grad():
        for weight in (*network.layers.parameters(), *network.head.parameters()):
            weight.fill_(0.1)
    queries, replies = torch.full((1, size), 0.2), torch.full((1, size), 0.6)
    # All elements of the mean are .4; all weights and biases of the layers are .1.
    first = torch.tanh(torch.tensor(0.1 * 0.4 * size + 0.1))
    second = torch.tanh(3 * 0.1 * first + 0.1)
    assert network.features(queries, replies).tolist() == [pytest.approx([float(second)] * 2)]
    assert network(queries, replies).item() == pytest.approx(float(2 * 0.1 * second + 0.1))


def test_each_layer_is_dropped(folder: Path) -> None:
    network = EngagementNetwork(reader_of(folder), [3, 2], 1, 0.8).train()
    dropped: list[tuple[int, ...]] = []
    network.dropout.register_forward_hook(lambda _, inputs, __: dropped.append(tuple(inputs[0].shape)))
    vectors = torch.zeros(5, network.reader.encoder.config.hidden_size)
    network(vectors, vectors)
    assert dropped == [(5, 3), (5, 2)]


def test_network_is_symmetric_in_query_and_reply(folder: Path) -> None:
    network = EngagementNetwork(reader_of(folder), [8, 4], 2, 0.0).eval()
    one, other = torch.randn(2, 5, network.reader.encoder.config.hidden_size)
    assert torch.equal(network(one, other), network(other, one))
