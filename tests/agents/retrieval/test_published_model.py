"""The agent on a checkpoint of the paper's authors: it has their vectors, and can be trained further."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from published_checkpoints import PIECES, WORDS, bert_state, linear, theirs, transformer_state, word_dict, write
from sample_models import load
from tiny_parts import observed, train, train_classifier
from transformers import BertModel

from parlai_empathy.errors import ModelFileError, OptionError

TASK: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample", "loglevel": "error"}
SHORT = {"precision": "float32", "text_truncate": 20, "label_truncate": 20, "pool_max_tokens": -1}
CONTEXT, REPLY = "the dog won\nthe cat", "won the dog"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return write(tmp_path / "paper.mdl", transformer_state())


def agent_of(checkpoint: Path, **changes: Any) -> Any:
    parser = ParlaiParser(True, True)
    options = {"model": "empathy:retrieval", "init_model": str(checkpoint), **TASK, **SHORT, **changes}
    return create_agent(parser.parse_kwargs(**options), requireModelExists=False)


def vectors(agent: Any, context: str, reply: str) -> tuple[torch.Tensor, torch.Tensor]:
    agent.model.eval()
    encoded = agent.encode_turns([context.split("\n")])
    with torch.no_grad():
        return encoded[0], agent.encode_candidates(agent.reply_tokens(reply).unsqueeze(0))[0]


def ids(words: list[str]) -> list[int]:
    return [WORDS.index(word) if word in WORDS else WORDS.index("<UNK>") for word in words]


def test_transformer_checkpoint_gives_reference_encodings(checkpoint: Path) -> None:
    context, reply = vectors(agent_of(checkpoint), CONTEXT, REPLY)
    state = transformer_state()
    turns = ["the", "dog", "won", "<SOC>", "the", "cat"]
    torch.testing.assert_close(context, theirs(state, "ctx", ids(turns)), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(reply, theirs(state, "cand", ids(REPLY.split())), atol=1e-5, rtol=1e-4)


def test_bert_checkpoint_gives_reference_encodings(tmp_path: Path) -> None:
    state, berts, _ = bert_state()
    write(tmp_path / "bert.mdl", state, word_dict(PIECES), model="bert")
    context, reply = vectors(agent_of(tmp_path / "bert.mdl"), "dogs\nwon", "won dog")
    # Their <SOC> separates the turns, without start or end tokens.
    for side, bert, vector, text in (
        ("ctx", berts[0], context, ["dog", "##s", "<SOC>", "won"]),
        ("cand", berts[1], reply, ["won", "dog"]),
    ):
        assert isinstance(bert, BertModel)
        with torch.no_grad():
            first = bert(input_ids=torch.tensor([[PIECES.index(word) for word in text]])).last_hidden_state[0, 0]
        expected = linear(first, state, f"{side}_bert.additional_linear_layer")
        torch.testing.assert_close(vector, expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("kind", ["transformer", "bert"])
def test_trained_model_does_not_need_the_checkpoint(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "paper.mdl"
    if kind == "bert":
        write(path, bert_state()[0], word_dict(PIECES), model="bert")
    else:
        write(path, transformer_state())
    model_file = tmp_path / "model"
    options = {**TASK, **SHORT, "model": "empathy:retrieval", "model_file": str(model_file), "batchsize": 16}
    TrainModel.main(**options, init_model=str(path), max_train_steps=2, learningrate=0.0)
    before = vectors(agent_of(path), CONTEXT, REPLY)
    path.unlink()
    agent = create_agent_from_model_file(str(model_file), Opt({"loglevel": "error"}))
    for ours, published in zip(vectors(agent, CONTEXT, REPLY), before, strict=True):
        torch.testing.assert_close(ours, published)
    report = EvalModel.main(**TASK, model_file=str(model_file), datatype="test")
    assert 0 <= float(report["p_at_1_100_shuffled"]) <= 1
    assert agent.opt["truncate_context"] == "newest"


def test_init_model_may_itself_come_from_a_checkpoint(tmp_path: Path, checkpoint: Path) -> None:
    options = {
        **TASK,
        **SHORT,
        "model": "empathy:retrieval",
        "batchsize": 16,
        "max_train_steps": 1,
        "learningrate": 0.0,
    }
    TrainModel.main(**options, init_model=str(checkpoint), model_file=str(tmp_path / "first"))
    sizes = {"embedding_size": 6, "n_heads": 2, "n_layers": 2, "ffn_size": 24, "n_positions": 20, "score": "dot"}
    TrainModel.main(**options, **sizes, init_model=str(tmp_path / "first"), model_file=str(tmp_path / "second"))
    agent = create_agent_from_model_file(str(tmp_path / "second"), Opt({"loglevel": "error"}))
    assert agent.dict.tok2ind == {word: number for number, word in enumerate(WORDS)}


# --- agents that are built on it -------------------------------------------------------------------------------------


@pytest.fixture
def bert_checkpoint(tmp_path: Path) -> Path:
    return write(tmp_path / "bert.mdl", bert_state()[0], word_dict(PIECES), model="bert")


@pytest.mark.parametrize("kind", ["checkpoint", "bert_checkpoint"])
@pytest.mark.parametrize("agent", ["multitask", "prepend"])
def test_multitask_and_prepend_agents_start_from_a_checkpoint(
    tmp_path: Path, kind: str, agent: str, request: pytest.FixtureRequest
) -> None:
    """With an emotion head, or labels, which the checkpoint does not have."""
    options = {"init_model": str(request.getfixturevalue(kind)), "learningrate": 0.0, "max_train_steps": 1, **SHORT}
    if agent == "prepend":
        options["classifier"] = str(train_classifier(tmp_path / "classifier", max_train_steps=1, num_epochs=-1))
        options |= {"text_truncate": 8, "label_truncate": 8}
    own = load(train(tmp_path / "model", f"empathy:{agent}", **options))
    theirs = agent_of(request.getfixturevalue(kind)).model.state_dict()
    for name, values in theirs.items():
        mine = own.model.state_dict()[name]
        torch.testing.assert_close(mine[: len(values)], values)


def test_labels_precede_texts_of_a_bert_checkpoint(tmp_path: Path, bert_checkpoint: Path) -> None:
    """Its texts have no start token after which labels could be inserted."""
    classifier = train_classifier(tmp_path / "classifier", max_train_steps=1, num_epochs=-1)
    short = {**SHORT, "text_truncate": 8, "label_truncate": 8}
    options = {"classifier": str(classifier), "init_model": str(bert_checkpoint), "max_train_steps": 1}
    agent = load(train(tmp_path / "model", "empathy:prepend", **options, **short))
    (labels,) = agent.labels_of(["dogs won"])
    expected = agent.labelled(agent.dict.txt2vec("dogs won", torch.LongTensor), labels, 0)
    assert torch.equal(agent.replies_tokens(["dogs won"])[0], expected)
    assert expected[-3:].tolist() == agent.dict.txt2vec("dogs won")


def test_ensemble_encodes_like_its_published_base_model(tmp_path: Path, bert_checkpoint: Path) -> None:
    base = train(tmp_path / "base", "empathy:retrieval", init_model=str(bert_checkpoint), max_train_steps=1, **SHORT)
    classifier = train_classifier(tmp_path / "classifier", max_train_steps=1, num_epochs=-1)
    options = {"base_model": str(base), "classifier": str(classifier), "max_train_steps": 1}
    ensemble = load(train(tmp_path / "ensemble", "empathy:ensemble", **options))
    (obs,) = observed(ensemble, {"text": "dogs won"})
    torch.testing.assert_close(ensemble._base_contexts([obs["text_vec"]]), load(base).encode_turns([["dogs won"]]))


def test_option_conflicting_with_checkpoint_raises_option_error(tmp_path: Path, checkpoint: Path) -> None:
    with pytest.raises(OptionError, match=r"^--n-layers 4: --init-model .*paper\.mdl has 2; leave --n-layers out$"):
        train(tmp_path / "model", "empathy:retrieval", init_model=str(checkpoint), n_layers=4)


def test_chat_replies_come_from_the_candidates_file(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "replies.txt").write_text("the dog won\nwon\n")
    agent = agent_of(checkpoint, fixed_candidates_path=str(tmp_path / "replies.txt"), interactive_mode=True)
    agent.observe(Message({"text": "the dog", "episode_done": False}))
    assert agent.act()["text"] in ("the dog won", "won")


def test_dictionary_left_by_a_judge_raises_model_file_error(tmp_path: Path) -> None:
    (tmp_path / "model.dict").write_text('["</s>", 3]\n["i", 2]\n')
    with pytest.raises(ModelFileError, match=r"model\.dict is the dictionary of another kind of agent: delete it"):
        train(tmp_path / "model", "empathy:retrieval", **SHORT)


def test_damaged_checkpoint_raises_model_file_error(tmp_path: Path) -> None:
    (tmp_path / "broken.mdl").write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match=r"broken\.mdl is damaged"):
        agent_of(tmp_path / "broken.mdl")
