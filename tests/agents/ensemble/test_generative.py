"""A frozen generator's encoder and a frozen classifier, followed by a trained decoder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.message import Message
from processes import SAMPLE, parlai_command, succeeded
from sample_models import evaluate, load, weights
from tiny_generators import write_language_model
from tiny_parts import chat, move, observed, train, train_base, train_classifier

from parlai_empathy.errors import OptionError

EXAMPLES = [
    {"text": "I failed my exam.\nOh no.", "labels": ["That is hard."]},
    {"text": "We won!", "labels": ["How great."]},
]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    train_base(folder / "base", "empathy:generative", dict_lower=False, text_truncate=40)
    train_classifier(folder / "classifier")
    return folder


def train_ensemble(model_file: Path, parts: Path, **options: Any) -> Path:
    named = {"base_model": str(parts / "base"), "classifier": str(parts / "classifier")}
    return train(
        model_file, "empathy:ensemble/generative", **{**named, "lr_scheduler": "none", "warmup_updates": -1, **options}
    )


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, parts: Path) -> Path:
    return train_ensemble(tmp_path_factory.mktemp("ensemble") / "model", parts, max_train_steps=10, learningrate=0.01)


def test_untrained_ensemble_scores_like_its_base(parts: Path, tmp_path: Path) -> None:
    path = train_ensemble(tmp_path / "model", parts, learningrate=0.0, weight_decay=0.0, max_train_steps=1)
    ensemble, base = evaluate(path), evaluate(parts / "base")
    for key in ("ppl", "token_acc", "avg_bleu"):
        assert float(ensemble[key]) == pytest.approx(float(base[key]), rel=1e-4), key


def test_only_decoder_and_projection_are_trained_and_saved(model_file: Path, parts: Path) -> None:
    own, saved = weights(parts / "base"), weights(model_file)
    assert not [name for name in saved if "encoder.layers" in name]
    decoder = [name for name in own if name.startswith("decoder.layers") or name == "embeddings.weight"]
    assert len(decoder) > 10
    assert all(not torch.equal(saved[f"writer.{name}"], own[name]) for name in decoder if "norm" not in name)
    assert not torch.equal(saved["projection.linear.weight"], torch.eye(16, 24))


def test_frozen_encoder_keeps_its_own_embeddings(model_file: Path, parts: Path) -> None:
    """The decoder's are trained, the encoder's are not."""
    agent, base = load(model_file), load(parts / "base")
    tokens = torch.tensor([agent.dict.txt2vec("I failed my exam .")])
    frozen = agent.base.model.encoder(tokens)[0]
    torch.testing.assert_close(frozen, base.model.eval().encoder(tokens)[0])
    assert not torch.equal(agent.model.writer.embeddings.weight, agent.base.model.embeddings.weight)


def test_encoder_states_project_base_states_and_classifier_features(model_file: Path) -> None:
    agent = load(model_file)
    agent.model.eval()
    batch = agent.batchify(observed(agent, EXAMPLES[0]))
    features = agent.classifier.features([EXAMPLES[0]["text"]])[0]  # type: ignore[list-item]
    states, mask = agent.model.encoder(*agent._model_input(batch))
    frozen, _ = agent.base.model.encoder(batch.text_vec)
    linear = agent.model.projection.linear
    for place in range(int(mask.sum())):
        expected = linear.weight @ torch.cat([frozen[0, place], features]) + linear.bias
        torch.testing.assert_close(states[0, place], expected)


def test_features_are_those_of_the_whole_context(model_file: Path) -> None:
    agent = load(model_file)
    for text in ("I failed my exam.", "I must tell my parents."):
        message = agent.observe(Message({"text": text, "eval_labels": ["Oh no."], "episode_done": False}))
        agent.self_observe(Message({"id": "agent", "text": "", "episode_done": False}))
    [found] = agent.batchify([message]).features
    context = "I failed my exam.\nOh no.\nI must tell my parents."
    torch.testing.assert_close(found, agent.classifier.features([context])[0])


def test_classifier_features_affect_the_loss(model_file: Path) -> None:
    agent = load(model_file)
    batch = agent.batchify(observed(agent, *EXAMPLES))
    with torch.no_grad():
        loss = agent.compute_loss(batch)
        agent._local_metrics.clear()
        batch.features = batch.features + 5
        assert float(agent.compute_loss(batch)) != float(loss)


def test_every_trainable_weight_gets_a_gradient(model_file: Path) -> None:
    """``DistributedDataParallel`` waits for all gradients."""
    agent = load(model_file, datatype="train")
    agent.update_params = lambda: None
    agent.batch_act(observed(agent, *EXAMPLES))
    for name, weight in agent.model.named_parameters():
        assert weight.grad is not None or not weight.requires_grad, name
    assert all(weight.grad is None for weight in agent.base.model.parameters())


def test_evaluation_metrics_do_not_depend_on_batch_size(model_file: Path) -> None:
    """Batches of more than 16 are split into parts of similar length, each with its own features."""
    one, many = (evaluate(model_file, batchsize=size) for size in (1, 50))
    for key in ("ppl", "token_acc", "avg_bleu"):
        assert float(one[key]) == pytest.approx(float(many[key]), rel=1e-4), key


@pytest.mark.parametrize("search", ["beam", "diversebeam", "nucleus"])
def test_every_search_method_gives_a_reply(model_file: Path, search: str) -> None:
    agent = load(model_file, inference=search, beam_size=5, interactive_mode=True)
    agent.observe(observed(agent, {"text": "I lost my job."})[0])
    assert isinstance(agent.act()["text"], str)
    assert len(chat(model_file, ["I lost my job.", ""])) == 2


def test_options_and_dictionary_come_from_the_base_model(model_file: Path, parts: Path, tmp_path: Path) -> None:
    agent, base = load(model_file), load(parts / "base")
    assert agent.dict.tok2ind == base.dict.tok2ind
    assert (agent.opt["dict_lower"], agent.opt["text_truncate"]) == (False, 40)
    with pytest.raises(OptionError, match=r"--n-layers 2: --base-model .* has 1; leave --n-layers out"):
        train_ensemble(tmp_path / "model", parts, n_layers=2)


def test_model_works_after_moving_it_and_deleting_its_parts(parts: Path, tmp_path: Path) -> None:
    shutil.copytree(parts, tmp_path / "parts")
    (tmp_path / "here").mkdir()
    path = train_ensemble(tmp_path / "here" / "model", tmp_path / "parts")
    before = evaluate(path)["ppl"]
    shutil.rmtree(tmp_path / "parts")
    assert float(evaluate(move(path, tmp_path / "there"))["ppl"]) == pytest.approx(float(before))


def test_training_resumes_from_checkpoint(parts: Path, tmp_path: Path) -> None:
    for steps in (2, 5):
        train_ensemble(tmp_path / "model", parts, max_train_steps=steps)
    assert json.loads((tmp_path / "model.trainstats").read_text())["parleys"] == 5


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_hugging_face_encoder_stays_frozen(parts: Path, tmp_path: Path, name: str) -> None:
    base = train_base(
        tmp_path / "base", "empathy:generative", hf_model=str(write_language_model(name, tmp_path / name)),
        max_train_steps=1, text_truncate=40, label_truncate=10,
    )  # fmt: skip
    path = train_ensemble(tmp_path / "model", parts, base_model=str(base), max_train_steps=2, learningrate=0.01)
    agent, own = load(path), load(base)
    ours, theirs = (each.model.language_model for each in (agent, own))
    shared = own.model.language_model.get_input_embeddings().weight
    frozen = [
        (mine, old)
        for mine, old in zip(ours.get_encoder().parameters(), theirs.get_encoder().parameters(), strict=True)
        if old is not shared
    ]
    assert frozen
    assert all(torch.equal(mine, old) for mine, old in frozen)
    assert not torch.equal(ours.get_input_embeddings().weight, shared)
    assert torch.equal(agent.base.model.language_model.get_input_embeddings().weight, shared)
    assert float(evaluate(path)["ppl"]) > 1


def test_decoder_only_base_model_is_rejected(parts: Path, tmp_path: Path) -> None:
    base = train_base(
        tmp_path / "base", "empathy:generative", hf_model=str(write_language_model("gpt2", tmp_path / "gpt2")),
        max_train_steps=1, text_truncate=40, label_truncate=10,
    )  # fmt: skip
    with pytest.raises(OptionError, match="decoder-only"):
        train_ensemble(tmp_path / "model", parts, base_model=str(base))


def test_retrieval_base_model_is_rejected(parts: Path, tmp_path: Path) -> None:
    base = train_base(tmp_path / "base", max_train_steps=1)
    with pytest.raises(OptionError, match="empathy:retrieval is another kind of model"):
        train_ensemble(tmp_path / "model", parts, base_model=str(base))


def test_two_process_training_report_matches_evaluation(parts: Path, tmp_path: Path) -> None:
    named = ("--base-model", parts / "base", "--classifier", parts / "classifier", "--skip-generation", "true")
    options = ("-bs", "32", "--num-epochs", "1", "-mf", "two")
    arguments = ("-m", "empathy:ensemble/generative", *SAMPLE, *named, *options)
    succeeded(parlai_command("multiprocessing_train", *arguments, "--distributed-world-size", "2", cwd=tmp_path))
    report = json.loads((tmp_path / "two.trainstats").read_text())["final_test_report"]
    assert report["ppl"] == pytest.approx(float(evaluate(tmp_path / "two")["ppl"]), rel=1e-3)
