"""Models that are not agents give the CPU's results: language models, sentence encoders, text classifiers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_generators import write_language_model
from tiny_judge import write_bert
from transformers import BertConfig, BertForSequenceClassification

from parlai_empathy.language_models.completion import Completion
from parlai_empathy.language_models.local.local_model import LocalModel
from parlai_empathy.language_models.prompt import Sampling
from parlai_empathy.modules.encoders.sentence_encoder import LibraryEncoder, MiniLM
from parlai_empathy.modules.pretrained.hugging_face import load_encoder, load_tokenizer
from parlai_empathy.scoring.fluency import Fluency
from parlai_empathy.scoring.text_scorers import ToxicModel

TEXTS = ["I am so sorry.", "ok", "Oh no! What happened to your cat, and when did you see it last?", "?!"]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """A function that calls another as if there were no GPU."""

    def call(function: Callable[[], Any]) -> Any:
        with monkeypatch.context() as change:
            change.setattr(torch.cuda, "is_available", lambda: False)
            return function()

    return call


def test_completions_match_cpu(tmp_path: Path) -> None:
    folder = str(write_language_model("llama", tmp_path / "llama"))
    sampling = Sampling(0, 1, 12)
    found = {}
    for device in (None, "cpu"):
        model = LocalModel(folder, device, "float32")
        found[model.device.type] = [one.text for one in model.complete(TEXTS, sampling) if isinstance(one, Completion)]
    assert found["cuda"] == found["cpu"]
    assert len(found["cpu"]) == len(TEXTS)


def test_fluency_matches_cpu(tmp_path: Path, here: Any) -> None:
    folder = str(write_language_model("gpt2", tmp_path / "gpt2"))
    expected = here(lambda: Fluency(folder)).perplexities(TEXTS)
    assert Fluency(folder).perplexities(TEXTS) == pytest.approx(expected, rel=1e-4)


def test_toxicity_matches_cpu(tmp_path: Path, here: Any) -> None:
    write_bert(tmp_path / "bert")
    config = BertConfig.from_pretrained(tmp_path / "bert", id2label={0: "toxic", 1: "fine"})
    BertForSequenceClassification(config).save_pretrained(tmp_path / "bert")
    expected = here(lambda: ToxicModel(str(tmp_path / "bert"))).score(TEXTS)
    assert ToxicModel(str(tmp_path / "bert")).score(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_sentence_embeddings_match_cpu(tmp_path: Path) -> None:
    folder = str(write_bert(tmp_path / "bert"))
    for read in (partial(MiniLM, load_tokenizer(folder), load_encoder(folder)), partial(LibraryEncoder, folder)):
        there, here = (read(device).encode(TEXTS) for device in ("cuda", "cpu"))
        assert there == pytest.approx(here, abs=1e-4)
