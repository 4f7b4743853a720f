"""The agent on a pretrained encoder: a BERT with random weights, briefly trained on the sample."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from parlai.core.message import Message
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from sample_models import load, weights

from parlai_empathy.errors import ModelFileError, OptionError, TrainingError
from parlai_empathy.metrics.precision_at_k import key

TASK: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample", "loglevel": "error"}


def train(model_file: Path, bert: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {
        **TASK,
        "model": "empathy:retrieval",
        "encoder": "hf",
        "hf_model": str(bert),
        "precision": "float32",
        "batchsize": 8,
        "max_train_steps": 3,
        "pool_max_tokens": -1,  # this tokenizer splits words into letters
        "seed": 3,
        **changes,
    }
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    path = tmp_path_factory.mktemp("pretrained") / "model"
    train(path, bert)
    return path


def test_training_starts_from_the_encoder_weights(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, learningrate=0.0, max_train_steps=1)
    own = transformers.AutoModel.from_pretrained(bert).state_dict()
    ours = weights(tmp_path / "model")
    for name, values in own.items():
        if not name.startswith("pooler."):
            torch.testing.assert_close(ours[f"contexts.encoder.{name}"], values)


def test_encoder_is_trained_and_all_protocols_are_reported(model_file: Path, bert: Path) -> None:
    own = transformers.AutoModel.from_pretrained(bert).state_dict()
    name = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(weights(model_file)[f"contexts.encoder.{name}"], own[name])
    report = EvalModel.main(**TASK, model_file=str(model_file), datatype="test")
    for protocol in ("shuffled", "ordered", "inline"):
        assert 0 <= float(report[key(1, protocol)]) <= 1
    assert float(report["avg_bleu"]) >= 0


def test_avg_bleu_of_an_encoder_that_is_no_model_file_needs_a_named_pool(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("parlai_empathy.agents.retrieval.ranker.warn_once", said.append)
    options = {**TASK, "model": "empathy:retrieval", "encoder": "hf", "hf_model": str(bert), "pool_max_tokens": -1}
    assert "avg_bleu" not in EvalModel.main(**options, datatype="valid")
    assert "no AVG BLEU, because no pool of replies is named: name one, such as --pool ed" in said
    assert "avg_bleu" in EvalModel.main(**options, datatype="valid", pool="ed")


@pytest.mark.parametrize(("pooling", "projection", "score"), [("mean", 0, "cosine"), ("first", 12, "dot")])
def test_encodings_match_the_transformers_library(
    tmp_path: Path, bert: Path, pooling: str, projection: int, score: str
) -> None:
    """Compares the agent's batch with the transformers library alone, one text at a time."""
    options = {"pooling": pooling, "projection": projection, "score": score, "temperature": 0.25, "towers": 2}
    train(tmp_path / "model", bert, **options)
    agent = load(tmp_path / "model")
    agent.model.eval()
    texts = ["hello you", "i am so sad.\nwhy is that?", "good"]
    observed = [agent.clone().observe(Message({"text": text, "episode_done": True})) for text in texts]
    encoder = agent.model.contexts.encoder
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    with torch.no_grad():
        ours = agent.encode_contexts(agent.batchify(observed))
        for row, text in zip(ours, texts, strict=True):
            read = tokenizer(text.replace("\n", "[SEP]"), return_tensors="pt")
            states = encoder(**read).last_hidden_state[0]
            vector = states.mean(dim=0) if pooling == "mean" else states[0]
            if projection:
                vector = agent.model.contexts.projection(vector)
            if score == "cosine":  # dot products are cosines over the temperature: norms of 0.25 ** -0.5
                vector = vector / vector.norm() * 2
            torch.testing.assert_close(row, vector, atol=1e-5, rtol=1e-4)


def test_towers_option_shares_or_separates_the_encoders(tmp_path: Path, bert: Path, model_file: Path) -> None:
    one = load(model_file).model
    assert one.contexts is one.replies
    train(tmp_path / "two", bert, towers=2)
    two = load(tmp_path / "two").model
    name = "encoder.encoder.layer.0.output.dense.weight"
    assert not torch.equal(two.contexts.state_dict()[name], two.replies.state_dict()[name])


def test_trained_model_does_not_need_the_pretrained_folder(tmp_path: Path, bert: Path) -> None:
    copied = tmp_path / "bert"
    shutil.copytree(bert, copied)
    train(tmp_path / "model", copied)
    shutil.rmtree(copied)
    agent = load(tmp_path / "model", interactive_mode=True)
    agent.observe(Message({"text": "hello", "episode_done": False}))
    assert agent.act()["text"]


def test_repeated_evaluation_gives_the_same_metrics(model_file: Path, tmp_path: Path) -> None:
    first, second = (EvalModel.main(**TASK, model_file=str(model_file), datatype="valid") for _ in range(2))
    for name in ("p_at_1_100_shuffled", "p_at_10_100_inline", "avg_bleu", "loss"):
        assert float(first[name]) == float(second[name])


def test_init_model_provides_weights_and_dictionary(tmp_path: Path, bert: Path) -> None:
    copied = Path(shutil.copytree(bert, tmp_path / "bert"))
    train(tmp_path / "first", copied)
    shutil.rmtree(copied)  # it is no longer needed
    train(tmp_path / "next", copied, init_model=str(tmp_path / "first"), learningrate=0.0, max_train_steps=1)
    for name, values in weights(tmp_path / "first").items():
        torch.testing.assert_close(weights(tmp_path / "next")[name], values)
    assert load(tmp_path / "next").dict.tok2ind == load(tmp_path / "first").dict.tok2ind


def test_gradient_cache_takes_the_same_step(tmp_path: Path, bert: Path) -> None:
    changes: dict[str, Any] = {"max_train_steps": 1, "optimizer": "sgd", "learningrate": 1.0, "lr_scheduler": "none"}
    changes["gradient_clip"] = -1.0  # clipped, gradients of any size would take the same step
    config = transformers.AutoConfig.from_pretrained(bert)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0  # its random order differs in chunks
    plain = tmp_path / "plain"
    shutil.copytree(bert, plain)
    config.save_pretrained(plain)
    train(tmp_path / "whole", plain, **changes)
    train(tmp_path / "chunks", plain, gradient_cache=3, **changes)
    before = transformers.AutoModel.from_pretrained(bert).state_dict()
    moved = 0.0
    for name, values in weights(tmp_path / "whole").items():
        torch.testing.assert_close(weights(tmp_path / "chunks")[name], values, atol=1e-5, rtol=1e-4)
        if name.startswith("contexts.encoder.") and "layer" in name:
            moved += float((values - before[name.removeprefix("contexts.encoder.")]).abs().sum())
    assert moved > 0.01


# --- hard negatives --------------------------------------------------------------------------------------------------


def test_hard_negatives_are_mined_once_and_reused(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, hard_negatives=2)
    kept = tmp_path / "model.negatives"
    stored = torch.load(kept, weights_only=True)
    assert set(stored) == {"replies", "places", "source", "model"}
    for example, places in stored["places"].items():
        true = example.split("\n\n")[-1]
        assert places
        assert true not in [stored["replies"][place] for place in places]
    written = kept.stat().st_mtime_ns
    train(tmp_path / "model", bert, hard_negatives=2, max_train_steps=5)
    assert kept.stat().st_mtime_ns == written


@pytest.mark.parametrize("changes", [{"task": "empathy:empathetic_dialogues:Speaker"}, {"seed": 4}])
def test_hard_negatives_are_mined_again_for_another_training(
    tmp_path: Path, bert: Path, changes: dict[str, Any]
) -> None:
    """The task is another, or the model: its projection depends on the seed."""
    train(tmp_path / "model", bert, hard_negatives=1, projection=8)
    for path in tmp_path.glob("model*"):
        if path.is_file() and path.suffix != ".negatives":
            path.unlink()
    train(tmp_path / "model", bert, hard_negatives=1, projection=8, **changes)
    fresh = tmp_path / "fresh"
    train(fresh, bert, hard_negatives=1, projection=8, **changes)
    one, other = (torch.load(f"{path}.negatives", weights_only=True) for path in (tmp_path / "model", fresh))
    assert one == other


def test_damaged_hard_negatives_file_raises_model_file_error(tmp_path: Path, bert: Path) -> None:
    (tmp_path / "model.negatives").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ModelFileError, match=r"model\.negatives is not a readable file .* delete it"):
        train(tmp_path / "model", bert, hard_negatives=1)


# --- what cannot work ------------------------------------------------------------------------------------------------


def test_text_truncate_beyond_encoder_length_raises_option_error(tmp_path: Path, bert: Path) -> None:
    with pytest.raises(OptionError, match=r"--text-truncate 127: .* takes at most 126"):
        train(tmp_path / "model", bert, text_truncate=127)


def test_text_truncate_respects_the_tokenizer_length_limit(tmp_path: Path, bert: Path) -> None:
    """RoBERTa's configuration includes two positions that no token can have; its tokenizer does not."""
    roberta = shutil.copytree(bert, tmp_path / "roberta")
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert, model_max_length=32)
    tokenizer.save_pretrained(roberta)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=34, pad_token_id=1,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(roberta)
    train(tmp_path / "model", roberta, text_truncate=30, label_truncate=30, max_train_steps=1)
    with pytest.raises(OptionError, match=r"--text-truncate 31: .* takes at most 30"):
        train(tmp_path / "other", roberta, text_truncate=31, label_truncate=30)


def test_missing_pretrained_encoder_raises_model_file_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"--hf-model .*nothing cannot be loaded"):
        train(tmp_path / "model", tmp_path / "nothing")


@pytest.mark.parametrize("changes", [{}, {"gradient_cache": 3}])
def test_nan_loss_raises_training_error_and_saves_no_model(tmp_path: Path, bert: Path, changes: dict[str, Any]) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(bert, broken)
    encoder = transformers.AutoModel.from_pretrained(bert)
    with torch.no_grad():
        encoder.embeddings.word_embeddings.weight.fill_(float("nan"))
    encoder.save_pretrained(broken)
    with pytest.raises(TrainingError, match="the loss is nan after 0 updates"):
        train(tmp_path / "model", broken, **changes)
    assert not (tmp_path / "model").exists()
