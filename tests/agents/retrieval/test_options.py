"""Presets, the command line's precedence over them, and invalid combinations."""

from __future__ import annotations

import math
from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.core.script import superscript_main
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.train_model import TrainModel

from parlai_empathy.agents.retrieval import options
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.pretrained.hugging_face import MINILM

TASK = ["--task", "empathy:empathetic_dialogues", "--edition", "sample", "--model", "empathy:retrieval"]


def parsed(*arguments: str, script: Any = TrainModel) -> Opt:
    return script.setup_args().parse_args([*TASK, *arguments])  # type: ignore[no-any-return]


# From the paper and its code (Rashkin et al. 2019, section 4.1 and appendix); no clipping and no schedule.
PAPERS = {
    "embedding_size": 300,
    "n_layers": 4,
    "n_heads": 6,
    "ffn_size": 1200,
    "dropout": 0.0,
    "score": "dot",
    "optimizer": "adamax",
    "learningrate": 8e-4,
    "lr_scheduler": "none",
    "gradient_clip": -1.0,
    "batchsize": 512,
    "num_epochs": 10.0,
    "candidates": "batch",
    "history_size": 4,
    "text_truncate": 100,
    "label_truncate": 100,
    "truncate_context": "newest",
    "validation_metric": "loss",
    "validation_every_n_epochs": 1.0,
    "pool_max_tokens": 20,
    "dict_lower": False,
}
# What differs for training without pretraining on a billion pairs from Reddit.
OURS = {
    "n_layers": 1,
    "batchsize": 128,
    "dropout": 0.1,
    "score": "cosine",
    "dict_lower": True,
    "truncate_context": "oldest",
    "validation_metric": "mrr",
}


def subset(opt: Opt, names: dict[str, Any]) -> dict[str, Any]:
    return {name: opt[name] for name in names}


def test_paper_preset_matches_the_paper() -> None:
    assert subset(parsed("--preset", "paper"), PAPERS) == PAPERS


@pytest.mark.parametrize("arguments", [[], ["--preset", "default"]], ids=["none given", "default"])
def test_default_preset_differs_from_paper_only_in_known_options(arguments: list[str]) -> None:
    assert subset(parsed(*arguments), PAPERS) == PAPERS | OURS


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["-bs", "7"], "batchsize", 7),
        (["-lr", "0.5"], "learningrate", 0.5),
        (["-opt", "sgd"], "optimizer", "sgd"),
        (["--dropout", "0.3"], "dropout", 0.3),
        (["--dict-lower", "false"], "dict_lower", False),
        (["--dict-lower", "true"], "dict_lower", True),
        (["-vmt", "hits@1"], "validation_metric", "hits@1"),
        (["--truncate-context", "newest"], "truncate_context", "newest"),
        (["--score", "dot"], "score", "dot"),
        (["-eps", "2"], "num_epochs", 2.0),
        (["-histsz", "-1"], "history_size", -1),
    ],
)
def test_explicit_options_override_the_preset(preset: str, arguments: list[str], name: str, value: object) -> None:
    assert parsed("--preset", preset, *arguments)[name] == value


def test_preset_works_through_the_parlai_command(monkeypatch: pytest.MonkeyPatch) -> None:
    # `parlai train_model` parses differently from the script itself.
    monkeypatch.setattr(TrainModel, "run", lambda script: script.opt)
    opt = superscript_main(["train_model", *TASK, "--preset", "paper", "-bs", "7"])
    assert subset(opt, PAPERS) == PAPERS | {"batchsize": 7}


def test_preset_works_from_python() -> None:
    opt = TrainModel.setup_args().parse_kwargs(model="empathy:retrieval", preset="paper", batchsize=7)
    assert subset(opt, PAPERS) == PAPERS | {"batchsize": 7}


def test_preset_names_are_training_options() -> None:
    opt = parsed()
    for presets in options.PRESETS.values():
        assert all(preset.keys() <= opt.keys() for preset in presets.values())


# BERT's options, from the paper's appendix and code (Rashkin et al. 2019).
PAPERS_BERT = {
    "encoder": "hf",
    "hf_model": "bert-base-cased",
    "towers": 2,
    "pooling": "first",
    "projection": 300,
    "score": "dot",
    "symmetric_loss": False,
    "optimizer": "adamax",
    "learningrate": 1e-5,
    "lr_scheduler": "none",
    "gradient_clip": -1.0,
    "batchsize": 256,
    "num_epochs": 100.0,
    "validation_patience": 10,
    "truncate_context": "newest",
    "validation_metric": "loss",
    "precision": "auto",
}


@pytest.mark.parametrize(
    "arguments", [["--encoder", "hf", "--preset", "paper"], ["--preset", "paper", "--encoder", "hf"]]
)
def test_paper_preset_of_pretrained_encoders_matches_the_paper(arguments: list[str]) -> None:
    assert subset(parsed(*arguments), PAPERS_BERT) == PAPERS_BERT
    assert parsed(*arguments, "--towers", "1", "-lr", "0.5")["towers"] == 1


def test_default_preset_of_pretrained_encoders() -> None:
    opt = parsed("--encoder", "hf")
    assert (opt["hf_model"], opt["towers"], opt["pooling"], opt["projection"]) == (MINILM, 1, "mean", 0)
    assert (opt["optimizer"], opt["symmetric_loss"], opt["score"]) == ("adamw", True, "cosine")


@pytest.mark.parametrize(("preset", "ours"), [("default", True), ("paper", False)])
def test_later_preset_replaces_all_values_of_an_earlier_one(preset: str, ours: bool) -> None:
    # ParlAI parses several times: each choice on the command line sets defaults in turn.
    for encoder, presets in options.PRESETS.items():
        opt = parsed("--encoder", "hf", "--preset", "default", "--encoder", encoder, "--preset", preset)
        expected = presets[preset]
        differing = {name for name in expected if opt[name] != expected[name]} - {"validation_cutoff"}
        assert differing == set()
        assert math.isnan(opt["validation_cutoff"])
    assert (parsed("--encoder", "hf", "--preset", preset)["symmetric_loss"] is True) == ours


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_chat_uses_batch_size_one(preset: str) -> None:
    opt = parsed("--preset", preset, script=Interactive)
    assert opt["batchsize"] == 1
    assert opt["truncate_context"] == {"default": "oldest", "paper": "newest"}[preset]


def test_evaluation_gets_no_training_loop_options() -> None:
    opt = parsed("--preset", "paper", script=EvalModel)
    assert opt["batchsize"] == 512
    assert "num_epochs" not in opt


def test_unknown_preset_is_rejected_by_the_parser(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--preset", "papers")
    assert "invalid choice: 'papers'" in capsys.readouterr().err


# --- values that cannot work -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_each_preset_passes_the_checks(preset: str) -> None:
    options.check(parsed("--preset", preset))


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--n-heads", "7"], ["--n-heads 7", "--embedding-size 300"]),
        (["--embedding-size", "50"], ["--n-heads 6", "--embedding-size 50"]),
        (["--n-heads", "0"], ["--n-heads 0"]),
        (["--n-heads", "-2"], ["--n-heads -2"]),
        (["--embedding-size", "0"], ["--embedding-size 0"]),
        (["--embedding-size", "-6"], ["--embedding-size -6"]),
        (["--n-layers", "-1"], ["--n-layers -1"]),
        (["--dropout", "1.5"], ["--dropout 1.5", "0 and 1"]),
        (["--dropout", "-0.1"], ["--dropout -0.1", "0 and 1"]),
        (["--temperature", "0"], ["--temperature 0.0", "above 0"]),
        (["--temperature", "-1"], ["--temperature -1.0", "above 0"]),
        (["--encoder", "hf", "--projection", "-1"], ["--projection -1", "at least 0"]),
        (["--hard-negatives", "-1"], ["--hard-negatives -1", "at least 0"]),
        (["--gradient-cache", "-1"], ["--gradient-cache -1", "at least 0"]),
        (["--topk", "0"], ["--topk 0", "at least 1"]),
        (["--cap-num-predictions", "0"], ["--cap-num-predictions 0", "at least 1"]),
        (["--text-truncate", "0"], ["--text-truncate 0", "1 and --n-positions 1000"]),
        (["--text-truncate", "-1"], ["--text-truncate -1", "1 and --n-positions 1000"]),
        (["--text-truncate", "1001"], ["--text-truncate 1001", "--n-positions 1000"]),
        (["--label-truncate", "0"], ["--label-truncate 0", "--n-positions 1000"]),
        (["--candidates", "fixed"], ["--candidates fixed", "batch or inline"]),
        (["--eval-candidates", "batch-all-cands"], ["--eval-candidates batch-all-cands", "inline, batch or fixed"]),
        (["--interactive-candidates", "vocab"], ["--interactive-candidates vocab", "fixed or inline"]),
        (["--n-positions", "99"], ["--text-truncate 100", "--n-positions 99"]),
    ],
)
def test_invalid_options_raise_option_error(arguments: list[str], parts: list[str]) -> None:
    with pytest.raises(OptionError) as caught:
        options.check(parsed(*arguments))
    message = str(caught.value)
    assert "\n" not in message
    assert "must" in message
    for part in parts:
        assert part in message


def test_options_of_the_other_encoder_raise_option_error() -> None:
    for arguments in (["--dropout", "0.3"], ["--n-layers", "2"], ["--vectors-file", "v.txt"]):
        options.check(parsed(*arguments))
        with pytest.raises(OptionError, match=f"^{' '.join(arguments)}: --encoder hf has its own; leave it out$"):
            options.check(parsed("--encoder", "hf", *arguments))
    for arguments in (["--hf-model", "x"], ["--towers", "2"], ["--pooling", "first"], ["--projection", "9"]):
        options.check(parsed("--encoder", "hf", *arguments))
        with pytest.raises(
            OptionError, match=f"^{' '.join(arguments)}: only for --encoder hf; add that, or leave it out$"
        ):
            options.check(parsed(*arguments))


def test_fp16_raises_option_error() -> None:
    with pytest.raises(
        OptionError, match=r"^--fp16 true: retrievers do not support it; --precision bfloat16 is as fast$"
    ):
        options.check(parsed("--fp16", "true"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--gradient-cache", "8", "--update-freq", "2"],
        ["--candidates", "inline", "--hard-negatives", "1"],
        ["--candidates", "inline", "--gradient-cache", "8"],
        ["--candidates", "inline", "--symmetric-loss", "true"],
    ],
)
def test_incompatible_options_raise_option_error(arguments: list[str]) -> None:
    with pytest.raises(OptionError) as caught:
        options.check(parsed(*arguments))
    assert arguments[2] in str(caught.value) or arguments[0] in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--embedding-size", "50", "--n-heads", "5"],
        ["--n-heads", "1"],
        ["--n-layers", "1"],
        ["--dropout", "0"],
        ["--text-truncate", "1000"],
        ["--text-truncate", "1", "--label-truncate", "1", "--n-positions", "1"],
    ],
)
def test_values_at_the_limits_are_accepted(arguments: list[str]) -> None:
    options.check(parsed(*arguments))


def test_training_with_batch_size_one_requires_other_negatives(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match=r"^--batchsize 1: .* use at least 2$"):
        options.check_training(parsed("-bs", "1"))
    options.check(parsed("-bs", "1"))  # only required for training
    for arguments in (["-bs", "2"], ["-bs", "1", "--hard-negatives", "1"], ["-bs", "1", "--dynamic-batching", "full"]):
        options.check_training(parsed(*arguments))
    monkeypatch.setattr(options, "num_workers", lambda: 2)
    options.check_training(parsed("-bs", "1"))
