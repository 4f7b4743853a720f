"""Signatures: settings in order, equal ones listed once, and numbers that keep theirs."""

from __future__ import annotations

import copy
import json
import pickle

from hypothesis import given
from hypothesis import strategies as st
from parlai.core.metrics import AverageMetric, Metric, SumMetric

from parlai_empathy import __version__
from parlai_empathy.metrics.avg_bleu import AvgBleu, bleu_statistics
from parlai_empathy.metrics.precision_at_k import RankedPrecision
from parlai_empathy.signature import Number, signature, signature_lines

names = st.text("abk_", min_size=1, max_size=5)
values = st.none() | st.integers() | st.sampled_from(["dot", "test", "re"])


def test_settings_keep_their_order_with_version_last() -> None:
    assert signature("BLEU", zeta=1, alpha="none") == f"BLEU|zeta:1|alpha:none|version:{__version__}"


def test_signature_omits_none_but_keeps_zero_and_false() -> None:
    assert signature("P", seed=None, n=0, lower=False) == f"P|n:0|lower:False|version:{__version__}"


@given(st.dictionaries(names, values))
def test_signature_can_be_parsed_back(decided: dict[str, object]) -> None:
    name, *parts = signature("P@k", **decided).split("|")
    assert name == "P@k"
    expected = {key: str(value) for key, value in decided.items() if value is not None}
    assert dict(part.split(":") for part in parts) == expected | {"version": __version__}


def hit(split: str = "test") -> RankedPrecision:
    return RankedPrecision(1, 1, candidates="file", split=split)


def test_metrics_with_equal_signatures_share_a_line() -> None:
    report: dict[str, Metric] = {"p_at_1": hit(), "p_at_3": hit(), "p_at_10": hit("valid")}
    assert signature_lines(report) == [f"p_at_1, p_at_3: {hit().signature}", f"p_at_10: {hit('valid').signature}"]


def test_metrics_of_different_kinds_have_separate_lines() -> None:
    bleu = AvgBleu(bleu_statistics(["a"], ["a"]), tokens="re")
    assert signature_lines({"p_at_1": hit(), "avg_bleu": bleu}) == [
        f"p_at_1: {hit().signature}",
        f"avg_bleu: {bleu.signature}",
    ]


def test_parlai_metrics_and_plain_numbers_have_no_signature() -> None:
    assert signature_lines({"loss": AverageMetric(1.0), "exs": SumMetric(3), "lr": 0.1}) == []


def test_number_is_a_float_with_a_signature() -> None:
    number = Number(0.5, "metric|n:3")
    assert number == 0.5
    assert number.signature == "metric|n:3"
    assert f"{number:.2f}" == "0.50"
    assert json.dumps(number) == "0.5"


def test_arithmetic_returns_plain_float() -> None:
    assert type(Number(0.5, "x") * 2) is float


def test_copies_keep_the_signature() -> None:
    number = Number(0.5, "x")
    for other in (copy.deepcopy(number), pickle.loads(pickle.dumps(number))):
        assert (other, other.signature) == (0.5, "x")
