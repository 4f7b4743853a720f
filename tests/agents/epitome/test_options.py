"""Options of EPITOME's judge: presets and invalid values."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel

from parlai_empathy.agents.epitome.options import check
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.pretrained.hugging_face import MINILM


def parsed(*arguments: str) -> Opt:
    return TrainModel.setup_args().parse_args(["-t", "empathy:epitome", "-m", "empathy:epitome", *arguments])


# Sharma et al. 2020 and their code: RoBERTa-base, one encoder and model per mechanism, 64 tokens, first token's state.
PAPER = {
    "hf_model": "roberta-base",
    "responders": "apart",
    "pooling": "first",
    "max_tokens": 64,
    "dropout": 0.1,
    "rationale_weight": 0.5,
    "optimizer": "adamw",
    "learningrate": 2e-5,
    "lr_scheduler": "linear",
    "warmup_updates": -1,
    "batchsize": 32,
    "num_epochs": 4.0,
    "gradient_clip": 1.0,
}


def test_paper_preset_matches_the_paper() -> None:
    opt = parsed("--preset", "paper")
    assert {name: opt[name] for name in PAPER} == PAPER


def test_default_preset_uses_a_small_shared_encoder() -> None:
    opt = parsed()
    assert (opt["hf_model"], opt["responders"], opt["pooling"]) == (MINILM, "shared", "mean")
    assert opt["attend_padding"] is False
    assert opt["validation_metric"] == "macro_f1"


def test_explicit_options_override_the_preset() -> None:
    opt = parsed("--preset", "paper", "--learningrate", "1e-4", "--hf-model", "distilroberta-base")
    assert (opt["learningrate"], opt["hf_model"], opt["num_epochs"]) == (1e-4, "distilroberta-base", 4.0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"preset": "papers"}, "--preset papers: must be one of default, paper"),
        ({"responders": "own"}, "--responders own: must be one of shared, apart"),
        ({"pooling": "max"}, "--pooling max: must be one of mean, first"),
        (
            {"mechanisms": ["warmth"]},
            "--mechanisms warmth: name some of emotional_reactions, interpretations, explorations, each once",
        ),
        (
            {"mechanisms": ["explorations", "explorations"]},
            "--mechanisms explorations explorations: name some of "
            "emotional_reactions, interpretations, explorations, each once",
        ),
        ({"max_tokens": 0}, "--max-tokens 0: must be at least 4"),
        ({"dropout": 1.0}, "--dropout 1.0: must be at least 0 and below 1"),
        ({"dropout": -0.1}, "--dropout -0.1: must be at least 0 and below 1"),
        ({"rationale_weight": -1.0}, "--rationale-weight -1.0: must be at least 0"),
        ({"rationale_weight": float("nan")}, "--rationale-weight nan: must be at least 0"),
        ({"fp16": True}, "--fp16 true: judges do not support it; --precision bfloat16 is as fast"),
        ({"dynamic_batching": "full"}, "--dynamic-batching full: judges do not support it; use --batchsize"),
        ({"num_workers": 2}, "--num-workers 2: judges do not support it; leave it out"),
    ],
)
def test_invalid_options_raise_option_error(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(OptionError) as caught:
        check(Opt({**parsed(), **changes}))
    assert str(caught.value) == expected


def test_each_preset_passes_the_checks() -> None:
    for preset in ("default", "paper"):
        check(parsed("--preset", preset))
