"""Choosing between true and other replies: drawing, losses and ranking."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.judging.replies import (
    Choice,
    best_first,
    full_choices,
    loss_metrics,
    reply_losses,
    sampled_choices,
)
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.classifiers.losses import nnpu_risk


def message(turn: str, labels: list[str], candidates: list[str] | None = None) -> dict[str, Any]:
    return {"lines": [turn], "labels": labels, "label_candidates": candidates}


THREE = [message("1", ["a"]), message("2", ["b"]), message("3", ["c"])]
TWO_AND_THREE = [Choice(("x",), ("a", "b"), (True, False)), Choice(("y",), ("a", "b", "c"), (False, False, True))]


def test_choice_pairs_its_context_with_each_reply() -> None:
    assert TWO_AND_THREE[0].pairs == [TextPair(("x",), "a"), TextPair(("x",), "b")]


# --- drawing other replies -------------------------------------------------------------------------------------------


def test_own_candidates_come_before_batch_replies() -> None:
    messages = [message("1", ["a"], ["n", "a"]), *THREE[1:]]
    first, second, _ = sampled_choices(messages, 2, random.Random(0))
    assert first.turns == ("1",)
    assert first.replies[:2] == ("a", "n")
    assert first.replies[2] in ("b", "c")
    assert first.is_true == (True, False, False)
    assert (second.replies[0], set(second.replies[1:])) == ("b", {"a", "c"})


def test_true_reply_and_negatives_are_drawn_at_random() -> None:
    """In 100 draws, a text that has a chance of 1/6 is missed with a probability of (5/6)^100, about 1e-8."""
    messages = [message("1", ["a", "b"], ["m", "n", "o"]), *THREE[2:], message("4", ["d"]), message("5", ["e"])]
    drawn = [sampled_choices(messages, 1, random.Random(seed)) for seed in range(100)]
    assert {first.replies[0] for first, *_ in drawn} == {"a", "b"}
    assert {first.replies[1] for first, *_ in drawn} == {"m", "n", "o"}, "its own candidates"
    assert {last.replies[1] for *_, last in drawn} == {"a", "b", "c", "d"}, "others of the batch"


def test_other_true_replies_are_never_negatives() -> None:
    messages = [message("1", ["a", "b"], ["b", "n"]), message("2", ["b"]), message("3", ["a"])]
    for seed in range(20):
        first, *_ = sampled_choices(messages, 5, random.Random(seed))
        assert first.replies in (("a", "n"), ("b", "n"))


def test_single_message_has_no_negatives() -> None:
    assert sampled_choices(THREE[:1], 3, random.Random(0)) == [Choice(("1",), ("a",), (True,))]


@given(st.integers(1, 6), st.integers(0, 2**32), st.lists(st.sampled_from("abcd"), min_size=1, max_size=6))
def test_number_of_negatives_is_limited_by_available_replies(negatives: int, seed: int, labels: list[str]) -> None:
    messages = [message(str(number), [label]) for number, label in enumerate(labels)]
    choices = sampled_choices(messages, negatives, random.Random(seed))
    assert choices == sampled_choices(messages, negatives, random.Random(seed)), "chance comes from the seed alone"
    for choice, label in zip(choices, labels, strict=True):
        assert choice.replies[0] == label
        assert len(set(choice.replies)) == len(choice.replies) == min(negatives, len(set(labels)) - 1) + 1
        assert choice.is_true == (True, *[False] * (len(choice.replies) - 1))


# --- evaluation ------------------------------------------------------------------------------------------------------


def test_full_choices_keep_candidate_order_without_duplicates() -> None:
    (choice,) = full_choices([message("1", ["a"], ["b", "a", "b"])])
    assert choice == Choice(("1",), ("b", "a"), (False, True))


def test_full_choices_mark_eval_labels_true_and_work_without_labels() -> None:
    (with_labels,) = full_choices([{"lines": ["1"], "eval_labels": ["a"], "label_candidates": ["a", "b"]}])
    (without,) = full_choices([{"lines": ["1"], "label_candidates": ["a", "b"]}])
    assert (with_labels.is_true, without.is_true) == ((True, False), (False, False))


def test_missing_candidates_are_replaced_by_batch_replies_with_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("parlai_empathy.agent_kit.judging.replies.warn_once", said.append)
    choices = full_choices([message("1", ["a", "c"]), *THREE[1:]])
    assert [choice.replies for choice in choices] == [("a", "b"), ("a", "b", "c"), ("a", "b", "c")]
    assert [sum(choice.is_true) for choice in choices] == [1, 1, 1]
    # A judge to which all replies are equal finds no more of them than chance does: the first one here.
    ranked = best_first(torch.zeros(8), choices)
    assert [first == label for (first, *_), label in zip(ranked, "abc", strict=True)] == [True, False, False]
    assert "--batchsize" in said[0]


def test_no_replies_to_choose_from_raise_option_error() -> None:
    with pytest.raises(OptionError, match=r"^there is nothing to choose from: this judge .* a task with candidates$"):
        full_choices([{"lines": ["1"]}])


# --- losses and ranking ----------------------------------------------------------------------------------------------


def test_true_and_wrong_replies_have_equal_weight() -> None:
    # A true reply at ln 3 has a loss of ln 4/3, a wrong one of ln 4; a logit of 0 has ln 2 in both cases.
    logits = torch.tensor([math.log(3), math.log(3), math.log(3), 0.0, math.log(3)])
    losses = reply_losses(logits, TWO_AND_THREE, "ce", 0.5)
    wrong = (math.log(4) + math.log(2)) / 2
    assert losses.tolist() == pytest.approx([(math.log(4 / 3) + math.log(4)) / 2, (math.log(4 / 3) + wrong) / 2])
    alone = [Choice(("x",), ("a",), (True,)), Choice(("y",), ("a", "b"), (False, False))]
    losses = reply_losses(torch.tensor([math.log(3), math.log(3), 0.0]), alone, "ce", 0.5)
    assert losses.tolist() == pytest.approx([math.log(4 / 3), wrong])


def test_nnpu_loss_is_risk_over_all_replies() -> None:
    logits = torch.tensor([1.0, -1.0, 0.5, 0.0, 2.0])
    risk = nnpu_risk(logits, torch.tensor([True, False, False, False, True]), 0.3).item()
    assert reply_losses(logits, TWO_AND_THREE, "nnpu", 0.3).tolist() == pytest.approx([risk, risk])


def test_nnpu_loss_of_a_fold_does_not_depend_on_its_batches() -> None:
    logits = torch.tensor([3.0, -2.0, 1.0, 0.0, 2.0])
    # Of the second choice alone the risk's second term is positive, of both together it is negative, and clipped.
    parts = [
        *loss_metrics(logits[:2], TWO_AND_THREE[:1], "nnpu", 0.5),
        *loss_metrics(logits[2:], TWO_AND_THREE[1:], "nnpu", 0.5),
    ]
    risk = nnpu_risk(logits, torch.tensor([True, False, False, False, True]), 0.5).item()
    assert float(parts[0] + parts[1]) == pytest.approx(risk)
    assert (float(parts[0]) + float(parts[1])) / 2 != pytest.approx(risk)


def test_loss_metrics_average_the_losses_of_choices() -> None:
    logits = torch.tensor([1.0, -1.0, 0.5, 0.0, 2.0])
    one, other = loss_metrics(logits, TWO_AND_THREE, "ce", 0.5)
    assert float(one + other) == pytest.approx(float(reply_losses(logits, TWO_AND_THREE, "ce", 0.5).mean()))


def test_best_first_sorts_by_score_and_keeps_order_of_ties() -> None:
    ordered = best_first(torch.tensor([0.1, 0.2, 5.0, 7.0, 5.0]), TWO_AND_THREE)
    assert ordered == [["b", "a"], ["b", "a", "c"]]
