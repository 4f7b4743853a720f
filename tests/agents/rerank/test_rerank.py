"""The reranker in ParlAI: a tiny retriever and a tiny cross-encoder, briefly trained on the sample."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.message import Message
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from sample_models import evaluate, load
from tiny_judge import train_judge

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.training.draws import random_of_step
from parlai_empathy.agents.rerank.training_candidates import block_of
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.errors import DataError, ModelFileError, OptionError
from parlai_empathy.metrics.precision_at_k import block_order, key

TASK: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample", "loglevel": "error"}
# Short evaluations during training: a whole fold would take longer than the training itself.
BRIEF: dict[str, Any] = {"validation_max_exs": 8, "short_final_eval": True}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("retriever") / "model"
    sizes = {"embedding_size": 16, "n_heads": 2, "n_layers": 1, "ffn_size": 16}
    TrainModel.main(
        **TASK, **sizes, model="empathy:retrieval", model_file=str(path), num_epochs=2, seed=7, precision="float32"
    )
    return path


def train(model_file: Path, bert: Path, retriever: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {
        **TASK,
        "model": "empathy:rerank",
        "hf_model": str(bert),
        "retriever": str(retriever),
        "precision": "float32",
        "rerank_top": 4,
        "max_train_steps": 3,
        "batchsize": 8,
        "seed": 3,
        **BRIEF,
        **changes,
    }
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, bert: Path, retriever: Path) -> Path:
    path = tmp_path_factory.mktemp("rerank") / "model"
    train(path, bert, retriever)
    return path


@pytest.fixture(scope="module")
def report(model_file: Path) -> dict[str, Any]:
    return EvalModel.main(**TASK, model_file=str(model_file), datatype="test")  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def plain(retriever: Path) -> dict[str, Any]:
    """The metrics of the retriever alone."""
    return EvalModel.main(**TASK, model_file=str(retriever), datatype="test")  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def loud(tmp_path_factory: pytest.TempPathFactory, model_file: Path) -> Path:
    """A model whose own scores outweigh its retriever's."""
    return with_head_times(model_file, 1000, tmp_path_factory.mktemp("loud") / "model")


@pytest.fixture(scope="module")
def loud_report(loud: Path) -> dict[str, Any]:
    """Its metrics if it reranks enough replies to move some out of the first ten."""
    return EvalModel.main(**TASK, model_file=str(loud), datatype="test", rerank_top=20)  # type: ignore[no-any-return]


def with_head_times(model_file: Path, factor: float, path: Path) -> Path:
    agent = load(model_file)
    with torch.no_grad():
        agent.model.head.weight.mul_(factor)
        agent.model.head.bias.mul_(factor)
    agent.save(str(path))
    for ending in (".retriever", ".encoder"):
        if Path(f"{model_file}{ending}").is_dir():
            shutil.copytree(f"{model_file}{ending}", f"{path}{ending}", dirs_exist_ok=True)
    return path


def test_evaluation_reports_all_protocols_and_avg_bleu(report: dict[str, Any]) -> None:
    for protocol in ("shuffled", "ordered", "inline"):
        values = [float(report[key(k, protocol)]) for k in (1, 3, 10)]
        assert 0 <= values[0] <= values[1] <= values[2] <= 1
        assert f"protocol:{protocol}|" in report[key(1, protocol)].signature
        assert "score:rerank-4" in report[key(1, protocol)].signature
    assert "decoding:rerank-4" in report["avg_bleu"].signature
    assert float(report["hits@1"]) == pytest.approx(float(report[key(1, "inline")]))


def test_reranking_changes_only_the_top_ranks(
    report: dict[str, Any], plain: dict[str, Any], loud_report: dict[str, Any]
) -> None:
    """Only the first four ranks change: P@10 is the retriever's, P@1 and P@3 may differ."""
    for protocol in ("shuffled", "ordered", "inline"):
        assert float(report[key(10, protocol)]) == pytest.approx(float(plain[key(10, protocol)]))
    assert float(loud_report[key(10, "inline")]) != pytest.approx(float(plain[key(10, "inline")]))


def test_validation_in_training_matches_separate_evaluation(tmp_path: Path, bert: Path, retriever: Path) -> None:
    """Each of them can be the ``--validation-metric``."""
    chosen = {"validation_metric": key(1, "shuffled"), "validation_every_n_steps": 1, "max_train_steps": 1}
    chosen |= {"validation_max_exs": -1}
    valid, _ = train(tmp_path / "model", bert, retriever, **chosen)
    alone = evaluate(tmp_path / "model", datatype="valid")
    for protocol in ("shuffled", "ordered"):
        assert float(valid[key(1, protocol)]) == pytest.approx(float(alone[key(1, protocol)]))


def test_block_precision_is_per_task_with_several_tasks(model_file: Path) -> None:
    tasks = ["empathy:empathetic_dialogues", "empathy:empathetic_dialogues:BothRoles"]
    report = evaluate(model_file, ",".join(tasks), datatype="valid")
    for task in tasks:
        alone = evaluate(model_file, task, datatype="valid")
        for protocol in ("shuffled", "ordered"):
            assert float(report[f"{task}/{key(1, protocol)}"]) == pytest.approx(float(alone[key(1, protocol)]))


@pytest.mark.parametrize("protocol", ["shuffled", "ordered"])
def test_block_precision_matches_per_example_computation(
    report: dict[str, Any], model_file: Path, protocol: str
) -> None:
    """Computed one context at a time: the retriever's four best of the block, sorted by the sum of both scores."""
    from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
    from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

    agent = load(model_file)
    agent.model.eval()
    examples = [
        ([turn.text for turn in dialogue.turns[max(0, i - 4) : i]], dialogue.turns[i].text)
        for dialogue in read_empathetic_dialogues(SAMPLE / "test.csv")
        for i in range(1, len(dialogue.turns), 2)
    ]
    block = [examples[place] for place in block_order(len(examples), protocol)[:100].tolist()]
    replies = [reply for _, reply in block]
    encodings = agent.retriever.encode_texts([replies])[0]
    hits = 0
    for true, (turns, _) in enumerate(block):
        scores = agent.retriever.encode_turns([turns])[0] @ encodings.T
        best = scores.argsort(descending=True)[:4].tolist()
        read = agent.logits([TextPair(tuple(turns), replies[place]) for place in best])[:, 0]
        hits += best[int((read + scores[best]).argmax())] == true
    assert float(report[key(1, protocol)]) == pytest.approx(hits / 100)


def test_zero_head_ranks_like_the_retriever(
    tmp_path: Path, model_file: Path, plain: dict[str, Any], loud_report: dict[str, Any]
) -> None:
    silent = with_head_times(model_file, 0, tmp_path / "silent")
    found = EvalModel.main(**TASK, model_file=str(silent), datatype="test")
    for protocol in ("shuffled", "ordered", "inline"):
        assert float(found[key(1, protocol)]) == pytest.approx(float(plain[key(1, protocol)]))
    assert float(found["mrr"]) == pytest.approx(float(plain["mrr"]))
    assert float(loud_report["mrr"]) != pytest.approx(float(plain["mrr"]))


def test_loss_ranks_true_reply_against_retrieved_negatives(model_file: Path) -> None:
    agent = load(model_file)
    agent.model.eval()
    texts = ["I lost my job.", "I passed my exam!", "My heron has flown away."]
    labels = ["I am so sorry.", "Well done!", "It will be back."]
    messages = [Message({"lines": [text], "labels": [label]}) for text, label in zip(texts, labels, strict=True)]
    losses = agent._losses(messages)
    assert torch.equal(losses, agent._losses(messages))  # equal in the same step, for resumed training
    draw = random_of_step(agent.opt, agent._number_training_updates)
    for label in labels:
        draw.choice([label])
    block = block_of(labels, agent._replies(), draw)
    assert len(block) == 100
    for text, label, loss in zip(texts, labels, losses, strict=True):
        scores = agent.retriever.encode_turns([[text]])[0] @ agent.retriever.encode_texts([block])[0].T
        found = [place for place in scores.argsort(descending=True).tolist() if block[place] != label][:7]
        places = [block.index(label), *found]
        read = agent.logits([TextPair((text,), block[place]) for place in places])[:, 0]
        expected = -torch.log_softmax(read + scores[places], dim=0)[0]
        assert loss.item() == pytest.approx(expected.item(), abs=1e-4)


def test_no_label_of_an_example_with_several_is_a_negative(model_file: Path) -> None:
    """The second message's reply is also right for the first one: only "Hm." is wrong for it."""
    agent = load(model_file)
    agent.model.eval()
    agent._training_replies = ["Hm."]
    labels = [["Well done!", "How great."], ["How great."]]
    messages = [Message({"lines": ["I passed my exam!"], "labels": each}) for each in labels]
    draw = random_of_step(agent.opt, agent._number_training_updates)
    replies = [draw.choice(labels[0]), "Hm."]
    scores = agent.retriever.encode_turns([["I passed my exam!"]])[0] @ agent.retriever.encode_texts([replies])[0].T
    read = agent.logits([TextPair(("I passed my exam!",), reply) for reply in replies])[:, 0]
    expected = -torch.log_softmax(read + scores, dim=0)[0]
    assert agent._losses(messages)[0].item() == pytest.approx(expected.item(), abs=1e-4)


def test_lists_of_several_messages_are_ranked_as_each_alone(model_file: Path) -> None:
    """The shorter list's padding, which scores 0, is no reply, even if all others score less."""
    agent = load(model_file)
    pool = agent.retriever.pool().texts
    encode = agent.retriever.encode_turns
    agent.retriever.encode_turns = lambda turns: -encode(turns)
    assert float((encode([["Hi."]]) @ agent.retriever.encode_texts([pool[:5]])[0].T).min()) > 0
    lists = {"Hi.": pool[:5], "I passed my exam!": pool[:60]}
    messages = [Message({"lines": [text], "label_candidates": texts}) for text, texts in lists.items()]
    together = agent._rank(messages).text_candidates
    assert together == [agent._rank([message]).text_candidates[0] for message in messages]


def test_single_candidate_is_not_a_correct_choice(model_file: Path) -> None:
    agent = load(model_file)
    single = {"lines": ["I won!"], "label_candidates": ["How great."], "eval_labels": ["How great."]}
    two = {**single, "label_candidates": ["How great.", "Oh no."]}
    found = agent._rank([Message(single), Message(two)])
    assert found.text[0] is found.text_candidates[0] is None, "it would be ranked first"
    assert set(found.text_candidates[1]) == {"How great.", "Oh no."}
    assert not {"rank", "mrr"} & agent.report().keys()
    del single["eval_labels"]
    assert agent._rank([Message(single)]).text == ["How great."], "without a true reply it is an answer"


def test_identical_replies_raise_option_error(model_file: Path) -> None:
    agent = load(model_file)
    agent._training_replies = ["Oh."]
    with pytest.raises(OptionError, match="all replies of a batch are the same"):
        agent._losses([Message({"lines": ["Hello"], "labels": ["Oh."]})])


def test_score_order_matches_the_ranking(loud: Path, model_file: Path) -> None:
    lines, replies = ["I lost my job.", "Oh no."], ["I am so sorry.", "Well done!", "Herons.", "Why?"]
    for path in (loud, model_file):
        agent = load(path)
        scores = agent.score_pairs([lines] * 4, replies)
        assert ((scores > 0) & (scores < 1)).all()
        ranked = agent._rank([Message({"lines": lines, "label_candidates": replies})]).text_candidates[0]
        assert ranked == [replies[place] for place in (-scores).argsort(kind="stable")]
    assert agent.score_pairs([], []).shape == (0,)


def test_true_reply_behind_a_hundred_others_has_a_rank(model_file: Path) -> None:
    agent = load(model_file)
    lines, replies = ["I lost my job."], agent.retriever.pool().texts[:120]
    message = Message({"lines": lines, "label_candidates": replies})
    last = agent._rank([message]).text_candidates[0][-1]
    message["eval_labels"] = [last]
    message["fold"] = "test"
    message["id"] = TASK["task"]
    agent._rank([message])
    [rank] = agent._local_metrics["rank"]
    assert float(rank) == 120


def test_rank_is_that_of_the_best_of_several_true_replies(model_file: Path) -> None:
    agent = load(model_file)
    message = Message({"lines": ["I lost my job."], "label_candidates": agent.retriever.pool().texts[:9]})
    [ranked] = agent._rank([message]).text_candidates
    message |= {"eval_labels": [ranked[6], ranked[2]], "fold": "test", "id": TASK["task"]}
    agent._rank([message])
    assert [float(value) for value in agent._local_metrics["rank"]] == [3]
    assert [float(value) for value in agent._local_metrics["mrr"]] == pytest.approx([1 / 3])


@pytest.mark.parametrize(("top", "expected"), [(4, 100), (110, 110)])
def test_a_hundred_replies_of_the_pool_are_shown_or_all_that_are_reranked(
    model_file: Path, top: int, expected: int
) -> None:
    agent = load(model_file, rerank_top=top)
    [shown] = agent._rank([Message({"lines": ["I lost my job."]})]).text_candidates
    assert len(shown) == len(set(shown)) == expected


def test_chat_replies_come_from_the_retriever_pool(model_file: Path) -> None:
    agent = load(model_file, interactive_mode=True)
    pool = agent.retriever.pool().texts
    for text in ("I passed my exam!", "Thank you so much."):
        agent.observe(Message({"text": text, "episode_done": False}))
        said = agent.act()["text"]
        assert said in pool
    agent.observe(Message({"text": "And you?", "episode_done": False}))
    assert said in agent.observation["lines"]


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_blank_message_gets_a_reply_from_the_pool(model_file: Path, blank: str) -> None:
    agent = load(model_file, interactive_mode=True)
    for text in (blank, "I passed my exam!"):
        agent.observe(Message({"text": text, "episode_done": False}))
        assert agent.act()["text"] in agent.retriever.pool().texts


def test_unknown_pool_is_an_error_at_once(model_file: Path) -> None:
    with pytest.raises(OptionError, match=r"^--pool edd: 'edd' is not one of ed, dd"):
        load(model_file, pool="edd")


@pytest.mark.parametrize("typed", [(), ("--preset", "default")])
def test_training_defaults_are_the_rerankers_own(typed: tuple[str, ...]) -> None:
    opt = TrainModel.setup_args().parse_args(["-m", "empathy:rerank", *typed])
    assert (opt["num_epochs"], opt["negatives"], opt["validation_metric"]) == (2.0, 7, "mrr")


def test_pool_option_selects_the_pool(model_file: Path) -> None:
    agent = load(model_file, interactive_mode=True, pool="empathy:empathetic_dialogues:Speaker")
    assert set(agent.retriever.pool().texts) != set(load(model_file).retriever.pool().texts)


@pytest.mark.parametrize("kind", ["retriever", "model_file"])
def test_evaluation_without_a_pool_omits_avg_bleu_only(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def none(self: Any) -> list[str]:
        raise DataError("the replies are gone")

    monkeypatch.setattr(RetrievalAgent, "_pool_texts", none)
    report = evaluate(request.getfixturevalue(kind), pool="dd", num_examples=4)
    assert "hits@1" in report
    assert "avg_bleu" not in report


def test_training_resumes_from_checkpoint(tmp_path: Path, bert: Path, retriever: Path) -> None:
    train(tmp_path / "model", bert, retriever, max_train_steps=2)
    first = torch.load(tmp_path / "model.checkpoint", weights_only=False)
    train(tmp_path / "model", bert, retriever, max_train_steps=4)
    assert torch.load(tmp_path / "model.checkpoint", weights_only=False)["number_training_updates"] == 4
    assert first["number_training_updates"] == 2


# --- what cannot work ------------------------------------------------------------------------------------------------


def test_missing_retriever_raises_error(tmp_path: Path, bert: Path) -> None:
    with pytest.raises(OptionError, match="--retriever is missing: name a trained model"):
        train(tmp_path / "model", bert, retriever="")  # type: ignore[arg-type]
    with pytest.raises(ModelFileError, match=r"--retriever .*gone is not a trained model"):
        train(tmp_path / "model", bert, tmp_path / "gone")


def test_retriever_of_another_agent_raises_option_error(tmp_path: Path, bert: Path) -> None:
    judge = train_judge(tmp_path / "judge")
    with pytest.raises(
        OptionError,
        match=r"--retriever .*empathy:text_classifier is not a retriever; name a trained model of empathy:retrieval",
    ):
        train(tmp_path / "model", bert, judge)


def test_moved_model_works_without_the_original_retriever(tmp_path: Path, bert: Path, retriever: Path) -> None:
    """The model can be moved, and does not depend on the file that was named as its retriever."""
    named = tmp_path / "named"
    for ending in ("", ".opt", ".dict"):
        shutil.copyfile(f"{retriever}{ending}", f"{named}{ending}")
    train(tmp_path / "model", bert, named)
    before = load(tmp_path / "model").retriever.encode_turns([["hello"]])
    for ending in ("", ".opt", ".dict"):
        Path(f"{named}{ending}").unlink()
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in tmp_path.glob("model*"):
        path.rename(moved / path.name)
    assert torch.equal(load(moved / "model").retriever.encode_turns([["hello"]]), before)


def test_damaged_retriever_raises_model_file_error(tmp_path: Path, bert: Path, retriever: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(retriever.read_bytes()[:1000])
    for ending in (".opt", ".dict"):
        Path(f"{broken}{ending}").write_bytes(Path(f"{retriever}{ending}").read_bytes())
    with pytest.raises(ModelFileError, match="broken is cut off or damaged"):
        train(tmp_path / "model", bert, broken)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rerank_top": 1}, "--rerank-top 1: must be at least 2"),
        ({"classes": ["a", "b"]}, "--classes a b"),
        ({"loss": "nnpu"}, "--loss nnpu: empathy:rerank supports only ce"),
    ],
)
def test_invalid_options_raise_option_error(
    tmp_path: Path, bert: Path, retriever: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        train(tmp_path / "model", bert, retriever, **changes)
