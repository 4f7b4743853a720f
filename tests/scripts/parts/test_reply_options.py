"""The options of the metrics of replies."""

from __future__ import annotations

import pytest
from parlai.core.params import ParlaiParser

from parlai_empathy.scoring.reply_metrics import METRICS
from parlai_empathy.scripts.parts.reply_options import add_metrics


@pytest.fixture
def parser() -> ParlaiParser:
    parser = ParlaiParser(False, False)
    add_metrics(parser)
    return parser


def test_every_metric_is_accepted(parser: ParlaiParser) -> None:
    assert parser.parse_args(["--metrics", *METRICS])["metrics"] == list(METRICS)
    assert parser.parse_args([])["metrics"] == ["all"]


def test_unknown_metric_is_rejected(parser: ParlaiParser, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args(["--metrics", "warmth"])
    assert "invalid choice: 'warmth'" in capsys.readouterr().err


def test_each_metric_model_has_a_separate_option(parser: ParlaiParser) -> None:
    found = parser.parse_args(["--epitome-model", "a", "--fluency-model", "b"])
    names = ("epitome", "emotion", "intent", "endex", "fluency")
    assert [found[f"{name}_model"] for name in names] == ["a", None, None, None, "b"]
