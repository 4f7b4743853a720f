"""Model cards: the files match the list of models, and each card describes its model."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.zoo import card as module
from parlai_empathy.zoo.card import CARDS, card, main
from parlai_empathy.zoo.model import ZooModel
from parlai_empathy.zoo.model_list import MODELS


def test_cards_match_the_model_list() -> None:
    written = {path.stem: path.read_text(encoding="utf-8") for path in CARDS.glob("*")}
    assert written == {name: card(model) for name, model in MODELS.items()}, "run `python -m parlai_empathy.zoo.card`"


def test_card_of_a_trainable_model() -> None:
    model = ZooModel("new", "A new one", "-t x -m y", paper={"PPL": 21.24}, measured={"PPL": 30.5, "AVG BLEU": 5.0})
    text = card(model)
    assert text.startswith("# A new one\n\n`zoo:empathy/new/model`\n")
    assert "```console\n$ parlai train_model -t x -m y -mf data/models/empathy/new/model\n```" in text
    assert "`models/empathy/new/{model,model.opt,model.dict}`" in text
    assert "| PPL | 21.24 | 30.50 |\n| AVG BLEU |  | 5.00 |" in text
    assert "Not measured" not in text


def test_card_of_a_downloadable_model() -> None:
    model = ZooModel("old", "An old one", None, (), file="a.mdl", url="https://example.org/a.mdl", remark="Take care.")
    text = card(model)
    assert "\n\nTake care.\n\n" in text
    assert "<https://example.org/a.mdl>" in text
    assert "no checksum is published" in text
    assert "train_model" not in text
    assert "Not measured" in text


def test_cards_of_removed_models_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CARDS", tmp_path / "cards")
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "gone.md").touch()
    main()
    assert {path.stem for path in (tmp_path / "cards").iterdir()} == set(MODELS)
