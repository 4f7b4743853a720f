"""Perplexities of replies, compared with the library's own loss of one text at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tiny_generators import write_language_model
from tiny_judge import write_bert

from parlai_empathy import __version__
from parlai_empathy.errors import ModelFileError, NotComputableError
from parlai_empathy.modules.fingerprint import weights_fingerprint
from parlai_empathy.scoring import fluency as module
from parlai_empathy.scoring.fluency import Fluency
from parlai_empathy.scoring.logged_reply import LoggedReply

# The tiny tokenizer's tokens are bytes.
TEXTS = ["I am so sorry.", "ok", "Oh no! What happened to your cat, and when did you see it last?", "héllo", "?!"]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_language_model(request.param, tmp_path_factory.mktemp("model") / request.param)


@pytest.fixture(scope="module")
def fluency(folder: Path) -> Fluency:
    return Fluency(str(folder))


def one_at_a_time(folder: Path, text: str, precision: torch.dtype = torch.float32) -> float:
    """Return the exponential of the library's loss for a text that is its own label."""
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]])
    with torch.no_grad(), torch.autocast("cpu", precision, enabled=precision != torch.float32):
        return math.exp(model(input_ids=ids, labels=ids).loss)


def test_perplexities_match_transformers_loss_alone_and_batched(folder: Path, fluency: Fluency) -> None:
    alone = [one_at_a_time(folder, text.lower()) for text in TEXTS]
    assert fluency.perplexities(TEXTS) == pytest.approx(alone, rel=1e-4)
    assert len(set(alone)) == len(TEXTS)
    for text, value in zip(TEXTS, alone, strict=True):
        assert fluency.perplexities([text]) == [pytest.approx(value, rel=1e-4)]


def test_many_batches_keep_order_and_show_progress(fluency: Fluency, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"{'so ' * (n % 7)}sorry {n}" for n in range(700)]
    found = fluency.perplexities(texts)
    assert "fluency: 100%" in capsys.readouterr().err, "22 batches have a progress bar"
    for place in (0, 1, 350, 699):
        assert fluency.perplexities([texts[place]]) == [pytest.approx(found[place], rel=1e-4)]


def test_text_with_fewer_than_two_tokens_has_no_perplexity(fluency: Fluency) -> None:
    values = fluency.perplexities(["a", "ok", "", " "])
    assert [value is None for value in values] == [True, False, True, True]
    assert fluency.perplexities([]) == []


def test_duplicate_texts_ignoring_case_are_computed_once(fluency: Fluency, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[list[int]] = []
    of = Fluency._of

    def remember(self: Fluency, tokens: Sequence[Sequence[int]]) -> list[float]:
        read.extend(map(list, tokens))
        return of(self, tokens)

    monkeypatch.setattr(Fluency, "_of", remember)
    values = fluency.perplexities(["Ok", "so", "ok ", "a", "OK", "so"])
    assert len(read) == 2
    assert values[0] == values[2] == values[4] != values[1] == values[5]


def test_long_text_is_truncated_at_the_end(folder: Path, fluency: Fluency) -> None:
    longest = transformers.AutoConfig.from_pretrained(folder).max_position_embeddings
    text = "oh-no!" * longest  # each letter is a token
    assert fluency.perplexities([text]) == [pytest.approx(one_at_a_time(folder, text[:longest]), rel=1e-4)]


def test_long_texts_are_read_in_smaller_batches(fluency: Fluency, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [letter * 100 for letter in "abcdefg"]
    expected = fluency.perplexities(texts)
    sizes: list[int] = []
    logits = 2 * 100 * fluency._model.config.vocab_size
    monkeypatch.setattr(module, "_MOST_LOGITS", logits)
    with fluency._model.register_forward_hook(lambda *given: sizes.append(len(given[-1].logits))):
        assert fluency.perplexities(texts) == pytest.approx(expected, rel=1e-4)
        assert sizes == [1, 2, 2, 2]
        sizes.clear()
        monkeypatch.setattr(module, "_MOST_LOGITS", 1)
        assert fluency.perplexities(texts) == pytest.approx(expected, rel=1e-4)
        assert sizes == [1] * 7, "a single text is read although it is too long"


def test_scores_are_mean_and_median_over_replies_with_a_perplexity(folder: Path, fluency: Fluency) -> None:
    found, middle = fluency.score([LoggedReply(text) for text in [*TEXTS, "a"]])
    values = fluency.perplexities(TEXTS)
    assert found.items == (*values, None)
    assert found.number == pytest.approx(sum(value for value in values if value) / len(TEXTS))
    weights = weights_fingerprint(transformers.AutoModelForCausalLM.from_pretrained(folder))[:8]
    assert found.number.signature == (
        f"PPL of the language model|model:{folder}|weights:{weights}|case:lower|mean:replies|precision:float32|"
        f"n:5|left_out:1|version:{__version__}"
    )
    assert middle.number == sorted(values)[2]  # type: ignore[type-var]
    assert middle.number.signature == f"median {found.number.signature.replace('|mean:', '|median:')}"
    assert middle.value(np.array([3.0, 1e9, 1.0, 2.0])) == 2.5
    assert [one.key for one in (found, middle) if one.record] == ["fluency"], "a record has each perplexity once"


def test_model_computes_in_the_precision_that_the_signature_names(folder: Path) -> None:
    found, _ = Fluency(str(folder), precision="bfloat16").score([LoggedReply("so sorry")])
    assert "|precision:bfloat16|" in found.number.signature
    exact, rounded = (one_at_a_time(folder, "so sorry", precision) for precision in (torch.float32, torch.bfloat16))
    assert found.number == pytest.approx(rounded, rel=1e-6)
    assert exact != pytest.approx(rounded, rel=1e-5)
    assert exact == pytest.approx(rounded, rel=0.1)


def test_only_single_token_replies_raise(fluency: Fluency) -> None:
    with pytest.raises(NotComputableError, match=r"^PPL of the language model: it cannot be computed for any reply"):
        fluency.score([LoggedReply("a"), LoggedReply("")])


@pytest.mark.parametrize("weight", [math.nan, 1e30])
def test_non_finite_perplexity_raises(tmp_path: Path, weight: float) -> None:
    folder = write_language_model("gpt2", tmp_path / "model")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        model.transformer.wte.weight[0, 0] = weight
        model.transformer.ln_f.weight.mul_(weight)
    model.save_pretrained(folder)
    with pytest.raises(NotComputableError, match=rf"^fluency: {folder} gives a reply no finite perplexity: name an"):
        Fluency(str(folder)).perplexities(["so sorry"])


def test_missing_or_non_causal_model_error_names_the_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=rf"^--fluency-model {tmp_path}/none cannot be loaded \("):
        Fluency(f"{tmp_path}/none")
    bert = write_bert(tmp_path / "bert")
    with pytest.raises(ModelFileError, match=rf"^--fluency-model {bert} \(bert\) is not a causal language model: name"):
        Fluency(str(bert))
