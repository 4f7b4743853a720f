"""The reranker through ParlAI: a tiny retriever and a tiny cross-encoder, trained for a moment on the sample."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.agents import create_agent_from_model_file
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from tiny_judge import train_judge, write_bert

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.metrics.precision_at_k import block_order, key

TASK: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample", "loglevel": "error"}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("retriever") / "model"
    sizes = {"embedding_size": 16, "n_heads": 2, "n_layers": 1, "ffn_size": 16}
    TrainModel.main(
        **TASK, **sizes, model="empathy:retrieval", model_file=str(path), num_epochs=2, seed=7, precision="float32"
    )
    return path


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    return write_bert(tmp_path_factory.mktemp("bert") / "bert")


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
        **changes,
    }
    return TrainModel.main(**options, model_file=str(model_file))  # type: ignore[no-any-return]


def load(model_file: Path, **changes: Any) -> Any:
    return create_agent_from_model_file(str(model_file), Opt({"loglevel": "error", **changes}))


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, bert: Path, retriever: Path) -> Path:
    path = tmp_path_factory.mktemp("rerank") / "model"
    train(path, bert, retriever)
    return path


@pytest.fixture(scope="module")
def report(model_file: Path) -> dict[str, Any]:
    return EvalModel.main(**TASK, model_file=str(model_file), datatype="test")  # type: ignore[no-any-return]


def test_all_protocols_and_avg_bleu_are_reported(report: dict[str, Any]) -> None:
    for protocol in ("shuffled", "ordered", "inline"):
        values = [float(report[key(k, protocol)]) for k in (1, 3, 10)]
        assert 0 <= values[0] <= values[1] <= values[2] <= 1
        assert f"protocol:{protocol}|" in report[key(1, protocol)].signature
        assert "score:rerank-4" in report[key(1, protocol)].signature
    assert "decoding:rerank-4" in report["avg_bleu"].signature
    assert float(report["hits@1"]) == pytest.approx(float(report[key(1, "inline")]))


def test_what_the_retriever_does_not_find_stays_where_it_is(
    report: dict[str, Any], model_file: Path, retriever: Path
) -> None:
    """Behind the first four ranks nothing changes: P@10 is the retriever's, P@1 and P@3 need not be."""
    plain = EvalModel.main(**TASK, model_file=str(retriever), datatype="test")
    for protocol in ("shuffled", "ordered", "inline"):
        assert float(report[key(10, protocol)]) == pytest.approx(float(plain[key(10, protocol)]))
    whole = EvalModel.main(**TASK, model_file=str(model_file), datatype="test", rerank_top=100)
    assert float(whole[key(10, "inline")]) != pytest.approx(float(plain[key(10, "inline")]))


@pytest.mark.parametrize("protocol", ["shuffled", "ordered"])
def test_block_precision_equals_a_plain_computation(report: dict[str, Any], model_file: Path, protocol: str) -> None:
    """One context at a time: the retriever's four best of the block, sorted by the cross-encoder's score."""
    from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
    from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

    agent = load(model_file)
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
        read = agent.score_pairs([turns] * 4, [replies[place] for place in best])
        hits += best[int(read.argmax())] == true
    assert float(report[key(1, protocol)]) == pytest.approx(hits / 100)


def test_training_learns_from_the_retrievers_own_mistakes(model_file: Path, retriever: Path) -> None:
    stored = torch.load(f"{model_file}.negatives", weights_only=True)
    assert len(stored["places"]) > 100
    agent = load(model_file)
    lines = ["I lost my job last week.", "I feel so empty."]
    found = agent.retriever.encode_turns([lines])
    assert found.shape == (1, 16)
    assert torch.equal(agent.retriever.encode_turns([lines, ["hello"]])[0], found[0])


def test_it_chats_from_the_retrievers_pool(model_file: Path) -> None:
    agent = load(model_file, interactive_mode=True)
    pool = agent.retriever.pool().texts
    for text in ("I passed my exam!", "Thank you so much."):
        agent.observe(Message({"text": text, "episode_done": False}))
        said = agent.act()["text"]
        assert said in pool
    agent.observe(Message({"text": "And you?", "episode_done": False}))
    assert said in agent.observation["lines"]


def test_the_pool_can_be_chosen(model_file: Path) -> None:
    agent = load(model_file, interactive_mode=True, pool="empathy:empathetic_dialogues:Speaker")
    assert set(agent.retriever.pool().texts) != set(load(model_file).retriever.pool().texts)


def test_a_training_goes_on_where_it_was(tmp_path: Path, bert: Path, retriever: Path) -> None:
    train(tmp_path / "model", bert, retriever, max_train_steps=2)
    first = torch.load(tmp_path / "model.checkpoint", weights_only=False)
    train(tmp_path / "model", bert, retriever, max_train_steps=4)
    assert torch.load(tmp_path / "model.checkpoint", weights_only=False)["number_training_updates"] == 4
    assert first["number_training_updates"] == 2


# --- what cannot work ------------------------------------------------------------------------------------------------


def test_a_retriever_is_needed(tmp_path: Path, bert: Path) -> None:
    with pytest.raises(OptionError, match="--retriever is missing: name a trained model"):
        train(tmp_path / "model", bert, retriever="")  # type: ignore[arg-type]
    with pytest.raises(ModelFileError, match=r"--retriever .*gone is no trained model"):
        train(tmp_path / "model", bert, tmp_path / "gone")


def test_a_model_of_another_agent_is_no_retriever(tmp_path: Path, bert: Path) -> None:
    judge = train_judge(tmp_path / "judge")
    with pytest.raises(
        OptionError,
        match=r"--retriever .*empathy:text_classifier is no retriever; name a trained model of empathy:retrieval",
    ):
        train(tmp_path / "model", bert, judge)


def test_the_model_keeps_its_retriever(tmp_path: Path, bert: Path, retriever: Path) -> None:
    """It can be moved, and does not mind what becomes of the model that was named."""
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


def test_a_broken_retriever_is_named(tmp_path: Path, bert: Path, retriever: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(retriever.read_bytes()[:1000])
    for ending in (".opt", ".dict"):
        Path(f"{broken}{ending}").write_bytes(Path(f"{retriever}{ending}").read_bytes())
    with pytest.raises(ModelFileError, match="broken is not a model"):
        train(tmp_path / "model", bert, broken)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"rerank_top": 1}, "--rerank-top 1: must be at least 2"), ({"classes": ["a", "b"]}, "--classes a b")],
)
def test_values_that_cannot_work(
    tmp_path: Path, bert: Path, retriever: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        train(tmp_path / "model", bert, retriever, **changes)
