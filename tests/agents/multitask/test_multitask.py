"""The retrieval agent that also learns emotions, briefly trained on the sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.scripts.eval_model import EvalModel
from parlai.utils.torch import total_parameters
from processes import SAMPLE, TINY_SIZES, parlai_command, succeeded
from sample_models import evaluate, load, weights
from tiny_parts import TASK, chat, observed, train_base
from torch.nn import functional as F

from parlai_empathy.errors import DataError, EmpathyError, OptionError
from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE as SAMPLE_FOLDER
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS, read_empathetic_dialogues

EXAMPLES = [
    {"text": "I failed my exam.\nOh no.", "labels": ["That is hard."], "emotion": "disappointed"},
    {"text": "We won!", "labels": ["How great."], "emotion": "joyful"},
    {"text": "My dog is ill.", "labels": ["Poor thing."], "emotion": "sad"},
]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("multitask") / "model"
    return train_base(path, "empathy:multitask", num_epochs=2, max_train_steps=-1, learningrate=0.01)


# --- training --------------------------------------------------------------------------------------------------------


def test_emotion_head_size_matches_the_paper(tmp_path: Path) -> None:
    """ "+9.6k" in Table 7, with the paper's vectors of 300 dimensions."""
    sizes = {"embedding_size": 300, "n_heads": 2, "max_train_steps": 1}
    agents = [load(train_base(tmp_path / model, f"empathy:{model}", **sizes)) for model in ("retrieval", "multitask")]
    base, multitask = (total_parameters(agent.model) for agent in agents)
    assert multitask - base == 9_632


@pytest.mark.parametrize("symmetric", [False, True])
def test_loss_is_the_mean_of_ranking_and_emotion_losses(model_file: Path, symmetric: bool) -> None:
    agent = load(model_file, symmetric_loss=symmetric)
    agent.model.eval()  # without dropout, which is random
    batch = agent.batchify(observed(agent, *EXAMPLES))
    contexts, replies = agent.model(batch.text_vec, batch.label_vec)
    losses = agent.losses(batch, contexts, replies)
    true = torch.arange(3)
    ranking = F.cross_entropy(contexts @ replies.T, true, reduction="none")
    if symmetric:
        ranking = (ranking + F.cross_entropy(replies @ contexts.T, true, reduction="none")) / 2
    head = agent.model.emotion_head.linear
    places = torch.tensor([EMOTIONS.index(example["emotion"]) for example in EXAMPLES])  # type: ignore[arg-type]
    emotion = F.cross_entropy(contexts @ head.weight.T + head.bias, places, reduction="none")
    torch.testing.assert_close(losses, (ranking + emotion) / 2)
    of_contexts = [torch.autograd.grad(each.sum(), contexts, retain_graph=True) for each in (losses, ranking + emotion)]
    torch.testing.assert_close(of_contexts[0][0], of_contexts[1][0] / 2)  # both train the encoder


@pytest.mark.parametrize("chunk", [0, 2])
def test_every_trainable_weight_gets_a_gradient(model_file: Path, chunk: int) -> None:
    """``DistributedDataParallel`` waits for all gradients."""
    agent = load(model_file, datatype="train", gradient_cache=chunk)
    agent.update_params = lambda: None
    agent.batch_act(observed(agent, *EXAMPLES))
    for name, weight in agent.model.named_parameters():
        assert weight.grad is not None or not weight.requires_grad, name
    assert agent.model.emotion_head.linear.weight.grad.abs().sum() > 0


def test_training_improves_emotion_accuracy(tmp_path: Path) -> None:
    options = {"max_train_steps": 150, "learningrate": 0.03, "log_every_n_steps": 10, "validation_every_n_epochs": 99}
    path = train_base(tmp_path / "model", "empathy:multitask", **options)
    reports = json.loads(Path(f"{path}.trainstats").read_text())["train_reports"]
    assert reports[-1]["emotion_accuracy"] > reports[0]["emotion_accuracy"] + 0.2
    assert reports[-1]["emotion_loss"] < reports[0]["emotion_loss"]


def test_same_seed_gives_same_weights(tmp_path: Path) -> None:
    one, two = (weights(train_base(tmp_path / name, "empathy:multitask")) for name in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_init_model_may_be_a_retrieval_model(tmp_path: Path) -> None:
    base = train_base(tmp_path / "base")
    path = train_base(tmp_path / "model", "empathy:multitask", init_model=str(base), learningrate=0.0)
    old, new = weights(base), weights(path)
    assert set(new) - set(old) == {"emotion_head.linear.weight", "emotion_head.linear.bias"}
    assert all(torch.equal(new[name], values) for name, values in old.items())


def test_head_for_other_emotions_is_not_taken_over(model_file: Path, tmp_path: Path) -> None:
    old = weights(model_file)["emotion_head.linear.weight"]
    for name, emotions in (("same", list(EMOTIONS)), ("other", list(reversed(EMOTIONS)))):
        options = {"init_model": str(model_file), "emotions": emotions, "learningrate": 0.0, "max_train_steps": 1}
        path = train_base(tmp_path / name, "empathy:multitask", **options)
        assert torch.equal(weights(path)["emotion_head.linear.weight"], old) is (name == "same")


def test_retrieval_model_may_start_from_a_multitask_model(model_file: Path, tmp_path: Path) -> None:
    path = train_base(tmp_path / "model", init_model=str(model_file), learningrate=0.0)
    old, new = weights(model_file), weights(path)
    assert not any(name.startswith("emotion_head") for name in new)
    assert all(torch.equal(old[name], values) for name, values in new.items())


def test_training_resumes_from_checkpoint(tmp_path: Path) -> None:
    for steps in (2, 5):
        train_base(tmp_path / "model", "empathy:multitask", max_train_steps=steps)
    assert json.loads((tmp_path / "model.trainstats").read_text())["parleys"] == 5


def test_two_process_training_report_matches_evaluation(tmp_path: Path) -> None:
    """Several batches each: the second would fail if the head had no gradients in the first."""
    arguments = ("-m", "empathy:multitask", *SAMPLE, *TINY_SIZES, "-bs", "32", "-mf", "two")
    succeeded(parlai_command("multiprocessing_train", *arguments, "--distributed-world-size", "2", cwd=tmp_path))
    report = json.loads((tmp_path / "two.trainstats").read_text())["final_test_report"]
    alone = evaluate(tmp_path / "two", batchsize=32)
    assert report["exs"] == 142
    assert report["emotion_accuracy"] == pytest.approx(float(alone["emotion_accuracy"]))
    assert report["emotion_loss"] == pytest.approx(float(alone["emotion_loss"]), rel=1e-3)


# --- evaluation ------------------------------------------------------------------------------------------------------


def test_emotion_metrics_match_per_example_computation(model_file: Path) -> None:
    """Computed one context at a time, from the sample's own reader."""
    agent = load(model_file)
    model = agent.model.eval()
    hits, losses = [], []
    for dialogue in read_empathetic_dialogues(SAMPLE_FOLDER / "test.csv"):
        for i in range(1, len(dialogue.turns), 2):
            text = "\n".join(turn.text for turn in dialogue.turns[max(0, i - 4) : i])
            with torch.no_grad():
                vector = model.contexts(torch.tensor([agent.dict.txt2vec(text)])[:, -100:])[0]
                logits = model.emotion_head.linear(vector)
            place = EMOTIONS.index(dialogue.emotion)
            hits.append(int(logits.argmax()) == place)
            losses.append(float(logits.logsumexp(dim=0) - logits[place]))
    report = evaluate(model_file)
    assert float(report["emotion_accuracy"]) == pytest.approx(sum(hits) / len(hits))
    assert float(report["emotion_loss"]) == pytest.approx(sum(losses) / len(losses), rel=1e-5)
    assert "|of:context|emotions:32|n:142|split:test|" in report["emotion_accuracy"].signature


def test_evaluation_reports_the_retrieval_metrics(model_file: Path) -> None:
    report = evaluate(model_file)
    assert {"p_at_1_100_shuffled", "p_at_1_100_ordered", "p_at_1_100_inline", "avg_bleu"} <= set(report)


def test_task_without_emotions_reports_no_emotion_metrics(model_file: Path, tmp_path: Path) -> None:
    lines = tmp_path / "pairs.txt"
    lines.write_text("".join(f"text:I am sad {i}\tlabels:reply {i}\tepisode_done:True\n" for i in range(6)))
    report = EvalModel.main(
        model_file=str(model_file), task="fromfile:parlaiformat", fromfile_datapath=str(lines), datatype="test",
        fromfile_datatype_extension=False, loglevel="error",
    )  # fmt: skip
    assert int(report["exs"]) == 6
    assert "emotion_accuracy" not in report
    assert "emotion_loss" not in report


def test_examples_without_known_emotion_are_not_counted(model_file: Path) -> None:
    agent = load(model_file)
    unknown = [{**EXAMPLES[0], "emotion": "puzzled"}, {"text": "Hello.", "labels": ["Hi."]}]
    evaluated = [{**example, "eval_labels": example["labels"]} for example in [*EXAMPLES, *unknown]]
    for example in evaluated:
        del example["labels"]
    replies = agent.batch_act(observed(agent, *evaluated))
    for name in ("emotion_accuracy", "emotion_loss"):
        assert [reply["metrics"][name]._denom for reply in replies] == [1, 1, 1, 0, 0]


def test_replies_come_from_the_pool(model_file: Path) -> None:
    assert set(chat(model_file, ["I lost my job.", ""])) <= set(load(model_file).pool().texts)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"emotions": ["sad"]}, OptionError, "--emotions sad: name at least two"),
        ({"emotions": ["sad", "sad"]}, OptionError, "each once"),
        ({"emotions": ["sad", "glad"]}, DataError, "is not one of --emotions sad glad"),
        ({"candidates": "inline"}, OptionError, "--candidates inline"),
        ({"task": "empathy:humod:NextUtterance"}, OptionError, "have no field emotion"),
    ],
)
def test_invalid_options_raise_one_line_error(
    tmp_path: Path, changes: dict[str, Any], kind: type[EmpathyError], words: str
) -> None:
    with pytest.raises(kind) as caught:
        train_base(tmp_path / "model", "empathy:multitask", **{**TASK, **changes})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_trained_emotions_cannot_be_reordered(model_file: Path) -> None:
    """The head's outputs would stay in their order, and each would count as another emotion."""
    assert load(model_file, emotions=list(EMOTIONS)).opt["emotions"] == list(EMOTIONS)
    with pytest.raises(OptionError, match=rf"^--emotions {' '.join(EMOTIONS[::-1])}: {model_file} was trained with"):
        load(model_file, emotions=list(EMOTIONS[::-1]))


def test_emotions_option_sets_the_head_size(tmp_path: Path) -> None:
    """DailyDialog labels each turn with one of seven emotions."""
    from parlai_empathy.tasks.daily_dialog.reader import EMOTIONS as SEVEN

    path = train_base(tmp_path / "model", "empathy:multitask", task="empathy:daily_dialog", emotions=list(SEVEN))
    assert weights(path)["emotion_head.linear.weight"].shape == (7, 16)
