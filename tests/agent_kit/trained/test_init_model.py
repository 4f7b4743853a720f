"""Initialising from another model: it must exist, and its options, dictionary and weights are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.script import superscript_main
from parlai.core.torch_agent import TorchAgent
from parlai.scripts.train_model import TrainLoop, TrainModel
from published_checkpoints import PIECES, bert_state, transformer_state, word_dict, write
from sample_models import load
from tiny_generators import write_language_model
from tiny_judge import train_judge
from tiny_parts import train, train_base
from torch import nn

from parlai_empathy.agent_kit.trained.init_model import check_init_model, init_weights, keep_options
from parlai_empathy.agents.generative import options as generative
from parlai_empathy.agents.retrieval import options as retrieval
from parlai_empathy.errors import ModelFileError, OptionError


class Net(nn.Module):
    """A model with a body and a head."""

    def __init__(self, body: int = 3, outputs: int = 1) -> None:
        super().__init__()
        self.body = nn.Linear(2, body)
        self.head = nn.Linear(body, outputs)


def is_equal(net: Net, other: Net, part: str = "") -> bool:
    weights, others = net.state_dict(), other.state_dict()
    return all(torch.equal(weights[name], others[name]) for name in weights if name.startswith(part))


# --- the other model must exist --------------------------------------------------------------------------------------


def test_missing_init_model_raises_error_unless_resuming() -> None:
    with pytest.raises(ModelFileError, match=r"^--init-model no/where: there is no such file$"):
        check_init_model({"init_model": "no/where"}, None, TorchAgent)
    check_init_model({"init_model": "no/where"}, "model", TorchAgent)  # a resumed training has its own model
    check_init_model({"init_model": None}, None, TorchAgent)
    check_init_model({}, None, TorchAgent)


@pytest.mark.parametrize("model", ["retrieval", "generative", "multitask", "text_classifier"])
def test_agents_reject_missing_init_model(tmp_path: Path, model: str) -> None:
    train = train_judge if model == "text_classifier" else train_base
    with pytest.raises(ModelFileError, match=f"^--init-model {tmp_path}/none: there is no such file$"):
        train(tmp_path / "model", model=f"empathy:{model}", init_model=str(tmp_path / "none"))
    assert not list(tmp_path.rglob("model.opt"))  # nothing was trained


def test_agents_reject_init_model_of_another_kind(tmp_path: Path) -> None:
    train_base(tmp_path / "retrieval", model="empathy:retrieval")
    line = f"^{tmp_path}/retrieval is a model of empathy:retrieval, whose weights do not fit"
    with pytest.raises(ModelFileError, match=line):
        train_base(tmp_path / "model", model="empathy:generative", init_model=str(tmp_path / "retrieval"))
    with pytest.raises(
        ModelFileError, match=r"not fit empathy:generative: name another file, or -m empathy:retrieval$"
    ):
        load(tmp_path / "retrieval", model="empathy:generative")
    train_base(tmp_path / "other", model="empathy:multitask", init_model=str(tmp_path / "retrieval"))


# --- the other model's weights ---------------------------------------------------------------------------------------


def test_all_weights_are_copied_from_matching_model() -> None:
    net, other = Net(), Net()
    init_weights(net, other.state_dict(), "m")
    assert is_equal(net, other)


def test_head_with_different_outputs_is_not_copied() -> None:
    net, other = Net(outputs=5), Net()
    head = net.head.weight.clone()
    init_weights(net, other.state_dict(), "m")
    assert is_equal(net.body, other.body)  # type: ignore[arg-type]
    assert torch.equal(net.head.weight, head)


def test_head_with_different_inputs_is_not_copied() -> None:
    """Its bias would fit, but its weights do not."""
    net, other = Net(), Net()
    other.head = nn.Linear(9, 1)
    bias = net.head.bias.clone()
    init_weights(net, other.state_dict(), "m")
    assert is_equal(net.body, other.body)  # type: ignore[arg-type]
    assert torch.equal(net.head.bias, bias)


@pytest.mark.parametrize(
    ("net", "weights", "name"),
    [
        (Net(), Net(body=4).state_dict(), "body.bias"),  # a different size
        (Net(), {**Net().state_dict(), "extra": torch.zeros(1)}, "extra"),
        (Net(), {name: value for name, value in Net().state_dict().items() if name != "body.weight"}, "body.weight"),
        (Net(), {}, "body.bias"),
    ],
)
def test_mismatched_weights_raise_model_file_error(net: Net, weights: dict[str, torch.Tensor], name: str) -> None:
    with pytest.raises(ModelFileError, match=rf"^--init-model a/m is another kind of model: {name} does not fit$"):
        init_weights(net, weights, "a/m")


# --- the other model's options ---------------------------------------------------------------------------------------


def test_options_come_from_init_model_unless_given(tmp_path: Path) -> None:
    other, model = tmp_path / "other", tmp_path / "model"
    Path(f"{other}.opt").write_text(json.dumps({"size": 3, "kind": "a", "loss": "mse"}))
    given = {"init_model": str(other), "model_file": str(model), "size": 100, "kind": "b", "new": 1, "loss": "ce"}

    def kept(*tokens: str, **changes: Any) -> dict[str, Any]:
        opt = Opt({**given, **changes})
        keep_options(opt, ("size", "kind", "new"), tokens)
        return {name: opt[name] for name in ("size", "kind", "new", "loss")}

    unchanged = {"size": 100, "kind": "b", "new": 1, "loss": "ce"}
    assert kept() == {**unchanged, "size": 3, "kind": "a"}
    assert kept(override={"size": 100}) == {**unchanged, "kind": "a"}
    assert kept("size") == {**unchanged, "size": 3, "kind": "a"}
    assert kept("size", override={"size": 3}, size=3) == {**unchanged, "size": 3, "kind": "a"}
    line = rf"^--size 100: --init-model {other} has 3; leave --size out$"
    with pytest.raises(OptionError, match=line):
        kept("size", override={"size": 100})
    assert kept(init_model=None) == unchanged
    assert kept(init_model="elsewhere") == unchanged
    model.touch()
    assert kept() == unchanged, "ParlAI has read the model's own options by then"


@pytest.mark.parametrize(
    ("model", "theirs", "expected"),
    [
        ("retrieval", {"encoder": "hf"}, {"learningrate": 1e-4, "optimizer": "adamw", "num_epochs": 4.0}),
        ("multitask", {"encoder": "hf"}, {"learningrate": 1e-4, "optimizer": "adamw", "num_epochs": 4.0}),
        ("generative", {"hf_model": "some/t5"}, {"learningrate": 5e-5, "batchsize": 16, "num_epochs": 3.0}),
        ("multitask/generative", {"hf_model": None}, {"learningrate": 1e-3, "batchsize": 32, "num_epochs": 12.0}),
    ],
)
def test_defaults_suit_pretrained_model_of_init_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, theirs: dict[str, Any], expected: dict[str, Any]
) -> None:
    """A rate for random weights would spoil pretrained ones."""
    monkeypatch.setattr(TrainModel, "run", lambda script: script.opt)
    first = tmp_path / "first"
    first.touch()
    unset = dict.fromkeys((generative if "generative" in model else retrieval).OF_TOKENS)
    saved = {**unset, "model": f"empathy:{model}", "preset": "paper", **theirs}
    Path(f"{first}.opt").write_text(json.dumps(saved))
    command = ["-t", "empathy:empathetic_dialogues", "-m", f"empathy:{model}", "--init-model", str(first)]
    for opt in (TrainModel.setup_args().parse_args(command), superscript_main(["train_model", *command])):
        assert {name: opt[name] for name in [*expected, *theirs]} == {**expected, **theirs}
        assert opt["preset"] == "default"
    assert superscript_main(["train_model", *command, "-lr", "0.5"])["learningrate"] == 0.5


# --- resuming from a checkpoint --------------------------------------------------------------------------------------

SHORT = {"precision": "float32", "text_truncate": 16, "label_truncate": 16, "pool_max_tokens": -1}


def to_begin_with(kind: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return a file to initialise from, and the options of a training that does."""
    retrieval = {"model": "empathy:retrieval", **SHORT}
    if kind == "a published Transformer":
        return write(folder / "paper.mdl", transformer_state()), retrieval
    if kind == "a published BERT":
        return write(folder / "paper.mdl", bert_state()[0], word_dict(PIECES), model="bert"), retrieval
    if kind == "cased words":
        base = train_base(folder / "base", "empathy:generative", dict_lower=False, skip_generation=True)
        return base, {"model": "empathy:generative", "skip_generation": True}
    write_language_model("gpt2", folder / "gpt2")
    brief = {**SHORT, "model": "empathy:generative", "skip_generation": True}
    del brief["pool_max_tokens"]
    return train_base(folder / "base", hf_model=str(folder / "gpt2"), **brief), brief


@pytest.mark.parametrize(
    "kind", ["a published Transformer", "a published BERT", "cased words", "a Hugging Face generator"]
)
def test_interrupted_training_resumes_with_options_of_init_model(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first model is saved, only the checkpoint has the options taken from the other one."""
    first, options = to_begin_with(kind, tmp_path)
    command = {
        **{"task": "empathy:empathetic_dialogues", "edition": "sample", "loglevel": "error", "seed": 1, "batchsize": 8},
        **{"max_train_steps": 3, "init_model": str(first), "model_file": str(tmp_path / "model"), **options},
    }
    TrainModel.main(**{**command, "model_file": str(tmp_path / "uninterrupted")})
    save = TrainLoop.save_model

    def save_and_end(self: TrainLoop, suffix: str | None = None) -> None:
        save(self, suffix)
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(TrainLoop, "save_model", save_and_end)
        with pytest.raises(KeyboardInterrupt):
            TrainModel.main(**command, save_every_n_secs=0.001)
    assert (tmp_path / "model.checkpoint").exists()
    assert not (tmp_path / "model").exists()
    TrainModel.main(**command)
    one, other = load(tmp_path / "uninterrupted"), load(tmp_path / "model")
    assert one.dict.txt2vec("Hello There") == other.dict.txt2vec("Hello There")
    assert one.model.state_dict().keys() == other.model.state_dict().keys()
    names = ("dict_lower", "encoder", "embedding_size", "score", "pooling", "special_tokens")
    assert [one.opt.get(name) for name in names] == [other.opt.get(name) for name in names]


# --- the other model's way of reading text ---------------------------------------------------------------------------


def test_text_options_come_from_init_model(tmp_path: Path) -> None:
    first = train_base(tmp_path / "first", dict_lower=False, score="dot", truncate_context="newest")
    second = load(train_base(tmp_path / "second", init_model=str(first), preset="default"))
    assert [second.opt[name] for name in ("dict_lower", "score", "truncate_context")] == [False, "dot", "newest"]
    unknown = second.dict[second.dict.unk_token]
    assert unknown not in second.dict.txt2vec("I am so sorry")


def test_pooling_of_judge_comes_from_init_model(tmp_path: Path) -> None:
    first = train_judge(tmp_path / "first", pooling="first")
    second = load(train_judge(tmp_path / "second", init_model=str(first)))
    assert second.opt["pooling"] == "first"


def test_sizes_of_judge_come_from_init_model(tmp_path: Path) -> None:
    brief = {"task": "empathy:humod:Relevance", "precision": "float32"}
    first = train(tmp_path / "first", "empathy:han", hidden_size=6, embedding_size=8, **brief)
    second = load(train(tmp_path / "second", "empathy:han", init_model=str(first), **brief))
    assert (second.opt["hidden_size"], second.opt["embedding_size"]) == (6, 8)
