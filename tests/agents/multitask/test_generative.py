"""The generative agent that also learns emotions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from parlai.utils.torch import total_parameters
from sample_models import evaluate, load, weights
from tiny_generators import write_language_model
from tiny_parts import chat, observed, train_base
from torch.nn import functional as F

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

EXAMPLES = [
    {"text": "I failed my exam.\nOh no.", "labels": ["That is hard."], "emotion": "disappointed"},
    {"text": "We won!", "labels": ["How great."], "emotion": "joyful"},
]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_base(tmp_path_factory.mktemp("multitask") / "model", "empathy:multitask/generative")


def test_loss_is_the_mean_of_word_and_mean_pooled_emotion_losses(model_file: Path) -> None:
    agent = load(model_file)
    agent.model.eval()
    batch = agent.batchify(observed(agent, *EXAMPLES))
    agent.is_training = False
    words = agent.compute_loss(batch)
    agent._local_metrics.clear()
    agent.is_training = True
    both = agent.compute_loss(batch)
    losses = []
    for tokens, example in zip(batch.text_vec, EXAMPLES, strict=True):
        tokens = tokens[tokens != agent.NULL_IDX].unsqueeze(0)
        state = agent.model.encoder(tokens)[0][0].mean(dim=0)
        logits = agent.model.emotion_head.linear(state)
        losses.append(F.cross_entropy(logits, torch.tensor(EMOTIONS.index(example["emotion"]))))  # type: ignore[arg-type]
    expected = (words + torch.stack(losses).mean()) / 2
    torch.testing.assert_close(both, expected)
    weight = agent.model.encoder.layers[0].ffn.lin1.weight  # both losses train the encoder
    torch.testing.assert_close(*(torch.autograd.grad(loss, weight)[0] for loss in (both, expected)))


def test_every_trainable_weight_gets_a_gradient(model_file: Path) -> None:
    agent = load(model_file, datatype="train")
    agent.update_params = lambda: None
    agent.batch_act(observed(agent, *EXAMPLES))
    for name, weight in agent.model.named_parameters():
        assert weight.grad is not None or not weight.requires_grad, name


def test_model_adds_only_an_emotion_head_to_the_base(model_file: Path, tmp_path: Path) -> None:
    base = load(train_base(tmp_path / "base", "empathy:generative", max_train_steps=1))
    assert total_parameters(load(model_file).model) - total_parameters(base.model) == 16 * 32 + 32


def test_model_evaluates_on_both_tasks_and_chats(model_file: Path) -> None:
    report = evaluate(model_file)
    assert {"ppl", "avg_bleu", "emotion_accuracy", "emotion_loss"} <= set(report)
    assert "|n:142|split:test|" in report["emotion_accuracy"].signature
    assert len(chat(model_file, ["I lost my job."])) == 1


def test_perplexity_excludes_the_emotion_loss(model_file: Path) -> None:
    report = evaluate(model_file)
    assert float(report["ppl"]) == pytest.approx(float(torch.tensor(float(report["loss"])).exp()), rel=1e-4)


def test_init_model_adds_or_drops_the_emotion_head(model_file: Path, tmp_path: Path) -> None:
    still = {"learningrate": 0.0, "weight_decay": 0.0}
    base = train_base(tmp_path / "base", "empathy:generative", init_model=str(model_file), **still)
    assert set(weights(model_file)) - set(weights(base)) == {"emotion_head.linear.weight", "emotion_head.linear.bias"}
    again = train_base(tmp_path / "again", "empathy:multitask/generative", init_model=str(base), **still)
    assert set(weights(again)) == set(weights(model_file))
    name = "encoder.layers.0.ffn.lin1.weight"
    assert torch.equal(weights(again)[name], weights(model_file)[name])


def test_hugging_face_encoder_decoder_gets_an_emotion_head(tmp_path: Path) -> None:
    folder = write_language_model("t5", tmp_path / "t5")
    path = train_base(
        tmp_path / "model", "empathy:multitask/generative", hf_model=str(folder), max_train_steps=1, text_truncate=40,
        label_truncate=10,
    )  # fmt: skip
    assert weights(path)["emotion_head.linear.weight"].shape == (32, 16)


def test_decoder_only_model_is_rejected(tmp_path: Path) -> None:
    folder = write_language_model("gpt2", tmp_path / "gpt2")
    with pytest.raises(OptionError, match="decoder-only"):
        train_base(tmp_path / "model", "empathy:multitask/generative", hf_model=str(folder))
