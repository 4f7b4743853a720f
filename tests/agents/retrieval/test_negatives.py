"""Hard negatives: which are drawn, and that mining them does not affect training otherwise."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from parlai.core.message import Message
from parlai.scripts.train_model import TrainModel
from sample_models import load
from tiny_retrieval import train

from parlai_empathy.agents.retrieval.negatives import FIRST, LAST, HardNegatives, _best, mine
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent

REPLIES = ["Oh no!", "Well done!", "When was it?", "I see."]
NEGATIVES = HardNegatives(REPLIES, {"I fell.\n\nOh no!": [1, 2, 3], "I won.\n\nWell done!": [0, 3]})


def example(text: str, reply: str) -> Message:
    return Message({"full_text": text, "labels": [reply]})


def test_draw_returns_requested_or_available_negatives() -> None:
    drawn = NEGATIVES.draw([example("I fell.", "Oh no!")], 2, random.Random(1))
    assert len(drawn[0]) == 2
    assert set(drawn[0]) < set(REPLIES[1:])
    assert NEGATIVES.draw([example("I fell.", "Oh no!")], 5, random.Random(1))[0] != []
    assert NEGATIVES.draw([example("I sang.", "Oh no!")], 5, random.Random(1)) == [[]], "it was not there when mined"


def test_negatives_skip_the_top_and_bottom_ranks() -> None:
    assert _best(-torch.arange(100.0)[None]) == [list(range(FIRST, LAST))]
    assert _best(torch.tensor([[1.0, 3.0, 2.0]])) == [[1, 2, 0]]  # all, if there are few replies


def test_true_replies_of_the_batch_are_never_drawn() -> None:
    """All negatives apply to all examples: another's true reply would be trained as wrong."""
    batch = [example("I fell.", "Oh no!"), example("I won.", "Well done!")]
    for seed in range(20):
        drawn = NEGATIVES.draw(batch, 2, random.Random(seed))
        assert set(drawn[0]) == {"When was it?", "I see."}
        assert drawn[1] == ["I see."]


def test_no_label_of_an_example_with_several_is_drawn() -> None:
    """ParlAI trains on a random one of them, each time on another."""
    batch = [example("I fell.", "Oh no!"), Message({"full_text": "Hi!", "labels": ["Hi.", "When was it?"]})]
    for seed in range(20):
        assert set(NEGATIVES.draw(batch, 2, random.Random(seed))[0]) == {"Well done!", "I see."}


def test_mined_replies_are_ranks_11_to_60_of_all_labels_but_the_own_ones(model_file: Path, tmp_path: Path) -> None:
    """Ranked again one context at a time. The second turn of each conversation has two labels."""
    words = [word for word in load(model_file).dict.tok2ind if word.isalpha()]  # known ones: no two texts score alike
    texts = [" ".join(words[place : place + 3]) for place in range(0, 840, 3)]
    first = [(texts[i], [texts[70 + i]]) for i in range(70)]
    second = [(texts[140 + i], [texts[210 + i], texts[70 + (i + 1) % 70]]) for i in range(70)]
    lines = tmp_path / "turns.txt"
    lines.write_text(
        "".join(
            f"text:{text}\tlabels:{labels[0]}\ntext:{then}\tlabels:{'|'.join(others)}\tepisode_done:True\n"
            for (text, labels), (then, others) in zip(first, second, strict=True)
        )
    )
    agent = load(
        model_file, task="fromfile:parlaiformat", fromfile_datapath=str(lines), fromfile_datatype_extension=False
    )
    found = mine(agent, agent.opt)
    assert set(found.replies) == {label for _, labels in first + second for label in labels}
    encodings = agent.encode_texts([found.replies])[0]
    assert len(found.places) == 140
    for (text, [said]), (then, labels) in zip(first, second, strict=True):
        for turns, true in (([text], [said]), ([text, said, then], labels)):
            ranked = (agent.encode_turns([turns])[0] @ encodings.T).argsort(descending=True).tolist()
            expected = [place for place in ranked[10:60] if found.replies[place] not in true]
            key = "\n".join([*turns, "", true[0]])
            assert found.places[key] == expected


def draw_as_one_of_two(rank: int, folder: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    batch = [[example("I fell.", "Oh no!")], [example("I won.", "Well done!")]][rank]
    drawn = [NEGATIVES.draw(batch, 2, random.Random(seed))[0] for seed in range(20)]
    torch.save(sorted({text for texts in drawn for text in texts}), f"{folder}/{rank}.pt")
    dist.destroy_process_group()


def test_true_replies_of_other_processes_are_never_drawn(tmp_path: Path) -> None:
    """The processes share their negatives as well."""
    mp.spawn(draw_as_one_of_two, args=(str(tmp_path),), nprocs=2)
    assert torch.load(tmp_path / "0.pt") == ["I see.", "When was it?"]
    assert torch.load(tmp_path / "1.pt") == ["I see."]


def test_training_from_another_model_mines_its_own_negatives(model_file: Path, tmp_path: Path) -> None:
    """A file of an earlier training lies where the new one's belongs."""
    path = tmp_path / "model"
    options = {"init_model": str(model_file), "hard_negatives": 1, "max_train_steps": 1, "validation_max_exs": 8}
    train(path, **options)
    own = HardNegatives.load(f"{path}.negatives")
    replace(own, model="another", places={}).save(f"{path}.negatives")
    for file in tmp_path.glob("model*"):
        if file.is_file() and file.suffix != ".negatives":
            file.unlink()
    train(path, **options)
    assert HardNegatives.load(f"{path}.negatives") == own


def test_mining_negatives_leaves_the_model_in_training_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trains: list[bool] = []
    losses = RetrievalAgent.losses

    def watched(self: RetrievalAgent, *args: Any) -> Any:
        trains.append(self.model.training)
        return losses(self, *args)

    monkeypatch.setattr(RetrievalAgent, "losses", watched)
    TrainModel.main(
        task="empathy:empathetic_dialogues", edition="sample", model="empathy:retrieval", embedding_size=16, n_heads=2,
        n_layers=1, ffn_size=16, hard_negatives=1, max_train_steps=3, validation_max_exs=10, seed=7, loglevel="error",
        model_file=str(tmp_path / "model"),
    )  # fmt: skip
    assert trains
    assert all(trains), trains
