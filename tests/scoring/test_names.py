"""The names listed in option help, compared with the metrics and judges that exist."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.scoring.names import MODELS, REPLY_METRICS, few, judge_name
from parlai_empathy.scoring.reply_metrics import METRICS, Needs, reply_metrics
from parlai_empathy.scoring.word_metrics import Words


def test_metric_names_match_implementations() -> None:
    assert tuple(METRICS) == REPLY_METRICS


@pytest.mark.parametrize("name", MODELS)
def test_metric_without_its_model_raises(name: str) -> None:
    with pytest.raises(OptionError, match=rf"^--metrics {name} needs --{name}-model$"):
        reply_metrics([name], Needs(Words()))


def test_few_abbreviates_long_lists() -> None:
    assert few(["a", "b", "c", "d"]) == "a, b, c, d"
    assert few(["a", "b", "c", "d", "e"]) == "a, b, c, d, ..."


def test_judge_name_is_folder_and_file() -> None:
    assert judge_name("/some/where/judge/model") == "judge/model"
    assert judge_name("model") == "model"
