"""Delayed nucleus beam search samples, then searches; GPT-2's beam search keeps each hypothesis with its own cache."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from parlai.core import torch_generator_agent as repaired
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.params import ParlaiParser
from parlai_as_it_comes import unrepaired

# The nucleus of 0.5 is the first token alone in both rows; a beam of 2 takes the two best sums of log-probabilities.
LOGPROBS = torch.tensor([[0.6, 0.3, 0.1], [0.7, 0.2, 0.1]]).log()


def select(module: Any, length: int) -> Any:
    search = module.DelayedNucleusBeamSearch(0.5, 2, beam_size=2)
    return search.select_paths(LOGPROBS, torch.tensor([-1.0, -3.0]), length)


def test_first_tokens_are_from_the_nucleus() -> None:
    for _ in range(20):
        assert select(repaired, 1).token_ids.tolist() == [0, 0]
        assert select(repaired, 1).hypothesis_ids.tolist() == [0, 1]


def test_later_tokens_are_the_best_of_the_beam() -> None:
    # -1 + ln .6 = -1.51 and -1 + ln .3 = -2.20, against -3 + ln .7 = -3.36
    found = select(repaired, 2)
    assert (found.hypothesis_ids.tolist(), found.token_ids.tolist()) == ([0, 0], [0, 1])


def test_unrepaired_search_lacks_the_nucleus() -> None:
    with pytest.raises(AttributeError, match="get_mask"):
        select(unrepaired("parlai.core.torch_generator_agent"), 1)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """ParlAI's GPT-2 agent with a vocabulary of four letters and a space, and two tiny random layers."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("gpt2")
    vocabulary = {token: i for i, token in enumerate(["a", "b", "c", "d", "Ġ", "<|endoftext|>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    torch.manual_seed(0)
    sizes = {"vocab_size": len(vocabulary), "n_positions": 64, "n_embd": 16, "n_layer": 2, "n_head": 2}
    # Large weights: the next token must depend strongly on those before it, or a wrong cache has no visible effect.
    config = transformers.GPT2Config(**sizes, initializer_range=0.5, bos_token_id=5, eos_token_id=5)
    transformers.GPT2Model(config).save_pretrained(folder)
    return create_agent(
        ParlaiParser(True, True).parse_kwargs(
            model="hugging_face/gpt2",
            model_name=str(folder),
            inference="beam",
            beam_size=4,
            beam_min_length=3,
            beam_length_penalty=0.0,  # so that a score is the plain sum of the tokens' log-probabilities
            text_truncate=30,
            label_truncate=12,
            batchsize=2,
            no_cuda=True,
        )
    )


def sum_of_log_probabilities(agent: Any, context: torch.Tensor, tokens: torch.Tensor) -> float:
    """Score ``tokens`` after ``context`` in one forward pass over all of them, without a cache, with padding masked."""
    everything = torch.cat([context, tokens])
    mask = everything != agent.NULL_IDX
    hidden = agent.model.decoder.transformer(
        everything[None],
        attention_mask=mask[None].long(),
        position_ids=(mask.cumsum(0) - 1).clamp(min=0)[None],
        use_cache=False,
    )[0]
    of_next = agent.model.lm_head(hidden)[0].log_softmax(-1)
    return float(sum(of_next[len(context) + i - 1, token] for i, token in enumerate(tokens)))


@pytest.mark.filterwarnings("error::FutureWarning")  # of the former name of the cache
def test_gpt2_beam_scores_match_full_forward_pass(gpt2: Any) -> None:
    observations = [
        gpt2.clone().observe(Message({"text": text, "episode_done": True})) for text in ("bad cab", "a dab c dad bad")
    ]
    with torch.no_grad():
        _, beams = gpt2._generate(gpt2.batchify(observations), beam_size=4, max_ts=12)
        checked = 0
        for observation, beam in zip(observations, beams, strict=True):
            for tokens, score, _ in beam.get_rescored_finished():
                expected = sum_of_log_probabilities(gpt2, torch.as_tensor(observation["text_vec"]), tokens[1:])
                assert score.item() == pytest.approx(expected, abs=1e-3)
                checked += 1
    assert checked > 4


def test_gpt2_responds(gpt2: Any) -> None:
    assert set(gpt2.respond("bad cab")) & set("abcd")


def test_reorder_handles_tuples_of_older_transformers() -> None:
    module = pytest.importorskip("parlai.agents.hugging_face.gpt2")
    layer = torch.arange(6.0).view(2, 3, 1)  # keys and values of 3 hypotheses
    [reordered] = module.HFGPT2Model.reorder_decoder_incremental_state(None, (layer,), torch.tensor([2, 0, 0]))
    assert reordered.squeeze(-1).tolist() == [[2, 0, 0], [5, 3, 3]]


def test_unrepaired_parlai_cannot_reorder_cache_of_transformers(gpt2: Any) -> None:
    with torch.no_grad():
        _, state = gpt2.model.decoder(torch.tensor([[gpt2.START_IDX]]), torch.tensor([[0, 1, 2]]))
    assert hasattr(state, "reorder_cache")
    original = unrepaired("parlai.agents.hugging_face.gpt2").HFGPT2Model.reorder_decoder_incremental_state
    with pytest.raises((AssertionError, TypeError, IndexError)):
        original(gpt2.model, state, torch.tensor([0]))
