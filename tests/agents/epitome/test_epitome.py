"""EPITOME's judge in ParlAI: a minimal encoder, briefly trained on the sample, then queried."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel
from sample_models import check_copy, evaluate, load, weights
from two_processes import check_gradients_are_averaged

from parlai_empathy.agents.epitome import inference
from parlai_empathy.errors import DataError, ModelFileError, OptionError, TrainingError
from parlai_empathy.modules.classifiers import epitome as network
from parlai_empathy.scoring.agent_judge import AgentJudge

TASK = "empathy:epitome"
ALL = ["emotional_reactions", "interpretations", "explorations"]
# In float32, results do not depend on the composition of batches.
BRIEF: dict[str, Any] = {
    "task": TASK,
    "edition": "sample",
    "model": "empathy:epitome",
    "max_train_steps": 3,
    "batchsize": 8,
    "precision": "float32",
    "seed": 3,
    "loglevel": "error",
}
CONTEXTS = [["I failed.", "I can't sleep."], [], ["hello"], ["so " * 200]]
REPLIES = ["I am so sorry. Why is that?", "A reply that stands alone", "", "yes " * 100]


def train(model_file: Path, bert: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {**BRIEF, "hf_model": str(bert), **changes}
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    """A judge of all three mechanisms."""
    path = tmp_path_factory.mktemp("judge") / "model"
    train(path, bert)
    return path


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    """A judge of explorations only."""
    path = tmp_path_factory.mktemp("explorer") / "model"
    train(path, bert, task=f"{TASK}:Explorations")
    return path


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


def test_two_processes_average_their_gradients(tmp_path: Path, judge: Path) -> None:
    check_gradients_are_averaged(judge, tmp_path)


# --- judging ---------------------------------------------------------------------------------------------------------


def test_pair_gets_the_same_levels_alone_and_in_a_batch(judge: Path) -> None:
    agent = load(judge)
    together = agent.levels(CONTEXTS * 40, REPLIES * 40)
    for name in ALL:
        assert together[name].shape == (160, 3)
        assert np.allclose(together[name].sum(axis=1), 1)
        for place, (context, reply) in enumerate(zip(CONTEXTS, REPLIES, strict=True)):
            alone = agent.levels([context], [reply])[name][0]
            assert np.allclose(alone, together[name][place], atol=1e-6)
            assert np.allclose(together[name][place::4], alone, atol=1e-6)


def test_only_the_last_context_turn_is_read(judge: Path) -> None:
    agent = load(judge)
    one = agent.levels([["I can't sleep."]], ["why?"])
    other = agent.levels([["a long talk", "before that", "I can't sleep.", " "]], [" why? "])
    assert all(np.array_equal(one[name], other[name]) for name in ALL)
    assert not np.array_equal(one[ALL[0]], agent.levels([["I won the cup."]], ["why?"])[ALL[0]])


def test_each_distinct_text_is_encoded_once(judge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = network.token_states

    def counted(encoder: Any, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        read.append(len(tokens))
        return real(encoder, tokens, lengths)

    monkeypatch.setattr(network, "token_states", counted)
    agent = load(judge)
    agent.levels([["one"], ["two"], ["one"], ["two"]] * 25, ["yes", "yes", "no", "no"] * 25)
    assert sum(read) == 4  # two posts and two replies
    read.clear()
    agent.levels([["one"]], ["maybe"])
    assert sum(read) == 1  # the post is cached: its encoder is frozen


def test_levels_do_not_depend_on_encoding_batch_size(judge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load(judge)
    expected = agent.levels(CONTEXTS, REPLIES)
    monkeypatch.setattr(inference, "_READ_BATCH", 3)
    again = agent.levels(CONTEXTS, REPLIES)
    assert all(np.allclose(again[name], expected[name], atol=1e-6) for name in ALL)


def test_score_is_the_sum_of_expected_levels(judge: Path) -> None:
    agent = load(judge)
    levels = agent.levels(CONTEXTS, REPLIES)
    expected = sum(levels[name][:, 1] + 2 * levels[name][:, 2] for name in ALL)
    assert np.allclose(agent.score_pairs(CONTEXTS, REPLIES), expected)
    scored = AgentJudge(str(judge))
    assert np.allclose(scored.score(CONTEXTS, REPLIES), expected)
    assert "agent:epitome|trained:empathy:epitome" in scored.signature


def test_class_probabilities_require_a_single_mechanism(judge: Path, explorer: Path) -> None:
    agent = load(explorer)
    assert np.array_equal(agent.class_probabilities(CONTEXTS, REPLIES), agent.levels(CONTEXTS, REPLIES)["explorations"])
    with pytest.raises(OptionError, match=r"this judge has levels of emotional_reactions, .* call levels\(\)"):
        load(judge).class_probabilities(CONTEXTS, REPLIES)


def test_rationales_are_marked_spans_of_mechanisms_above_level_zero(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mechanisms have levels 1, 0 and 2; tokens 2 to 4 and 6, here letters, are marked."""
    agent = load(judge)
    real = agent.judge

    def decided(pairs: Any) -> Any:
        judged = real(pairs)
        levels = torch.eye(3)[[1, 0, 2]].expand(len(pairs), 3, 3)
        marks = torch.zeros(judged.rationales.shape)
        marks[:, :, [2, 3, 4, 6], 1] = 1
        return replace(judged, levels=levels, rationales=marks)

    monkeypatch.setattr(agent, "judge", decided)
    found = agent.rationales([["hello"]] * 3, ["go home", "no", ""])
    # Token 0 is a special one, so 2 to 4 are "o", "h" and "o", and 6 is "e".
    assert found["emotional_reactions"] == found["explorations"] == [["o ho", "e"], ["o"], []]
    assert found["interpretations"] == [[], [], []]


def test_attend_padding_changes_levels_consistently_across_batches(tmp_path: Path, bert: Path) -> None:
    """As in the original, each post is padded to --max-tokens, so that its scores do not depend on the batch."""
    train(tmp_path / "model", bert, attend_padding=True, max_tokens=20)
    agent, masked = load(tmp_path / "model"), load(tmp_path / "model", attend_padding=False)
    together = agent.levels(CONTEXTS, REPLIES)
    for name in ALL:
        assert np.allclose(agent.levels(CONTEXTS[2:3], REPLIES[2:3])[name][0], together[name][2], atol=1e-6)
        assert not np.allclose(masked.levels(CONTEXTS, REPLIES)[name], together[name], atol=1e-7)


def test_bfloat16_scores_are_close_to_float32(judge: Path) -> None:
    scores = load(judge).score_pairs(CONTEXTS, REPLIES)
    assert np.abs(load(judge, precision="bfloat16").score_pairs(CONTEXTS, REPLIES) - scores).max() < 0.05


def test_empty_input_gives_empty_levels(judge: Path) -> None:
    assert load(judge).levels([], [])["explorations"].shape == (0, 3)


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
