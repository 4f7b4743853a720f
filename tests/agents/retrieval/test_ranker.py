"""Evaluation, chats and the pool of a retrieval model that was briefly trained on the built-in sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.opt import Opt
from parlai.scripts.display_model import DisplayModel
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.train_model import TrainModel
from sample_models import copy_of, evaluate, load
from tiny_parts import observed
from tiny_retrieval import TASK, TINY, chat_agent, talk, train

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.metrics.precision_at_k import block_ranks, precision_at

# --- evaluation ------------------------------------------------------------------------------------------------------


def test_evaluation_reports_own_and_parlai_metrics(model_file: Path) -> None:
    report = evaluate(model_file)
    ours = {f"p_at_{k}_100_{protocol}" for k in (1, 3, 10) for protocol in ("shuffled", "ordered", "inline")}
    assert ours | {"avg_bleu", "hits@1", "mrr", "f1", "exs", "loss"} <= set(report)
    for key in ours | {"avg_bleu"}:
        assert "split:test" in report[key].signature
    assert int(report["exs"]) == 142  # the sample's Listener turns
    assert "n:100" in report["p_at_1_100_shuffled"].signature
    assert "n:142" in report["p_at_1_100_inline"].signature


def test_block_precision_matches_per_example_computation(model_file: Path) -> None:
    """Computes the same number from the agent's encoders, one text at a time, and the sample's own reader."""
    from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
    from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

    agent = create_agent_from_model_file(str(model_file))
    model = agent.model.eval()

    def tokens(text: str) -> torch.Tensor:
        return torch.tensor([agent.dict.txt2vec(text)])

    contexts, replies = [], []
    with torch.no_grad():
        for dialogue in read_empathetic_dialogues(SAMPLE / "test.csv"):
            for i in range(1, len(dialogue.turns), 2):
                before = "\n".join(turn.text for turn in dialogue.turns[max(0, i - 4) : i])
                contexts.append(model.contexts(tokens(before)[:, -100:]))
                replies.append(model.replies(tokens(dialogue.turns[i].text)))
    report = evaluate(model_file)
    for protocol in ("shuffled", "ordered"):
        ranks = block_ranks(torch.cat(contexts), torch.cat(replies), protocol)
        for k in (1, 3, 10):
            assert float(report[f"p_at_{k}_100_{protocol}"]) == pytest.approx(precision_at(k, ranks))


@pytest.mark.parametrize("batchsize", [1, 50])
def test_evaluation_metrics_do_not_depend_on_batch_size(model_file: Path, batchsize: int) -> None:
    report, other = evaluate(model_file), evaluate(model_file, batchsize=batchsize)
    for key in ("p_at_1_100_shuffled", "p_at_10_100_ordered", "p_at_3_100_inline", "avg_bleu", "mrr", "hits@1"):
        assert float(report[key]) == pytest.approx(float(other[key]))


def test_display_model_shows_one_reply_per_example(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DisplayModel.main(**TASK, model_file=str(model_file), num_examples=2, loglevel="error")
    assert capsys.readouterr().out.count("model: ") == 2


def test_inline_candidates_lists_may_differ_in_length(model_file: Path) -> None:
    """Each example's loss is that of its own candidates: the shorter list's padding is not another reply."""
    agent = load(model_file, candidates="inline", datatype="train", dropout=0.0)
    lists = [["Why?", "I see."], ["How sad.", "Well done!", "Why?", "I see.", "Oh no."]]
    with torch.no_grad():
        context = agent.encode_turns([["I am sad"]])[0]
        scores = [agent.encode_texts([texts])[0] @ context for texts in lists]
    expected = [float(-each.log_softmax(0)[texts.index("I see.")]) for each, texts in zip(scores, lists, strict=True)]
    messages = [{"text": "I am sad", "labels": ["I see."], "label_candidates": texts} for texts in lists]
    replies = agent.batch_act(observed(agent, *messages))
    assert [float(reply["metrics"]["mean_loss"]) for reply in replies] == pytest.approx(expected, rel=1e-5)


def test_signature_mentions_side_by_side_order_of_batches(model_file: Path, tmp_path: Path) -> None:
    lines = tmp_path / "turns.txt"
    turns = [f"text:I am sad {i}\tlabels:reply {i}" + "\tepisode_done:True" * (i % 4 == 3) + "\n" for i in range(100)]
    lines.write_text("".join(turns))
    settings = {"task": "fromfile:parlaiformat", "fromfile_datapath": str(lines), "fromfile_datatype_extension": False}
    for batchsize, named in ((1, False), (5, True)):
        report = EvalModel.main(
            model_file=str(model_file), **settings, batchsize=batchsize, datatype="valid", loglevel="error"
        )
        signature = report["p_at_1_100_shuffled"].signature
        assert ("order:side-by-side-5" in signature) is named, signature


def test_task_without_candidates_ranks_the_batch(model_file: Path, tmp_path: Path) -> None:
    lines = tmp_path / "pairs.txt"
    lines.write_text("".join(f"text:I am sad {i}\tlabels:reply {i}\tepisode_done:True\n" for i in range(6)))
    report = EvalModel.main(
        model_file=str(model_file), task="fromfile:parlaiformat", fromfile_datapath=str(lines), batchsize=3,
        fromfile_datatype_extension=False, datatype="valid", loglevel="error",
    )  # fmt: skip
    assert int(report["exs"]) == 6
    assert float(report["rank"]) <= 3
    assert str(float(report["p_at_1_100_shuffled"])) == "nan", "six examples are too few for P@1,100: no number, not 0"


def test_batch_with_an_example_without_reply_is_answered_but_not_measured(model_file: Path) -> None:
    agent = load(model_file, datatype="valid")
    candidates = ["How great.", "Oh no.", "Hm?"]
    said = [{"text": text, "label_candidates": candidates} for text in ("We won!", "I lost my dog.")]
    alone = [agent.batch_act(observed(agent, each))[0]["text"] for each in said]
    replies = agent.batch_act(observed(agent, {**said[0], "eval_labels": ["How great."]}, said[1]))
    assert [reply["text"] for reply in replies] == alone
    assert not {"avg_bleu", "hits@1", "rank", "loss", "p_at_1_100_shuffled"} & set(agent.report())


@pytest.mark.parametrize("source", ["inline", "batch"])
def test_example_alone_in_its_batch_is_not_ranked(model_file: Path, tmp_path: Path, source: str) -> None:
    """Alone it would always be ranked first; the seventh of seven, in batches of two, is excluded."""
    lines = tmp_path / "pairs.txt"
    lines.write_text("".join(f"text:I am sad {i}\tlabels:reply {i}\tepisode_done:True\n" for i in range(7)))
    of_ranks = {"rank", "mrr", "hits@1", "accuracy", "bleu-4", "loss"}

    def report(examples: int, batchsize: int) -> dict[str, Any]:
        return EvalModel.main(  # type: ignore[no-any-return]
            model_file=str(model_file), task="fromfile:parlaiformat", fromfile_datapath=str(lines),
            fromfile_datatype_extension=False, datatype="valid", eval_candidates=source, batchsize=batchsize,
            num_examples=examples, loglevel="error",
        )  # fmt: skip

    assert not of_ranks & report(7, batchsize=1).keys()
    of_six, of_seven = report(6, batchsize=2), report(7, batchsize=2)
    assert int(of_seven["exs"]) == 7
    assert {name: float(of_seven[name]) for name in of_ranks} == {name: float(of_six[name]) for name in of_ranks}


def test_single_candidate_is_not_a_correct_choice(model_file: Path) -> None:
    agent = load(model_file, datatype="valid")
    single = {"text": "I won!", "label_candidates": ["How great."], "eval_labels": ["How great."]}
    two = {**single, "label_candidates": ["How great.", "Oh no."]}
    first, second = agent.batch_act(observed(agent, single, two))
    assert (first["text"], first["text_candidates"]) == (None, None), "it would be ranked first"
    assert set(second["text_candidates"]) == {"How great.", "Oh no."}
    assert not {"rank", "mrr", "loss"} & agent.report().keys()
    del single["eval_labels"]
    assert agent.batch_act(observed(agent, single))[0]["text"] == "How great.", "without a true reply it is an answer"


def test_validation_encodes_fixed_candidates_with_current_weights(tmp_path: Path, model_file: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    agent = load(copy, eval_candidates="fixed", datatype="train", learningrate=0.1)
    for name in ("labels", "eval_labels"):  # a training step, then a validation
        messages = [{"text": text, name: [text]} for text in agent.pool().texts[:20]]
        agent.batch_act(observed(agent, *messages))
    torch.testing.assert_close(agent.fixed_candidate_encs, agent._encode_replies(agent.fixed_candidates))


def test_inline_candidates_are_encoded_anew_after_a_step(model_file: Path) -> None:
    agent = load(model_file, datatype="train", learningrate=0.1)
    texts = ["Oh no.", "How great."]
    before = agent.encode_texts([texts])[0]
    agent.batch_act(observed(agent, *({"text": text, "labels": [text]} for text in texts)))
    after = agent.encode_texts([texts])[0]
    torch.testing.assert_close(after, agent._encode_replies(texts))
    assert not torch.allclose(after, before)


def test_fixed_candidates_allow_labels_outside_the_pool(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("parlai_empathy.agents.retrieval.ranker.warn_once", said.append)
    report = evaluate(model_file, eval_candidates="fixed", datatype="valid")
    assert int(report["exs"]) == 133
    assert "avg_bleu" in report
    assert "rank" not in report
    assert set(said) == {"the pool lacks some true replies: their batches have no loss and no rank, and hits@1 is low"}


# --- chat ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "I lost my job today.",
        "",
        "   ",
        "\n",
        "x" * 100_000,
        "word " * 20_000,
        "\x00\x07\x1b[31m\x7f",
        "😢😭 👩‍👩‍👧 \u202e\u2028",
        "zzzqqq unknownword",
        "[] {} <script> __null__ __unk__",
    ],
)
def test_every_message_gets_a_reply_from_the_pool(model_file: Path, message: str) -> None:
    agent = chat_agent(model_file)
    assert agent.respond(message) in agent.pool().texts


def test_chat_does_not_repeat_a_reply(model_file: Path) -> None:
    """Neither of the turns that the model still reads, nor of those before them."""
    agent = chat_agent(model_file)
    messages = ["I feel so sad about it."] * (2 * agent.opt["history_size"])
    replies = talk(agent, messages)
    assert len({*replies}) == len(messages)
    agent.reset()
    assert talk(agent, messages[:1]) == replies[:1]


def test_replies_of_a_batch_depend_on_their_own_conversations(model_file: Path) -> None:
    agent = chat_agent(model_file)
    messages = ["I feel so sad about it.", "My dog died.", "I feel so sad about it."]
    expected = talk(agent, messages)
    agent.reset()
    talk(agent, messages[:1])  # the agent that answers for all of them has a conversation of its own
    clones = [agent.clone(), agent.clone()]
    for message, reply in zip(messages, expected, strict=True):
        observed = [one.observe({"text": message, "episode_done": False}) for one in clones]
        replies = agent.batch_act(observed)
        assert [each["text"] for each in replies] == [reply, reply]
        for one, each in zip(clones, replies, strict=True):
            one.self_observe(each)


def test_single_reply_pool_may_repeat_in_chat(model_file: Path, tmp_path: Path) -> None:
    (tmp_path / "replies.txt").write_text("I am here for you.\n\n")
    agent = create_agent_from_model_file(
        str(model_file), Opt(interactive_mode=True, fixed_candidates_path=str(tmp_path / "replies.txt"))
    )
    assert talk(agent, ["Hello.", "And?"]) == ["I am here for you."] * 2


def test_chat_without_a_model_or_pool_raises_option_error(tmp_path: Path) -> None:
    options = Interactive.setup_args().parse_args(["-m", "empathy:retrieval", "-dp", str(tmp_path)])
    with pytest.raises(OptionError, match=r"^nothing to answer from: name a trained model with -mf, or "):
        create_agent(options)


# --- the pool --------------------------------------------------------------------------------------------------------


def test_training_stores_the_pool(model_file: Path) -> None:
    pool = torch.load(f"{model_file}.pool", weights_only=True)
    assert len(pool["texts"]) == len(pool["encodings"]) == len(set(pool["texts"])) > 300


def test_unknown_pool_is_an_error_before_any_evaluation(model_file: Path) -> None:
    options = EvalModel.setup_args().parse_args(["-mf", str(model_file), "-t", TASK["task"], "--pool", "replies.txt"])
    with pytest.raises(OptionError, match=r"^--pool replies\.txt: .* --fixed-candidates-path names a file of replies$"):
        create_agent(options)


def test_candidates_file_does_not_replace_the_stored_pool(model_file: Path, tmp_path: Path) -> None:
    before = Path(f"{model_file}.pool").read_bytes()
    (tmp_path / "replies.txt").write_text("I am here for you.\n")
    create_agent_from_model_file(
        str(model_file), Opt(interactive_mode=True, fixed_candidates_path=str(tmp_path / "replies.txt"))
    ).respond("Hello.")
    assert Path(f"{model_file}.pool").read_bytes() == before


def test_missing_candidates_file_raises_model_file_error(model_file: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.txt cannot be read .*--fixed-candidates-path"):
        create_agent_from_model_file(
            str(model_file), Opt(interactive_mode=True, fixed_candidates_path=str(tmp_path / "nowhere.txt"))
        )


def test_rebuilt_pool_contains_only_training_replies(tmp_path: Path) -> None:
    """It must not contain the replies of the evaluation, although the same option names their file."""
    for fold in ("train", "test"):
        turns = [f"text:I am {fold} {i}\tlabels:{fold} reply {i}\tepisode_done:True\n" for i in range(8)]
        (tmp_path / f"{fold}.txt").write_text("".join(turns))
    model = tmp_path / "model"
    of_file = {"task": "fromfile:parlaiformat", "fromfile_datatype_extension": False}
    tiny = {name: value for name, value in TINY.items() if name not in TASK}
    TrainModel.main(
        **tiny, **of_file, fromfile_datapath=str(tmp_path / "train.txt"), batchsize=4, model_file=str(model)
    )
    model.with_name("model.pool").unlink()
    EvalModel.main(
        model_file=str(model), **of_file, fromfile_datapath=str(tmp_path / "test.txt"), datatype="test",
        batchsize=4, loglevel="error",
    )  # fmt: skip
    agent = load(model)
    assert sorted(agent.pool().texts) == [f"train reply {i}" for i in range(8)]


def test_rebuilt_pool_comes_from_the_training_task(tmp_path: Path) -> None:
    """A model whose training was interrupted has no pool: the first use builds it, here an evaluation on emotions."""
    train(tmp_path / "model", num_epochs=1)
    stored = Path(f"{tmp_path / 'model'}.pool")
    before = torch.load(stored, weights_only=True)
    stored.unlink()
    evaluate(tmp_path / "model", task="empathy:empathetic_dialogues:ContextEmotion")
    assert torch.load(stored, weights_only=True)["texts"] == before["texts"]


def test_moved_model_answers_from_its_pool_without_the_training_file(tmp_path: Path) -> None:
    data, model = tmp_path / "train.txt", tmp_path / "model"
    data.write_text("".join(f"text:I am {i}\tlabels:Reply {i}\tepisode_done:True\n" for i in range(8)))
    tiny = {name: value for name, value in TINY.items() if name not in TASK}
    TrainModel.main(
        **tiny, task="fromfile:parlaiformat", fromfile_datatype_extension=False, fromfile_datapath=str(data),
        batchsize=4, model_file=str(model),
    )  # fmt: skip
    data.unlink()
    assert chat_agent(model).respond("Hello.") in {f"Reply {i}" for i in range(8)}


def test_pool_is_rebuilt_for_changed_weights(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    states = torch.load(copy, weights_only=True)
    states["model"]["embedding.weight"] += 1
    torch.save(states, copy)
    agent = chat_agent(copy)
    assert agent.respond("Hello.") in agent.pool().texts
    old, new = (torch.load(f"{path}.pool", weights_only=True) for path in (model_file, copy))
    assert old["fingerprint"] != new["fingerprint"]
    assert old["texts"] == new["texts"]


@pytest.mark.parametrize("changes", [{"score": "dot"}, {"temperature": 0.3}, {"label_truncate": 3}])
def test_encoding_options_change_the_pool(model_file: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    copy = copy_of(model_file, tmp_path)
    agent = load(copy, **changes)
    torch.testing.assert_close(agent.pool().encodings, agent._encode_replies(agent.pool().texts))
    assert agent.pool().fingerprint != load(model_file).pool().fingerprint


def test_unwritable_pool_is_used_with_a_warning(
    model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model's folder may be read-only. (That would not stop root, as whom the tests may run.)"""
    copy = copy_of(model_file, tmp_path)
    Path(f"{copy}.pool").unlink()
    (tmp_path / "model.pool.blocked").touch()
    path = tmp_path / "model.pool.blocked" / "model"  # a file cannot be a parent folder
    agent = load(copy)
    monkeypatch.setattr(agent, "_pool_path", lambda: str(path))
    warned: list[str] = []
    monkeypatch.setattr("parlai_empathy.agents.retrieval.pool.logging.warning", warned.append)
    assert agent.pool().texts == torch.load(f"{model_file}.pool", weights_only=True)["texts"]
    assert any(text.startswith(f"{path} cannot be written") for text in warned)


def test_pool_max_tokens_limits_the_pool(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    texts = {
        limit: create_agent_from_model_file(str(copy), Opt(interactive_mode=True, pool_max_tokens=limit)).pool().texts
        for limit in (10, 20, -1)
    }
    assert len(texts[10]) < len(texts[20]) < len(texts[-1]) == 624  # all of the sample's training replies
