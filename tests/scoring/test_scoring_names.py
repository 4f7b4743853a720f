"""The names listed in option help, compared with the metrics and judges that exist."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.scoring.names import MODELS, REPLY_METRICS, few, judge_name
from parlai_empathy.scoring.reply_metrics import METRICS, Needs, reply_metrics
from parlai_empathy.scoring.word_metrics import Words


def test_each_metric_is_made() -> None:
    assert tuple(METRICS) == REPLY_METRICS


@pytest.mark.parametrize("name", MODELS)
def test_metrics_with_models_need_them(name: str) -> None:
    with pytest.raises(OptionError, match=rf"^--metrics {name} needs --{name}-model$"):
        reply_metrics([name], Needs(Words()))


def test_of_many_names_an_error_has_a_few() -> None:
    assert few(["a", "b", "c", "d"]) == "a, b, c, d"
    assert few(["a", "b", "c", "d", "e"]) == "a, b, c, d, ..."


def test_judges_are_called_by_folder_and_file() -> None:
    assert judge_name("/some/where/judge/model") == "judge/model"
    assert judge_name("model") == "model"
