"""Levels, scores and rationales that a briefly trained judge gives for any number of pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sample_models import load
from tiny_epitome import ALL, CONTEXTS, REPLIES, train

from parlai_empathy.agents.epitome import inference
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.classifiers import epitome as network
from parlai_empathy.scoring.agent_judge import AgentJudge


def test_pair_gets_the_same_levels_alone_and_in_a_batch(judge: Path) -> None:
    agent = load(judge)
    together = agent.levels(CONTEXTS * 40, REPLIES * 40)
    for name in ALL:
        assert together[name].shape == (160, 3)
        assert np.allclose(together[name].sum(axis=1), 1)
        for place, (context, reply) in enumerate(zip(CONTEXTS, REPLIES, strict=True)):
            alone = agent.levels([context], [reply])[name][0]
            assert np.allclose(alone, together[name][place], atol=1e-6)
            assert np.allclose(together[name][place::4], alone, atol=1e-6)


def test_only_the_last_context_turn_is_read(judge: Path) -> None:
    agent = load(judge)
    one = agent.levels([["I can't sleep."]], ["why?"])
    other = agent.levels([["a long talk", "before that", "I can't sleep.", " "]], [" why? "])
    assert all(np.array_equal(one[name], other[name]) for name in ALL)
    assert not np.array_equal(one[ALL[0]], agent.levels([["I won the cup."]], ["why?"])[ALL[0]])


def test_each_distinct_text_is_encoded_once(judge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = network.token_states

    def counted(encoder: Any, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        read.append(len(tokens))
        return real(encoder, tokens, lengths)

    monkeypatch.setattr(network, "token_states", counted)
    agent = load(judge)
    agent.levels([["one"], ["two"], ["one"], ["two"]] * 25, ["yes", "yes", "no", "no"] * 25)
    assert sum(read) == 4  # two posts and two replies
    read.clear()
    agent.levels([["one"]], ["maybe"])
    assert sum(read) == 1  # the post is cached: its encoder is frozen


def test_levels_do_not_depend_on_encoding_batch_size(judge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load(judge)
    expected = agent.levels(CONTEXTS, REPLIES)
    monkeypatch.setattr(inference, "_READ_BATCH", 3)
    again = agent.levels(CONTEXTS, REPLIES)
    assert all(np.allclose(again[name], expected[name], atol=1e-6) for name in ALL)


def test_score_is_the_sum_of_expected_levels(judge: Path) -> None:
    agent = load(judge)
    levels = agent.levels(CONTEXTS, REPLIES)
    expected = sum(levels[name][:, 1] + 2 * levels[name][:, 2] for name in ALL)
    assert np.allclose(agent.score_pairs(CONTEXTS, REPLIES), expected)
    scored = AgentJudge(str(judge))
    assert np.allclose(scored.score(CONTEXTS, REPLIES), expected)
    assert "agent:epitome|trained:empathy:epitome" in scored.signature


def test_class_probabilities_require_a_single_mechanism(judge: Path, explorer: Path) -> None:
    agent = load(explorer)
    assert np.array_equal(agent.class_probabilities(CONTEXTS, REPLIES), agent.levels(CONTEXTS, REPLIES)["explorations"])
    with pytest.raises(OptionError, match=r"this judge has levels of emotional_reactions, .* call levels\(\)"):
        load(judge).class_probabilities(CONTEXTS, REPLIES)


def test_rationales_are_marked_spans_of_mechanisms_above_level_zero(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mechanisms have levels 1, 0 and 2; tokens 2 to 4 and 6, here letters, are marked."""
    agent = load(judge)
    real = agent.judge

    def decided(pairs: Any) -> Any:
        judged = real(pairs)
        levels = torch.eye(3)[[1, 0, 2]].expand(len(pairs), 3, 3)
        marks = torch.zeros(judged.rationales.shape)
        marks[:, :, [2, 3, 4, 6], 1] = 1
        return replace(judged, levels=levels, rationales=marks)

    monkeypatch.setattr(agent, "judge", decided)
    found = agent.rationales([["hello"]] * 3, ["go home", "no", ""])
    # Token 0 is a special one, so 2 to 4 are "o", "h" and "o", and 6 is "e".
    assert found["emotional_reactions"] == found["explorations"] == [["o ho", "e"], ["o"], []]
    assert found["interpretations"] == [[], [], []]


def test_attend_padding_changes_levels_consistently_across_batches(tmp_path: Path, bert: Path) -> None:
    """As in the original, each post is padded to --max-tokens, so that its scores do not depend on the batch."""
    train(tmp_path / "model", bert, attend_padding=True, max_tokens=20)
    agent, masked = load(tmp_path / "model"), load(tmp_path / "model", attend_padding=False)
    together = agent.levels(CONTEXTS, REPLIES)
    for name in ALL:
        assert np.allclose(agent.levels(CONTEXTS[2:3], REPLIES[2:3])[name][0], together[name][2], atol=1e-6)
        assert not np.allclose(masked.levels(CONTEXTS, REPLIES)[name], together[name], atol=1e-7)


def test_bfloat16_scores_are_close_to_float32(judge: Path) -> None:
    scores = load(judge).score_pairs(CONTEXTS, REPLIES)
    assert np.abs(load(judge, precision="bfloat16").score_pairs(CONTEXTS, REPLIES) - scores).max() < 0.05


def test_empty_input_gives_empty_levels(judge: Path) -> None:
    assert load(judge).levels([], [])["explorations"].shape == (0, 3)
