"""Fingerprints of weights: equal for equal weights, different after any change."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from parlai_empathy.modules.encoders.biencoder import BiEncoder
from parlai_empathy.modules.fingerprint import weights_fingerprint


def small_model() -> BiEncoder:
    torch.manual_seed(2)
    return BiEncoder(5, 0, embedding_size=4, n_layers=1, n_heads=2, ffn_size=4, dropout=0.0, n_positions=3)


def test_equal_models_have_equal_fingerprints() -> None:
    first, second = small_model(), small_model()
    assert weights_fingerprint(first) == weights_fingerprint(second)


def test_changing_any_single_weight_changes_fingerprint() -> None:
    model = small_model()
    seen = {weights_fingerprint(model)}
    for values in model.state_dict().values():
        flat = values.view(-1)
        for place in (0, len(flat) - 1):
            before = flat[place].item()
            flat[place] = before + 1
            seen.add(weights_fingerprint(model))
            flat[place] = before
    # The shared embedding has three entries in the state dict, its own and one per tower, but is one tensor.
    tensors = {values.data_ptr() for values in model.state_dict().values()}
    assert len(seen) == 1 + 2 * len(tensors)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_fingerprint_supports_other_dtypes(dtype: torch.dtype) -> None:
    assert weights_fingerprint(small_model().to(dtype)) != weights_fingerprint(small_model())


def test_scalar_buffer_affects_fingerprint() -> None:
    model = nn.Module()
    model.register_buffer("scale", torch.tensor(1.0))
    before = weights_fingerprint(model)
    model.scale.fill_(2.0)
    assert weights_fingerprint(model) != before
