"""Hugging Face models through ParlAI's interface, compared with calling the same models directly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from tiny_generators import KINDS, write_language_model
from torch import Tensor

from parlai_empathy.agents.generative.dictionary import GeneratorTokenizer
from parlai_empathy.modules.generation.hugging_face_generator import GENERATORS, HuggingFaceGenerator, reordered
from parlai_empathy.modules.pretrained.hugging_face import load_language_model

CONTEXTS = ["my dog is ill", "no!"]
REPLIES = ["i am sorry", "why?"]


@pytest.fixture(scope="module", params=list(KINDS))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_language_model(request.param, tmp_path_factory.mktemp("models") / request.param)


@pytest.fixture
def dictionary(folder: Path) -> GeneratorTokenizer:
    return GeneratorTokenizer(Opt(hf_model=str(folder)))


@pytest.fixture
def model(folder: Path, dictionary: GeneratorTokenizer) -> HuggingFaceGenerator:
    language_model, kind = load_language_model(str(folder))
    start, end = dictionary[dictionary.start_token], dictionary[dictionary.end_token]
    begins_with = dictionary.begins_with(kind, language_model.config)
    return GENERATORS[kind](language_model, begins_with, dictionary.null_idx, start, end).eval()  # type: ignore[arg-type]


def tokens(dictionary: GeneratorTokenizer, text: str, width: int = 0) -> list[int]:
    """Return a context's token ids, padded to ``width``."""
    ids = [*dictionary.before, *dictionary.txt2vec(text), *dictionary.behind]
    return ids + [dictionary.null_idx] * (width - len(ids))


def reply(dictionary: GeneratorTokenizer, text: str, width: int = 0) -> list[int]:
    ids = [*dictionary.txt2vec(text), dictionary[dictionary.end_token]]
    return ids + [dictionary.null_idx] * (width - len(ids))


def direct(model: HuggingFaceGenerator, dictionary: GeneratorTokenizer, context: list[int], ids: list[int]) -> Tensor:
    """Return a reply's token log-probabilities from the language model itself: one text, no padding, no cache."""
    own: Any = model.language_model
    begins_with = dictionary.begins_with(KINDS[own.config.model_type], own.config)
    if own.config.is_encoder_decoder:
        inputs = {"input_ids": torch.tensor([context]), "decoder_input_ids": torch.tensor([begins_with + ids[:-1]])}
    else:
        inputs = {"input_ids": torch.tensor([context + begins_with + ids[:-1]])}
    logits = own(**inputs, use_cache=False).logits[0, -len(ids) :]
    return logits.log_softmax(dim=-1).gather(1, torch.tensor(ids).unsqueeze(1)).squeeze(1)


@torch.no_grad()
def test_losses_match_direct_call_of_language_model(
    model: HuggingFaceGenerator, dictionary: GeneratorTokenizer
) -> None:
    """In a batch, where the shorter text is padded."""
    contexts = torch.tensor([tokens(dictionary, text, 24) for text in CONTEXTS])
    replies = torch.tensor([reply(dictionary, text, 16) for text in REPLIES])
    losses, best, _ = model(contexts, ys=replies)
    assert losses.shape == (2, 16, 1)
    for row, (context, text) in enumerate(zip(CONTEXTS, REPLIES, strict=True)):
        ids = reply(dictionary, text)
        expected = direct(model, dictionary, tokens(dictionary, context), ids)
        assert losses[row, : len(ids), 0].tolist() == pytest.approx((-expected).tolist(), abs=1e-4)
        assert not losses[row, len(ids) :].any()
        assert (best[row, len(ids) :] == dictionary.null_idx).all()


@torch.no_grad()
def test_whole_scores_match_direct_call_of_language_model(
    model: HuggingFaceGenerator, dictionary: GeneratorTokenizer
) -> None:
    model.whole = True
    ids = reply(dictionary, REPLIES[0])
    context = tokens(dictionary, CONTEXTS[0])
    scores, best, _ = model(torch.tensor([context]), ys=torch.tensor([ids]))
    logprobs = scores[0].log_softmax(dim=-1)
    assert logprobs.gather(1, torch.tensor(ids).unsqueeze(1)).squeeze(1).tolist() == pytest.approx(
        direct(model, dictionary, context, ids).tolist(), abs=1e-4
    )
    assert torch.equal(best[0], scores[0].argmax(dim=-1))
    assert scores.size(-1) >= len(dictionary), "a column for each token that ParlAI may ask for"


@pytest.mark.filterwarnings("error::FutureWarning")  # of a name that the cache had in an older release
@torch.no_grad()
def test_incremental_decoding_matches_full_decoding(
    model: HuggingFaceGenerator, dictionary: GeneratorTokenizer
) -> None:
    """The cache's rows are reordered halfway, as in beam search."""
    contexts = torch.tensor([tokens(dictionary, text, 24) for text in CONTEXTS])
    begun = torch.tensor([[model.START_IDX, *dictionary.txt2vec(text)] for text in ("sorr", "why?")])
    states = model.encoder(contexts)
    whole, _ = model.decoder(begun, states)
    cache, rows = None, torch.tensor([0, 1])
    for step in range(1, begun.size(1) + 1):
        scores, cache = model.decoder(begun[rows, :step], model.reorder_encoder_states(states, rows), cache)
        assert torch.allclose(scores[:, -1], whole[rows, step - 1], atol=1e-4)
        assert scores.size(1) == 1, "with a cache only the last token is processed"
        if step == 2:
            rows = torch.tensor([1, 0])
            cache = model.reorder_decoder_incremental_state(cache, torch.tensor([1, 0]))


@torch.no_grad()
def test_cache_reordering_can_duplicate_rows(model: HuggingFaceGenerator, dictionary: GeneratorTokenizer) -> None:
    contexts = torch.tensor([tokens(dictionary, text, 24) for text in CONTEXTS])
    states = model.encoder(contexts)
    begun = torch.tensor([[model.START_IDX, dictionary["a"]]] * 2)
    _, cache = model.decoder(begun[:, :1], states)
    both = torch.tensor([1, 1])
    cache = model.reorder_decoder_incremental_state(cache, both)
    scores, _ = model.decoder(begun, model.reorder_encoder_states(states, both), cache)
    whole, _ = model.decoder(begun, states)
    assert torch.allclose(scores[:, -1], whole[both, -1], atol=1e-4)


def test_encoder_states_can_be_reordered_by_a_list(model: HuggingFaceGenerator, dictionary: GeneratorTokenizer) -> None:
    states = model.encoder(torch.tensor([tokens(dictionary, text, 24) for text in CONTEXTS]))
    first, mask = model.reorder_encoder_states(states, [1, 1, 0])
    assert torch.equal(first, states[0][[1, 1, 0]])
    assert torch.equal(mask, states[1][[1, 1, 0]])


def test_tuple_caches_of_older_releases_are_reordered() -> None:
    cache = ((torch.arange(2), torch.arange(2) + 2), (None,))
    (first, second), (nothing,) = reordered(cache, torch.tensor([1, 1]))
    assert (first.tolist(), second.tolist(), nothing) == ([1, 1], [3, 3], None)


def test_every_parameter_gets_a_gradient(model: HuggingFaceGenerator, dictionary: GeneratorTokenizer) -> None:
    """Every parameter gets a gradient."""
    contexts = torch.tensor([tokens(dictionary, text, 24) for text in CONTEXTS])
    replies = torch.tensor([reply(dictionary, text, 16) for text in REPLIES])
    model.train()
    model(contexts, ys=replies)[0].sum().backward()
    without = [name for name, weights in model.named_parameters() if weights.grad is None]
    assert without == []
