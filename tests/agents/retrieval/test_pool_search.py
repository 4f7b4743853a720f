"""Replies from a pool: the same as by ParlAI's ranking, with and without an index; and when an index is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from parlai.core.agents import create_agent_from_model_file
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.torch_ranker_agent import TorchRankerAgent
from parlai.scripts.train_model import TrainModel

from parlai_empathy.agents.retrieval import pool_search
from parlai_empathy.agents.retrieval.pool import Pool, load_pool
from parlai_empathy.agents.retrieval.pool_search import best_replies, index_for
from parlai_empathy.agents.retrieval.vector_index import VectorIndex
from parlai_empathy.errors import OptionError

MESSAGES = ["I lost my job today.", "We won the game!", "zzz", "", "My dog ran away and I am so sad.", "Hello"]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("search") / "model"
    TrainModel.main(
        task="empathy:empathetic_dialogues", edition="sample", model="empathy:retrieval", model_file=str(path),
        embedding_size=16, n_heads=2, n_layers=1, ffn_size=16, num_epochs=2, seed=7, pool_max_tokens=-1,
        loglevel="error",
    )  # fmt: skip
    return path


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat the sample's 624 replies as a large pool."""
    pytest.importorskip("faiss")
    monkeypatch.setattr(pool_search, "_FEWEST", 10)
    monkeypatch.setattr(pool_search, "_LARGE", 600)


def chat_agent(model_file: Path, **options: Any) -> Any:
    return create_agent_from_model_file(str(model_file), Opt(interactive_mode=True, **options))


def batch_of(agent: Any, messages: list[str]) -> Any:
    observed = []
    for message in messages:
        agent.reset()
        observed.append(agent.observe(Message({"text": message, "episode_done": True})))
    return agent.batchify(observed)


def test_best_replies_are_in_order_and_without_places_that_an_index_leaves_empty() -> None:
    pool = Pool(["a", "b", "c"], torch.tensor([[3.0, 0.0], [0.0, 1.0], [2.0, 2.0]]), "x")
    contexts = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    scores, texts = best_replies(pool, None, contexts, 2)
    assert scores.tolist() == [[3.0, 2.0], [2.0, 1.0]]
    assert texts == [["a", "c"], ["c", "b"]]
    places = torch.tensor([[0, 2], [2, -1]])  # of the second context's replies, an index finds only one
    index: Any = SimpleNamespace(search=lambda contexts, k: (scores, places))
    assert best_replies(pool, index, contexts, 2)[1] == [["a", "c"], ["c"]]


@pytest.mark.parametrize("choice", ["exact", "approximate", "auto"])
@pytest.mark.usefixtures("few")
def test_replies_match_parlai_ranking(model_file: Path, choice: str) -> None:
    agent = chat_agent(model_file, pool_index=choice, return_cand_scores=True)
    with torch.no_grad():
        ours = agent.eval_step(batch_of(agent, MESSAGES))
        theirs = TorchRankerAgent.eval_step(agent, batch_of(agent, MESSAGES))
    assert (agent._pool_index() is None) is (choice == "exact")
    for mine, parlais in zip(ours.text_candidates, theirs.text_candidates, strict=True):
        assert len(mine) == len(parlais) == 100
        if choice == "exact":
            assert mine[:5] == parlais[:5]
    if choice == "exact":
        assert ours.text == theirs.text
        torch.testing.assert_close(ours.sorted_scores[:, :5], theirs.sorted_scores[:, :5])
    else:  # an index may occasionally miss the best reply
        same = sum(mine == parlais for mine, parlais in zip(ours.text, theirs.text, strict=True))
        assert same >= len(MESSAGES) - 1


def test_topk_inference_draws_from_the_best_replies(model_file: Path) -> None:
    agent = chat_agent(model_file, inference="topk", topk=3)
    with torch.no_grad():
        outputs = [agent.eval_step(batch_of(agent, MESSAGES[:1])) for _ in range(40)]
    assert {output.text[0] for output in outputs} == set(outputs[0].text_candidates[0][:3])


@pytest.mark.usefixtures("few")
def test_index_is_stored_with_the_pool_and_built_once(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Path(f"{model_file}.pool.index")
    stored.unlink(missing_ok=True)
    first = chat_agent(model_file).respond(MESSAGES[0])
    assert stored.is_file()
    monkeypatch.setattr(VectorIndex, "build", None)  # must not be called
    assert chat_agent(model_file).respond(MESSAGES[0]) == first


@pytest.mark.usefixtures("few")
def test_outdated_or_damaged_index_is_rebuilt(model_file: Path) -> None:
    stored, agent = Path(f"{model_file}.pool.index"), chat_agent(model_file)
    agent.respond(MESSAGES[0])
    whole = stored.read_bytes()
    for spoilt in (whole[:-50], whole.replace(agent.pool().fingerprint.encode(), b"of another model")):
        stored.write_bytes(spoilt)
        chat_agent(model_file).respond(MESSAGES[0])
        assert agent.pool().fingerprint.encode() in stored.read_bytes()


def test_small_pool_has_no_index(model_file: Path) -> None:
    agent = chat_agent(model_file, pool_index="approximate")
    assert agent.respond(MESSAGES[0]) in agent.pool().texts
    assert agent._pool_index() is None


def test_invalid_pool_index_raises_option_error() -> None:
    with pytest.raises(OptionError, match="--pool-index fast: must be one of auto, exact, approximate"):
        index_for("fast", Pool(["a"], torch.ones(1, 2), "x"), lambda turns: torch.ones(len(turns), 2))


@pytest.mark.usefixtures("few")
def test_index_with_low_recall_is_not_used(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_search, "RECALL", 1.1)
    assert chat_agent(model_file)._pool_index() is None


@pytest.mark.usefixtures("few")
def test_in_memory_pool_can_be_indexed(model_file: Path) -> None:
    agent = chat_agent(model_file)
    pool = replace(load_pool(f"{model_file}.pool"), path=None)
    read: list[list[str]] = []

    def encode(turns: list[list[str]]) -> torch.Tensor:
        read.extend(turns)
        encoded: torch.Tensor = agent.encode_turns(turns)
        return encoded

    index = index_for("approximate", pool, encode)
    assert index is not None
    # It is evaluated on contexts of two different replies: a single one would find itself.
    assert all(len(set(turns)) == 2 and set(turns) <= set(pool.texts) for turns in read)
    assert len(read) == 1000
    contexts = agent.encode_turns([["I lost my job."], ["Hi", "Hello"]])
    scores, texts = best_replies(pool, index, contexts, 2)
    expected_scores, expected = best_replies(pool, None, contexts, 2)
    torch.testing.assert_close(scores, expected_scores)
    assert texts == expected


def test_large_pool_works_without_faiss(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_search, "_FEWEST", 10)
    monkeypatch.setattr(pool_search, "_LARGE", 600)
    monkeypatch.setattr(pool_search.importlib.util, "find_spec", lambda name: None)
    agent = chat_agent(model_file)
    assert agent.respond(MESSAGES[0]) in agent.pool().texts
    assert agent._pool_index() is None
