"""The table of metric names, compared with what agents report."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.metrics import METRICS_DISPLAY_DATA
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel
from tiny_judge import write_bert

from parlai_empathy.metrics.names import METRIC_NAMES

ONE_STEP = {"edition": "sample", "max_train_steps": 1, "dict_maxtokens": 2000, "seed": 1, "loglevel": "error"}
TINY_RETRIEVAL = {"embedding_size": 8, "n_heads": 1, "n_layers": 1, "ffn_size": 8, "batchsize": 32}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the test reports of tiny models, trained for one step on the samples that ship with the package."""
    folder = tmp_path_factory.mktemp("model")
    _, retrieval = TrainModel.main(
        task="empathy:empathetic_dialogues",
        model="empathy:multitask",
        model_file=str(folder / "retrieval"),
        **ONE_STEP,
        **TINY_RETRIEVAL,
    )
    _, judge = TrainModel.main(
        task="empathy:humod:Relevance",
        model="empathy:han",
        model_file=str(folder / "han"),
        hidden_size=4,
        embedding_size=4,
        **ONE_STEP,
    )
    _, generative = TrainModel.main(
        task="empathy:empathetic_dialogues",
        model="empathy:generative",
        model_file=str(folder / "generative"),
        ppl_protocol="peers",
        label_truncate=8,
        **ONE_STEP,
        **TINY_RETRIEVAL,
    )
    _, epitome = TrainModel.main(
        task="empathy:epitome",
        model="empathy:epitome",
        model_file=str(folder / "epitome"),
        hf_model=str(write_bert(folder / "bert")),
        batchsize=8,
        **ONE_STEP,
    )
    asked = EvalModel.main(
        task="empathy:empathetic_dialogues:LastReply",
        model="empathy:in_context",
        lm_backend="echo",
        lm_cache="none",
        edition="sample",
        num_examples=2,
        loglevel="error",
    )
    return {**retrieval, **judge, **generative, **epitome, **asked}


def test_every_name_in_the_table_is_reported(report: dict[str, Any]) -> None:
    assert METRIC_NAMES.keys() <= report.keys()


def test_every_reported_metric_with_signature_is_in_the_table(report: dict[str, Any]) -> None:
    ours = {key for key, metric in report.items() if hasattr(metric, "signature")}
    assert len(ours) > 10
    assert ours <= METRIC_NAMES.keys()


def test_titles_are_unique() -> None:
    titles = [title for title, _ in METRIC_NAMES.values()]
    assert len(set(titles)) == len(titles)


def test_precision_titles_and_descriptions_match_their_keys() -> None:
    for k in (1, 3, 10):
        for protocol in ("shuffled", "ordered", "inline"):
            title, description = METRIC_NAMES[f"p_at_{k}_100_{protocol}"]
            assert title == f"P@{k},100 {protocol}"
            assert f"best {k} of 100" in description


def test_f1_descriptions_say_what_is_computed() -> None:
    """Both rationale metrics are F1s; macro-F1 is shown for EPITOME's mechanisms and for classes of engagement."""
    for mechanism in ("er", "ip", "ex"):
        for key, counted in (("f1", "words"), ("iou", "spans")):
            description = METRIC_NAMES[f"{mechanism}_rationale_{key}"][1]
            assert description.startswith(f"F1 (over replies with a rationale) of the {counted}")
    assert METRIC_NAMES["macro_f1"][1].startswith("Mean of the classes' F1")
    assert "empathy" not in METRIC_NAMES["macro_f1"][1]


def test_parlai_displays_our_titles_and_descriptions() -> None:
    for key, (title, description) in METRIC_NAMES.items():
        assert METRICS_DISPLAY_DATA[key].title == title
        assert METRICS_DISPLAY_DATA[key].description == description
