"""Our faster metrics equal ParlAI's on random texts, to the last bit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric, TeacherMetrics

from parlai_empathy.tasks.empathetic_dialogues.quick_metrics import QuickMetrics, bleu, overlap

# Few words, so that many are shared; normalisation changes some, or leaves nothing of them.
words = st.sampled_from(["so", "sad", "Sad", "dog", "the", "a", "!", "don't", "  ", "é", "so.", "sorry", "ran"])
texts = st.one_of(st.lists(words, max_size=9).map(" ".join), st.text(max_size=12))


def reports(*arguments: Any, metrics: str = "default") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return ParlAI's report on responses, and ours."""
    found = []
    for kind in (TeacherMetrics, QuickMetrics):
        counted = kind(metrics)
        for observation, labels in arguments:
            counted.evaluate_response(Message(dict(observation)), labels)
        found.append({name: (type(value), value.value()) for name, value in counted.report().items()})
    return found[0], found[1]


@settings(max_examples=300)
@given(
    responses=st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=3),
    candidates=st.none() | st.lists(texts, max_size=12),
)
def test_report_equals_parlai_report(responses: list[tuple[str, list[str]]], candidates: list[str] | None) -> None:
    more = {} if candidates is None else {"text_candidates": candidates}
    theirs, ours = reports(*(({"text": text, **more}, labels) for text, labels in responses))
    assert ours == theirs
    assert list(ours) == list(theirs)


@settings(max_examples=100)
@given(text=texts, others=st.lists(texts, max_size=2))
def test_report_equals_parlai_report_when_response_is_a_label(text: str, others: list[str]) -> None:
    theirs, ours = reports(({"text": text}, [*others, text]))
    assert ours == theirs


@pytest.mark.parametrize("metrics", ["all", "bleu", "f1", "none"])
def test_report_equals_parlai_report_for_other_metric_sets(metrics: str) -> None:
    theirs, ours = reports(({"text": "so sad"}, ["so very sad"]), metrics=metrics)
    assert ours == theirs


def test_report_equals_parlai_report_with_agent_metrics_or_no_text() -> None:
    theirs, ours = reports(
        ({"metrics": {"loss": AverageMetric(2)}}, ["so"]), ({"text": "a", "metrics": {"f1": 1}}, ["b"])
    )
    assert ours == theirs
    assert ours["exs"][1] == 2


def test_shared_metrics_are_accumulated_together() -> None:
    first = QuickMetrics("default")
    second = QuickMetrics("default", first.share())
    first.evaluate_response(Message({"text": "so"}), ["so"])
    second.evaluate_response(Message({"text": "so"}), ["sad"])
    assert float(first.report()["accuracy"]) == 0.5


def test_overlap_and_bleu_match_hand_calculation() -> None:
    # Three of the reply's four words are among the label's five: precision 3/4, recall 3/5, F1 2 * .45 / 1.35 = 2/3.
    assert overlap("so sad my dog", ["so sad dog ran off"]) == (0.75, 0.6, pytest.approx(2 / 3))
    # All unigrams and bigrams match, no longer n-gram exists: the fourth root of 1 * 1 * 1e-12 * 1e-12.
    assert bleu("so sad", ["so sad"]) == pytest.approx((1e-12 * 1e-12) ** 0.25)
    assert bleu("so", ["sad"]) == 0
