"""The bi-encoder's two towers: the paper's size, the shared embedding and the score of their vectors."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from parlai_empathy.modules.encoders.biencoder import BiEncoder, PretrainedBiEncoder, PretrainedTower

PAD = 2  # not 0, to expose a hard-coded 0
PAPERS = {"embedding_size": 300, "n_heads": 6, "ffn_size": 1200, "dropout": 0.0, "n_positions": 1000}


def small(temperature: float | None = None) -> BiEncoder:
    torch.manual_seed(5)
    return BiEncoder(
        11,
        PAD,
        embedding_size=8,
        temperature=temperature,
        n_layers=1,
        n_heads=2,
        ffn_size=16,
        dropout=0.0,
        n_positions=6,
    )


@pytest.mark.parametrize(("n_layers", "expected"), [(4, 84_273_000), (5, 86_440_800)])
def test_parameter_count_matches_paper(n_layers: int, expected: int) -> None:
    # Embedding: 250,006 x 300 = 75,001,800, shared by both towers. Fixed positions: 2 towers x 1,000 x 300 = 600,000.
    # A layer: attention 4 x (300 x 300 + 300) = 361,200; feed-forward (300 x 1,200 + 1,200) + (1,200 x 300 + 300)
    # = 721,500; two layer norms of 2 x 300, together 1,200; in all 1,083,900.
    # 4 layers: 75,001,800 + 600,000 + 2 x 4 x 1,083,900 = 84,273,000 (the paper's 84.3M);
    # 5 layers: 75,001,800 + 600,000 + 2 x 5 x 1,083,900 = 86,440,800 (the paper's 86.5M, Large).
    with torch.device("meta"):  # shapes only: nothing is allocated
        model = BiEncoder(250_006, 0, n_layers=n_layers, **PAPERS)
    assert sum(weights.numel() for weights in model.parameters()) == expected


def test_towers_share_and_train_one_embedding() -> None:
    model = small()
    assert model.contexts.embedding.weight is model.replies.embedding.weight
    contexts, replies = model(torch.tensor([[3, 4]]), torch.tensor([[5, PAD]]))
    (contexts * replies).sum().backward()
    touched = model.embedding.weight.grad.abs().sum(dim=1).nonzero().flatten().tolist()
    assert touched == [3, 4, 5]  # 3 and 4 from the context, 5 from the reply; neither padding nor other words


def test_new_word_vectors_have_a_length_of_about_1() -> None:
    model = BiEncoder(10_000, PAD, **{**PAPERS, "embedding_size": 16, "n_heads": 2}, n_layers=1)
    assert float(model.embedding.weight.detach().std()) == pytest.approx(1 / 4, rel=0.05)


def test_second_pretrained_tower_encodes_replies() -> None:
    one, other = nn.Identity(), nn.Identity()
    one.dim = other.dim = 3
    both, shared = PretrainedBiEncoder(one, other), PretrainedBiEncoder(one)  # type: ignore[arg-type]
    assert (both.contexts, both.replies) == (one, other)
    assert (shared.contexts, shared.replies) == (one, one)


def test_towers_share_no_transformer_layers() -> None:
    model = small()
    model.contexts(torch.tensor([[3, 4]])).sum().backward()
    assert all(weights.grad is None for weights in model.replies.layers.parameters())
    assert all(weights.grad is not None for weights in model.contexts.layers.parameters())


def test_padding_embedding_stays_zero_during_training() -> None:
    model = small()
    optimizer = torch.optim.Adamax([weights for weights in model.parameters() if weights.requires_grad], lr=0.1)
    before = model.embedding.weight.detach().clone()
    for _ in range(3):
        contexts, replies = model(torch.tensor([[3, 4], [5, PAD]]), torch.tensor([[6, PAD, PAD], [7, 8, 9]]))
        torch.nn.functional.cross_entropy(contexts @ replies.T, torch.arange(2)).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert model.embedding.weight[PAD].abs().max() == 0
    assert not torch.equal(model.embedding.weight[3], before[3])


def test_joint_call_matches_separate_towers() -> None:
    model = small()
    texts, others = torch.tensor([[3, 4, 5]]), torch.tensor([[6, PAD], [7, 8]])
    contexts, replies = model(texts, others)
    torch.testing.assert_close(contexts, model.contexts(texts))
    torch.testing.assert_close(replies, model.replies(others))


def scores(model: BiEncoder) -> Tensor:
    contexts, replies = model(torch.tensor([[3, 4, 5], [6, PAD, PAD]]), torch.tensor([[7, PAD], [8, 9]]))
    return contexts @ replies.T  # type: ignore[no-any-return]


def test_temperature_turns_dot_product_into_scaled_cosine() -> None:
    plain = small()
    contexts, replies = plain(torch.tensor([[3, 4, 5], [6, PAD, PAD]]), torch.tensor([[7, PAD], [8, 9]]))
    cosines = torch.cosine_similarity(contexts.unsqueeze(1), replies.unsqueeze(0), dim=-1)
    torch.testing.assert_close(scores(small(temperature=0.1)), cosines / 0.1)


def test_temperature_adds_no_parameters() -> None:
    assert small(temperature=0.1).state_dict().keys() == small().state_dict().keys()


def pretrained() -> PretrainedTower:
    config = BertConfig(
        vocab_size=11, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, pad_token_id=PAD
    )
    return PretrainedTower(BertModel(config).eval(), PAD, "mean", 0, None)


@torch.no_grad()
def test_text_of_padding_alone_gets_the_vector_of_one_padding_token() -> None:
    tower = pretrained()
    vectors = tower(torch.tensor([[PAD, PAD, PAD], [3, 4, PAD]]))
    torch.testing.assert_close(vectors[:1], tower(torch.tensor([[PAD]])))
    assert vectors.isfinite().all()


def test_only_the_unused_pooler_is_frozen() -> None:
    frozen = [name for name, weights in pretrained().named_parameters() if not weights.requires_grad]
    assert frozen == ["encoder.pooler.dense.weight", "encoder.pooler.dense.bias"]
