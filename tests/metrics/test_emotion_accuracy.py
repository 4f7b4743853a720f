"""Emotion accuracy, compared with counting by hand."""

from __future__ import annotations

import math

from parlai_empathy.metrics.emotion_accuracy import EmotionAccuracy
from parlai_empathy.metrics.names import METRIC_NAMES


def test_contexts_without_emotion_are_ignored() -> None:
    """Three of four known emotions are correct; the prediction for the fifth context, which has none, is ignored."""
    counts = [(1, 1), (0, 1), (1, 1), (1, 1), (0, 0)]
    total = sum((EmotionAccuracy(*each, 32, "test") for each in counts[1:]), EmotionAccuracy(*counts[0], 32, "test"))
    assert total.value() == 0.75
    assert "|of:context|emotions:32|n:4|split:test|" in total.signature


def test_accuracy_without_contexts_is_nan() -> None:
    assert math.isnan(EmotionAccuracy(0, 0).value())


def test_adding_keeps_the_signature() -> None:
    one, none = EmotionAccuracy(1, 1, 7, "valid"), None
    assert (one + none).signature == one.signature
    assert "n:2" in (one + one).signature


def test_metric_is_listed_in_metric_names() -> None:
    assert "emotion_accuracy" in METRIC_NAMES
