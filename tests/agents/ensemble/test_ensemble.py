"""A frozen retrieval model and a frozen classifier, and the layers trained on them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.scripts.train_model import TrainModel
from processes import SAMPLE, parlai_command, succeeded
from sample_models import evaluate, load, weights
from tiny_judge import write_bert
from tiny_parts import chat, move, observed, train, train_base, train_classifier

from parlai_empathy.agents.retrieval.negatives import HardNegatives
from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError

PROTOCOLS = [f"p_at_{k}_100_{protocol}" for k in (1, 3, 10) for protocol in ("shuffled", "ordered", "inline")]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base model that has unusual settings, and a classifier."""
    folder = tmp_path_factory.mktemp("parts")
    train_base(
        folder / "base", dict_lower=False, text_truncate=40, history_size=3, temperature=0.2, num_epochs=3,
        max_train_steps=-1,
    )  # fmt: skip
    train_classifier(folder / "classifier")
    return folder


def train_ensemble(model_file: Path, parts: Path, **options: Any) -> Path:
    named = {"base_model": str(parts / "base"), "classifier": str(parts / "classifier")}
    return train(model_file, "empathy:ensemble", **{**named, "learningrate": 0.01, **options})


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, parts: Path) -> Path:
    return train_ensemble(tmp_path_factory.mktemp("ensemble") / "model", parts, num_epochs=3, max_train_steps=-1)


# --- what is taken over ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", [(), ("--preset", "default"), ("--encoder", "hf"), ("--encoder", "transformer")])
def test_training_defaults_are_the_ensembles_own(typed: tuple[str, ...]) -> None:
    opt = TrainModel.setup_args().parse_args(["-m", "empathy:ensemble", *typed])
    found = [opt[name] for name in ("batchsize", "learningrate", "optimizer", "lr_scheduler", "num_epochs")]
    plain = TrainModel.setup_args().parse_args(["-m", "empathy:ensemble"])
    assert found[:3] == [512, 1e-4, "adamw"]
    assert found == [plain[name] for name in ("batchsize", "learningrate", "optimizer", "lr_scheduler", "num_epochs")]


def test_untrained_ensemble_scores_like_its_base(parts: Path, tmp_path: Path) -> None:
    ensemble = evaluate(train_ensemble(tmp_path / "model", parts, learningrate=0.0, max_train_steps=1))
    base = evaluate(parts / "base")
    for key in [*PROTOCOLS, "mrr", "loss", "avg_bleu"]:
        assert float(ensemble[key]) == pytest.approx(float(base[key]), rel=1e-4), key


def test_paper_preset_starts_with_nonzero_feature_weights(parts: Path, tmp_path: Path) -> None:
    path = train_ensemble(tmp_path / "model", parts, learningrate=0.0, max_train_steps=1, preset="paper")
    assert weights(path)["contexts.linear.weight"][:, 16:].abs().min() > 0


def test_options_and_dictionary_come_from_the_base_model(model_file: Path, parts: Path) -> None:
    agent, base = load(model_file), load(parts / "base")
    for name in ("dict_lower", "text_truncate", "history_size", "temperature", "embedding_size", "n_layers"):
        assert agent.opt[name] == base.opt[name], name
    assert agent.dict.tok2ind == base.dict.tok2ind


def test_leftover_dictionary_file_is_ignored(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "model.dict").write_text("nonsense\t3\n")
    path = train_ensemble(tmp_path / "model", parts, max_train_steps=1)
    assert load(path).dict.tok2ind == load(parts / "base").dict.tok2ind


def test_option_conflicting_with_base_model_raises_option_error(parts: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"--text-truncate 30: --base-model .*base has 40; leave --text-truncate out"):
        train_ensemble(tmp_path / "model", parts, text_truncate=30)


# --- what learns, and what does not ----------------------------------------------------------------------------------


def test_only_projections_are_trained_and_saved(model_file: Path) -> None:
    saved = weights(model_file)
    sides = ("contexts.linear", "replies.linear")
    assert set(saved) == {f"{side}.{kind}" for side in sides for kind in ("weight", "bias")}
    start = torch.eye(16, 16 + 8)
    for side in sides:
        assert not torch.equal(saved[f"{side}.weight"][:, :16], start[:, :16])
        assert saved[f"{side}.weight"][:, 16:].abs().max() > 0


@pytest.mark.parametrize(("name", "ending"), [("base", "base"), ("classifier", "classifier")])
def test_base_and_classifier_weights_stay_frozen(model_file: Path, parts: Path, name: str, ending: str) -> None:
    own, kept = weights(parts / name), weights(Path(f"{model_file}.{ending}") / "model")
    assert own.keys() == kept.keys()
    assert all(torch.equal(own[key], kept[key]) for key in own)


def test_training_lowers_the_loss(parts: Path, tmp_path: Path) -> None:
    path = train_ensemble(tmp_path / "model", parts, num_epochs=10, max_train_steps=-1, log_every_n_steps=10)
    reports = json.loads(Path(f"{path}.trainstats").read_text())["train_reports"]
    assert reports[-1]["mean_loss"] < reports[0]["mean_loss"] - 0.1


def test_each_text_is_encoded_once(parts: Path, model_file: Path, monkeypatch: Any) -> None:
    agent = load(model_file)
    counts = {"contexts": 0, "features": 0, "replies": 0}

    def counted(owner: Any, method: str, name: str) -> None:
        real = getattr(owner, method)

        def call(first: Any) -> Any:
            counts[name] += len(first.text_vec) if name == "contexts" else len(first)
            return real(first)

        monkeypatch.setattr(owner, method, call)

    counted(agent.base, "encode_contexts", "contexts")
    counted(agent.base, "_encode_replies", "replies")
    counted(agent.classifier, "features", "features")
    messages = [{"text": f"text {i % 3}", "labels": [f"reply {i % 2}"]} for i in range(6)]
    for _ in range(2):
        batch = agent.batchify(observed(agent, *messages))
        agent.context_inputs(batch)
        agent.reply_inputs(batch, ())
    assert counts == {"contexts": 3, "replies": 2, "features": 5}


def test_encodings_project_base_and_classifier_features(model_file: Path) -> None:
    agent = load(model_file)
    model = agent.model.eval()
    message = {"text": "I failed my exam.\nOh no.", "eval_labels": ["They will understand."]}
    batch = agent.batchify(observed(agent, message))
    with torch.no_grad():
        base = agent.base.model.contexts(torch.tensor([agent.dict.txt2vec(message["text"])]))
        features = agent.classifier.features([message["text"]])
        row = model.contexts.linear(torch.cat([base, features], dim=1))
        expected = row / row.norm() * 0.2**-0.5
        torch.testing.assert_close(agent.encode_contexts(batch), expected)
        base = agent.base.model.replies(torch.tensor([agent.dict.txt2vec(message["eval_labels"][0])]))
        row = model.replies.linear(torch.cat([base, agent.classifier.features(message["eval_labels"])], dim=1))
        expected = row / row.norm() * 0.2**-0.5
        torch.testing.assert_close(agent.encode_true_replies(batch), expected)
        torch.testing.assert_close(agent._encode_replies(message["eval_labels"]), expected)


def test_same_seed_gives_same_weights(parts: Path, tmp_path: Path) -> None:
    one, two = (weights(train_ensemble(tmp_path / name, parts, preset="paper")) for name in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("options", [{"gradient_cache": 8}, {"hard_negatives": 2}, {"symmetric_loss": True}])
def test_retrieval_training_options_apply_to_the_ensemble(parts: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    plain = weights(train_ensemble(tmp_path / "plain", parts))
    changed = weights(train_ensemble(tmp_path / "changed", parts, **options))
    same = all(torch.allclose(plain[name], changed[name], atol=1e-4) for name in plain)
    assert same is ("gradient_cache" in options)


# --- use -------------------------------------------------------------------------------------------------------------


def test_evaluation_metrics_do_not_depend_on_batch_size(model_file: Path) -> None:
    report, other = evaluate(model_file), evaluate(model_file, batchsize=7)
    for key in [*PROTOCOLS, "avg_bleu", "mrr"]:
        assert float(report[key]) == pytest.approx(float(other[key])), key


@pytest.mark.parametrize("source", ["batch", "fixed"])
def test_batch_and_fixed_candidates_can_be_ranked(model_file: Path, source: str) -> None:
    assert float(evaluate(model_file, eval_candidates=source, datatype="valid")["exs"]) == 133


@pytest.mark.parametrize("message", ["I lost my job today.", "", "\n", "x" * 50_000, "😢"])
def test_every_message_gets_a_reply_from_the_pool(model_file: Path, message: str) -> None:
    assert chat(model_file, [message])[0] in load(model_file).pool().texts


def test_pool_is_rebuilt_for_another_base_model_or_classifier(model_file: Path) -> None:
    """The trained layers alone do not decide a reply's vector."""
    agent = load(model_file)
    before = agent.pool_fingerprint()
    with torch.no_grad():
        next(agent.base.model.parameters()).add_(1)
    assert agent.pool_fingerprint() != before
    before = agent.pool_fingerprint()
    agent.classifier.fingerprint = "another"
    assert agent.pool_fingerprint() != before


def test_hard_negatives_are_mined_again_for_another_base_model(parts: Path, tmp_path: Path) -> None:
    """As if a training had been killed before its first checkpoint. New layers are equal for all base models."""
    other = train_base(tmp_path / "other", seed=7)
    found = []
    for base in (parts / "base", other):
        folder = tmp_path / "killed"
        path = train_ensemble(folder / "model", parts, base_model=str(base), hard_negatives=1, max_train_steps=1)
        found.append(HardNegatives.load(f"{path}.negatives"))
        kept = Path(f"{path}.negatives").read_bytes()
        shutil.rmtree(folder)
        folder.mkdir()
        Path(f"{path}.negatives").write_bytes(kept)
    assert found[0].places != found[1].places


def test_missing_pool_is_built_for_chat(parts: Path, tmp_path: Path) -> None:
    path = train_ensemble(tmp_path / "model", parts, max_train_steps=1)
    Path(f"{path}.pool").unlink()
    assert chat(path, ["Hello."])[0]


def test_model_works_after_moving_it_and_deleting_its_parts(parts: Path, tmp_path: Path) -> None:
    shutil.copytree(parts, tmp_path / "parts")
    (tmp_path / "here").mkdir()
    path = train_ensemble(tmp_path / "here" / "model", tmp_path / "parts")
    before = evaluate(path)
    shutil.rmtree(tmp_path / "parts")
    after = evaluate(move(path, tmp_path / "there"))
    assert float(after["mrr"]) == pytest.approx(float(before["mrr"]))


def test_training_resumes_from_checkpoint(parts: Path, tmp_path: Path) -> None:
    for steps in (2, 5):
        train_ensemble(tmp_path / "model", parts, max_train_steps=steps)
    assert json.loads((tmp_path / "model.trainstats").read_text())["parleys"] == 5


def test_base_model_with_pretrained_encoder_is_supported(parts: Path, tmp_path: Path) -> None:
    bert = write_bert(tmp_path / "bert")
    base = train_base(
        tmp_path / "base", encoder="hf", hf_model=str(bert), text_truncate=60, label_truncate=60, pool_max_tokens=-1,
        max_train_steps=1,
    )  # fmt: skip
    named = {"base_model": str(base), "classifier": str(parts / "classifier"), "pool_max_tokens": -1}
    path = train(tmp_path / "model", "empathy:ensemble", **named, learningrate=0.0, max_train_steps=1)
    shutil.rmtree(bert)
    assert float(evaluate(path)["mrr"]) == pytest.approx(float(evaluate(base)["mrr"]), rel=1e-3)


def test_two_process_training_report_matches_evaluation(parts: Path, tmp_path: Path) -> None:
    named = ("--base-model", parts / "base", "--classifier", parts / "classifier")
    arguments = ("-m", "empathy:ensemble", *SAMPLE, *named, "-bs", "32", "--num-epochs", "1", "-mf", "two")
    succeeded(parlai_command("multiprocessing_train", *arguments, "--distributed-world-size", "2", cwd=tmp_path))
    report = json.loads((tmp_path / "two.trainstats").read_text())["final_test_report"]
    assert report["mrr"] == pytest.approx(float(evaluate(tmp_path / "two")["mrr"]), rel=1e-3)


# --- bad input -------------------------------------------------------------------------------------------------------


def failure(model_file: Path, parts: Path, **options: Any) -> EmpathyError:
    with pytest.raises(EmpathyError) as caught:
        train_ensemble(model_file, parts, **options)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_model": ""}, "--base-model is missing: name a trained model of empathy:retrieval"),
        ({"classifier": ""}, "--classifier is missing"),
        ({"candidates": "inline"}, "--candidates inline"),
    ],
)
def test_invalid_options_raise_one_line_error(parts: Path, tmp_path: Path, options: dict[str, Any], words: str) -> None:
    assert words in str(failure(tmp_path / "model", parts, **options))


def test_missing_base_model_raises_model_file_error(parts: Path, tmp_path: Path) -> None:
    error = failure(tmp_path / "model", parts, base_model=str(tmp_path / "nothing"))
    assert isinstance(error, ModelFileError)
    assert "nothing and nothing.opt must exist" in str(error)


@pytest.mark.parametrize("model", ["empathy:generative", "empathy:multitask"])
def test_base_model_of_wrong_kind_is_rejected(parts: Path, tmp_path: Path, model: str) -> None:
    base = train_base(tmp_path / "other", model, max_train_steps=1)
    error = failure(tmp_path / "model", parts, base_model=str(base))
    assert f"{model} is another kind of model; name a trained model of empathy:retrieval" in str(error)


def test_swapped_base_model_and_classifier_are_rejected(parts: Path, tmp_path: Path) -> None:
    error = failure(tmp_path / "model", parts, base_model=str(parts / "classifier"))
    assert "empathy:fasttext is another kind of model" in str(error)
    error = failure(tmp_path / "model", parts, classifier=str(parts / "base"))
    assert "empathy:retrieval is not a classifier" in str(error)
