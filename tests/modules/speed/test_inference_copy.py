"""The bfloat16 copy for inference: when it is used, its rounding error, and that it follows changes of the original."""

from __future__ import annotations

import copy
import gc
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    AutoModel,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    ModernBertConfig,
    MPNetConfig,
    RobertaConfig,
)
from transformers.modeling_outputs import BaseModelOutput

from parlai_empathy.modules.speed import inference_copy
from parlai_empathy.modules.speed.inference_copy import for_inference, read_states

SIZES = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "pad_token_id": 1}
CONFIGS = {
    "bert": BertConfig(intermediate_size=64, **SIZES),
    "roberta": RobertaConfig(intermediate_size=64, **SIZES),
    "electra": ElectraConfig(intermediate_size=64, embedding_size=16, **SIZES),
    "mpnet": MPNetConfig(intermediate_size=64, **SIZES),
    "modernbert": ModernBertConfig(
        intermediate_size=64, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3, **SIZES
    ),
    "distilbert": DistilBertConfig(vocab_size=40, dim=32, n_layers=2, n_heads=2, hidden_dim=64, pad_token_id=1),
}


def short_numbers() -> torch.autocast:
    return torch.autocast("cpu", torch.bfloat16)


def encoder(name: str = "bert") -> Any:
    torch.manual_seed(7)
    return AutoModel.from_config(CONFIGS[name]).eval()


def copy_of(model: nn.Module) -> Any:
    with torch.no_grad(), short_numbers():
        return for_inference(model)


def states(model: Any, tokens: Tensor, keep: Tensor) -> Tensor:
    with torch.no_grad():
        found: Tensor = model(input_ids=tokens, attention_mask=keep.long()).last_hidden_state
    return found.float() * keep.unsqueeze(2)


def texts() -> tuple[Tensor, Tensor]:
    """Return random texts with padding."""
    torch.manual_seed(1)
    keep = torch.arange(12) < torch.tensor([12, 3, 7, 1]).unsqueeze(1)
    return torch.where(keep, torch.randint(4, 40, (4, 12)), 1), keep


def is_rounded(short: nn.Module, model: nn.Module) -> bool:
    pairs = zip(short.parameters(), model.parameters(), strict=True)
    return all(torch.equal(mine, theirs.bfloat16()) for mine, theirs in pairs)


@pytest.mark.parametrize("name", CONFIGS)
def test_outputs_match_float32_within_rounding(name: str) -> None:
    """Rounding errors stay below 4 %.

    bfloat16 has 8 significant bits, so each rounding has an error of at most 2^-9, .2 %. States come out of a layer
    norm, so they are about 1; some 10 successive roundings in each of the 2 layers add up to 4 % if all go in the same
    direction.
    """
    model, (tokens, keep) = encoder(name), texts()
    exact = states(model, tokens, keep)
    with short_numbers():
        short = states(copy_of(model), tokens, keep)
    assert 0 < (short - exact).abs().max() < 0.04 * exact.abs().max()


@pytest.mark.parametrize("kernel", [True, False])
def test_outputs_equal_torch_bfloat16_model(kernel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if kernel and not inference_copy._has_kernel():
        pytest.skip("this processor has no instructions for bfloat16")
    monkeypatch.setattr(inference_copy, "_has_kernel", lambda: kernel)
    model, (tokens, keep) = encoder(), texts()
    plain = copy.deepcopy(model).bfloat16()
    assert torch.equal(states(copy_of(model), tokens, keep), states(plain, tokens, keep))


@pytest.mark.parametrize("bias", [True, False])
def test_linear_layer_accepts_float32_inputs(bias: bool) -> None:
    """An encoder's fixed positions may be float32, and the sums with them too."""
    torch.manual_seed(2)
    layer, inputs = nn.Linear(8, 5, bias=bias), torch.randn(2, 3, 8)
    with torch.no_grad(), short_numbers():
        found = copy_of(nn.Sequential(layer).eval())(inputs)
        assert torch.equal(found, layer(inputs))  # autocast rounds the inputs the same way
    assert found.dtype == torch.bfloat16


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("length", [1, 8, 9, 12, 16, 17, 25, 31])
def test_padding_to_whole_blocks_changes_only_rounding(name: str, length: int) -> None:
    """RoBERTa too, whose positions depend on the padding. For the tolerance, see the first test."""
    model = encoder(name)
    torch.manual_seed(length)
    keep = torch.arange(length) < torch.tensor([length, max(1, length // 2)]).unsqueeze(1)
    tokens = torch.where(keep, torch.randint(4, 40, (2, length)), 1)
    exact = states(model, tokens, keep)
    with torch.no_grad(), short_numbers():
        found = read_states(model, tokens, keep)
    assert found.shape == exact.shape
    assert ((found.float() * keep.unsqueeze(2)) - exact).abs().max() < 0.04 * exact.abs().max()


def test_block_padding_needs_autocast_and_enough_positions() -> None:
    lengths = []

    class Reader(nn.Module):
        def __init__(self, most: int) -> None:
            super().__init__()
            self.config = BertConfig(max_position_embeddings=most, pad_token_id=3)
            self.weight = nn.Parameter(torch.zeros(1))

        def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Any:
            assert input_ids.shape == attention_mask.shape == token_type_ids.shape
            assert input_ids[0, 12:].eq(3).all()
            assert attention_mask.sum() == 12
            lengths.append(input_ids.size(1))
            return BaseModelOutput(last_hidden_state=input_ids.unsqueeze(2).float())

    ones = torch.ones(1, 12).long()
    with torch.no_grad():
        for most, autocast in ((512, True), (15, True), (512, False)):
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                found = read_states(Reader(most).eval(), ones, ones.bool(), token_type_ids=ones)
            assert found.shape == (1, 12, 1)
    assert lengths == [16, 12, 12]


def test_no_copy_for_training_or_float32_or_bfloat16_models() -> None:
    model = encoder()
    with short_numbers():
        assert for_inference(model) is model, "gradients are wanted"
    with torch.no_grad():
        assert for_inference(model) is model, "no autocast"
    with torch.no_grad(), short_numbers():
        assert for_inference(model.train()) is model, "dropout is wanted"
        assert for_inference(model.eval().bfloat16()) is model, "nothing is left to round"
        assert for_inference(encoder().to("meta")).device.type == "meta", "another device has its own way"


def test_copy_is_separate_from_the_model() -> None:
    model = encoder()
    before = set(model.state_dict())
    short = copy_of(model)
    assert short is not model
    assert copy_of(model) is short
    assert set(model.state_dict()) == before
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert {weight.dtype for weight in short.parameters()} == {torch.bfloat16}
    assert not any(weight.requires_grad for weight in short.parameters())
    assert copy_of(copy.deepcopy(model)) is not short, "another model has a copy of its own"


def test_copy_is_freed_with_its_model() -> None:
    gc.collect()
    before = len(inference_copy._COPIES)
    model = encoder()
    copy_of(model)
    assert len(inference_copy._COPIES) == before + 1
    del model
    gc.collect()
    assert len(inference_copy._COPIES) == before


def step(model: Any, optimizer: torch.optim.Optimizer) -> None:
    tokens, keep = texts()
    model.train()
    for_inference(model)(input_ids=tokens, attention_mask=keep.long()).last_hidden_state.square().sum().backward()
    optimizer.step()
    model.eval()


@pytest.mark.parametrize("way", ["fused", "foreach", "plain"])
@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.SGD])
def test_copy_is_updated_after_each_optimizer_step(kind: Any, way: str) -> None:
    """Fused optimisers too, which change weights without changing their version counters."""
    model = encoder()
    optimizer = kind(model.parameters(), lr=0.1, fused=way == "fused", foreach=way == "foreach")
    short = copy_of(model)
    for _ in range(2):
        before = [weight.clone() for weight in short.parameters()]
        step(model, optimizer)
        assert copy_of(model) is short
        assert is_rounded(short, model)
        assert any(not torch.equal(old, new) for old, new in zip(before, short.parameters(), strict=True))


def test_copy_is_updated_after_loading_or_replacing_weights() -> None:
    model, other = encoder(), encoder("bert")
    for weight in other.parameters():
        nn.init.normal_(weight)
    short = copy_of(model)
    model.load_state_dict(other.state_dict())
    assert is_rounded(copy_of(model), other)
    for weight in model.parameters():
        weight.data = weight.data + 1  # as when a model is moved to another device
    assert is_rounded(copy_of(model), model)
    model.load_state_dict(other.state_dict(), assign=True)
    assert is_rounded(copy_of(model), other)
    assert copy_of(model) is short
