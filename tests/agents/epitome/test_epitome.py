"""EPITOME's judge in ParlAI: a minimal encoder, briefly trained on the sample, then queried."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.opt import Opt
from sample_models import check_copy, evaluate, load, weights
from tiny_epitome import ALL, CONTEXTS, REPLIES, TASK, train
from tiny_parts import observed
from two_processes import check_gradients_are_averaged

from parlai_empathy.errors import DataError, ModelFileError, OptionError, TrainingError

# --- training --------------------------------------------------------------------------------------------------------


def test_training_lowers_loss_and_reports_each_mechanism(tmp_path: Path, bert: Path) -> None:
    learning = {"learningrate": 0.01, "warmup_updates": -1, "validation_every_n_epochs": -1}
    train(tmp_path / "new", bert, **learning, max_train_steps=1)
    _, test = train(tmp_path / "model", bert, **learning, max_train_steps=40)
    before, after = (evaluate(tmp_path / name, TASK, datatype="train:evalmode") for name in ("new", "model"))
    assert float(after["loss"]) < float(before["loss"]) - 0.3
    kinds = ("accuracy", "f1", "rationale_f1", "rationale_iou")
    assert {"loss", "accuracy", "macro_f1"} | {
        f"{name}_{kind}" for name in ("er", "ip", "ex") for kind in kinds
    } <= set(test)
    assert "macro-F1|of:ER|classes:present|n:16|split:test|version:" in test["er_f1"].signature


def test_only_the_response_encoder_is_trained(judge: Path, bert: Path) -> None:
    before = load_bert(bert)
    after = weights(judge)
    for name, value in before.items():
        assert torch.equal(after[f"seeker.{name}"], value)
    assert any(not torch.equal(after[f"responders.0.{name}"], value) for name, value in before.items())


def load_bert(folder: Path) -> dict[str, torch.Tensor]:
    from transformers import AutoModel

    return AutoModel.from_pretrained(folder).state_dict()  # type: ignore[no-any-return]


def test_responders_apart_gives_each_mechanism_its_own_encoder(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, responders="apart", learningrate=0.01)
    found = weights(tmp_path / "model")
    kept = [f"responders.{number}.encoder.layer.0.output.dense.weight" for number in range(3)]
    assert len({tuple(found[name].flatten().tolist()) for name in kept}) == 3
    assert load(tmp_path / "model").score_pairs(CONTEXTS, REPLIES).shape == (4,)


def test_single_mechanism_task_trains_only_that_mechanism(explorer: Path) -> None:
    agent = load(explorer)
    assert agent.mechanisms == ["explorations"]
    assert set(agent.levels(CONTEXTS, REPLIES)) == {"explorations"}
    report = evaluate(explorer, task=f"{TASK}:Explorations")
    assert float(report["accuracy"]) == float(report["ex_accuracy"])
    assert "er_accuracy" not in report


def test_single_mechanism_tasks_can_be_mixed(tmp_path: Path, bert: Path) -> None:
    """Each message has the level of one mechanism, and does not count in the metrics of the others."""
    mixed = f"{TASK}:EmotionalReactions,{TASK}:Explorations"
    _, test = train(tmp_path / "model", bert, task=mixed)
    assert load(tmp_path / "model").mechanisms == ["emotional_reactions", "explorations"]
    assert np.isfinite(float(test["er_accuracy"]))
    assert f"{TASK}:Explorations/er_accuracy" not in test


def test_mechanisms_option_selects_a_subset_of_the_task(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, mechanisms=["explorations"])
    assert load(tmp_path / "model").mechanisms == ["explorations"]


def test_trained_mechanisms_cannot_be_reordered(judge: Path) -> None:
    """The heads would stay in their order, and each mechanism would have the levels of another."""
    with pytest.raises(OptionError, match=rf"^--mechanisms {' '.join(ALL[::-1])}: {judge} was trained with"):
        load(judge, mechanisms=ALL[::-1])


def test_same_seed_gives_same_weights(tmp_path: Path, bert: Path, judge: Path) -> None:
    train(tmp_path / "again", bert)
    train(tmp_path / "other", bert, seed=4)
    first, again, other = weights(judge), weights(tmp_path / "again"), weights(tmp_path / "other")
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_training_resumes_from_checkpoint(tmp_path: Path, bert: Path) -> None:
    train(tmp_path / "model", bert, max_train_steps=6, validation_every_n_epochs=0.2)
    before = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    train(tmp_path / "model", bert, max_train_steps=12, validation_every_n_epochs=0.2)
    after = torch.load(tmp_path / "model.checkpoint", weights_only=True)
    assert after["number_training_updates"] > before["number_training_updates"] > 0
    assert json.loads((tmp_path / "model.trainstats").read_text())["train_steps"] >= 12


def test_init_model_provides_the_initial_weights(tmp_path: Path, bert: Path, judge: Path) -> None:
    train(tmp_path / "model", bert, init_model=str(judge), max_train_steps=1, learningrate=1e-12)
    before, after = weights(judge), weights(tmp_path / "model")
    assert all(torch.allclose(before[name], after[name]) for name in before)


def test_weight_decay_is_off_by_default(tmp_path: Path, bert: Path, judge: Path) -> None:
    train(tmp_path / "model", bert, weight_decay=0.1, max_train_steps=1)
    for path, expected in ((judge, 0.0), (tmp_path / "model", 0.1)):
        assert load(path, datatype="train").optimizer.param_groups[0]["weight_decay"] == expected


def test_nonfinite_loss_raises_training_error(tmp_path: Path, bert: Path) -> None:
    with pytest.raises(TrainingError, match="the loss is"):
        train(tmp_path / "model", bert, learningrate=1e30, warmup_updates=-1, gradient_clip=-1, max_train_steps=20)


def test_rate_rises_over_the_warmup_and_falls_to_the_end(judge: Path) -> None:
    """The last of three steps, within a warm-up of 60: 3e-4 x 3/61 x (1 - 2/3)."""
    (group,) = torch.load(judge, weights_only=True)["optimizer"]["param_groups"]
    assert group["lr"] == pytest.approx(3e-4 / 61)


def test_training_after_an_evaluation_drops_again(judge: Path) -> None:
    agent = load(judge, datatype="train")
    agent.model.eval()
    agent.batch_act(observed(agent, {"text": "I failed.\nOh no.", "labels": ["?"], "levels": dict.fromkeys(ALL, 0)}))
    assert agent.model.training


def test_rationale_weight_multiplies_the_loss_of_rationales(judge: Path) -> None:
    levels, half, whole = (float(evaluate(judge, TASK, rationale_weight=weight)["loss"]) for weight in (0.0, 0.5, 1.0))
    assert half == pytest.approx((levels + whole) / 2)
    assert half > levels


def test_evaluated_loss_does_not_depend_on_the_batch_size(judge: Path) -> None:
    one, three, whole = (float(evaluate(judge, TASK, batchsize=size)["loss"]) for size in (1, 3, 16))  # of 16 responses
    assert one == pytest.approx(whole, rel=1e-5)
    assert three == pytest.approx(whole, rel=1e-5)


def test_two_processes_average_their_gradients(tmp_path: Path, judge: Path) -> None:
    check_gradients_are_averaged(judge, tmp_path)


# --- a conversation --------------------------------------------------------------------------------------------------


def test_reply_contains_levels_and_rationales(judge: Path) -> None:
    agent = load(judge)
    agent.observe(Message({"text": "I can't sleep.\nwhy?", "episode_done": True}))
    answer = agent.act()
    expected = {name: int(table[0].argmax()) for name, table in agent.levels([["I can't sleep."]], ["why?"]).items()}
    assert answer["levels"] == expected
    assert answer["text"] == "ER {}, IP {}, EX {}".format(*expected.values())
    assert set(answer["rationales"]) == set(ALL)


def test_single_mechanism_task_is_evaluated_on_that_mechanism_only(judge: Path) -> None:
    report = evaluate(judge, task=f"{TASK}:Interpretations")
    assert float(report["accuracy"]) == float(report["ip_accuracy"]) == float(evaluate(judge, TASK)["ip_accuracy"])
    assert "er_accuracy" not in report


def test_task_without_the_trained_mechanism_raises_data_error(explorer: Path) -> None:
    with pytest.raises(DataError, match="has no levels of explorations: use a --task that has them"):
        evaluate(explorer, task=f"{TASK}:Interpretations")


def test_chat_reply_quotes_the_rationales(judge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load(judge, interactive_mode=True)
    monkeypatch.setattr(type(agent), "quoted", lambda *_: [{name: ["so sorry"] for name in ALL}])
    assert agent.respond("I am so sorry").count('"so sorry"') == 3


def test_shared_copy_gives_the_same_answer(judge: Path) -> None:
    check_copy(judge, "I can't sleep.\nwhy?", "levels")


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 20_000, "a\n" * 5_000, "\x00\x07", "\U0001f622 \u202e\u2028"])
def test_unusual_messages_get_levels(judge: Path, text: str) -> None:
    assert load(judge).respond(text).startswith("ER ")


def test_task_without_levels_reports_no_level_metrics(judge: Path) -> None:
    report = evaluate(judge, task="empathy:humod")
    assert "macro_f1" not in report
    assert int(report["exs"]) > 0


# --- files -----------------------------------------------------------------------------------------------------------


def test_moved_model_works_without_the_pretrained_encoder(tmp_path: Path, judge: Path) -> None:
    expected = load(judge).score_pairs(CONTEXTS, REPLIES).tolist()
    (tmp_path / "moved").mkdir()
    for path in judge.parent.glob("model*"):
        copy = tmp_path / "moved" / path.name
        shutil.copytree(path, copy) if path.is_dir() else shutil.copy(path, copy)
    agent = load(tmp_path / "moved" / "model", hf_model=str(tmp_path / "gone"))
    assert agent.score_pairs(CONTEXTS, REPLIES).tolist() == expected


def test_weights_not_matching_options_raise_model_file_error(judge: Path) -> None:
    with pytest.raises(ModelFileError, match="does not fit its options"):
        load(judge, responders="apart")


# --- what cannot work ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"max_tokens": 3}, "--max-tokens 3: must be at least 4"),
        ({"max_tokens": 500}, "takes at most 128"),
        ({"task": "empathy:humod"}, "--task empathy:humod: its messages have no levels of empathy"),
        ({"init_model": "nowhere"}, "--init-model nowhere: there is no such file"),
        ({"lr_scheduler": "linear", "num_epochs": -1, "max_train_steps": -1}, "set --num-epochs or --max-train-steps"),
    ],
)
def test_invalid_training_options_raise_one_line_error(
    tmp_path: Path, bert: Path, changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises((OptionError, ModelFileError)) as caught:
        train(tmp_path / "model", bert, **changes)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_untrained_judge_without_mechanisms_raises_option_error(judge: Path) -> None:
    opt = Opt({**Opt.load(f"{judge}.opt"), "mechanisms": [], "task": None, "model_file": None, "override": {}})
    with pytest.raises(OptionError, match="does not know its mechanisms: train it on empathy:epitome"):
        create_agent(opt)
