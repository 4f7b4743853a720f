"""The metrics of replies by name, each created from what it needs: a model, a data set, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parlai_empathy.errors import DownloadError, OptionError
from parlai_empathy.metrics.nidf import Nidf
from parlai_empathy.scoring.agent_judge import AgentJudge
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scoring.endex import Endex
from parlai_empathy.scoring.fluency import Fluency
from parlai_empathy.scoring.model_metrics import EmotionAccuracy, Epitome, IntentAccuracy, MeanScore
from parlai_empathy.scoring.names import ALL, ENDEX, MODELS
from parlai_empathy.scoring.systems import ReplyMetric
from parlai_empathy.scoring.word_metrics import AvgBleu, CorpusBleu4, Length, Rarity, Variety, Words
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues


@dataclass(frozen=True)
class Needs:
    """What metrics may need.

    :param words: how replies are tokenised and cased.
    :param models: by metric, the model file or the language model's name.
    :param judges: by name, model files of agents that score replies.
    :param data: the options that locate EmpatheticDialogues: ``datapath``, ``edition``.
    :param nidf: how the words' values are aggregated: one of :data:`parlai_empathy.metrics.nidf.KINDS`.
    :param endex: ``with_context`` and ``output`` of :class:`parlai_empathy.scoring.endex.Endex`.
    """

    words: Words
    models: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    nidf: str = "mean"
    endex: Mapping[str, Any] = field(default_factory=dict)


METRICS: dict[str, Callable[[Needs], ReplyMetric]] = {
    "length": lambda needs: Length(needs.words),
    "distinct": lambda needs: Variety(needs.words),
    "nidf": lambda needs: Rarity(needs.words, _nidf(needs), needs.nidf),
    "bleu": lambda needs: AvgBleu(needs.words),
    "bleu_4": lambda needs: CorpusBleu4(needs.words),
    "epitome": lambda needs: Epitome(needs.models["epitome"], needs.data.get("datapath")),
    "emotion": lambda needs: EmotionAccuracy(Classifier(needs.models["emotion"], needs.data.get("datapath"))),
    "intent": lambda needs: IntentAccuracy(Classifier(needs.models["intent"], needs.data.get("datapath"))),
    "endex": lambda needs: MeanScore(_endex(needs), "endex"),
    "fluency": lambda needs: Fluency(needs.models["fluency"]),
}
"""Creates each of :data:`parlai_empathy.scoring.names.REPLY_METRICS`."""


def reply_metrics(names: Sequence[str], needs: Needs) -> tuple[dict[str, ReplyMetric], list[str]]:
    """Create the metrics with these names, and one for each judge.

    :param names: keys of :data:`METRICS`, or :data:`ALL` for each metric whose needs are met.
    :returns: the metrics by name, and one line for each that is left out of ``all``, with the reason.
    :raises OptionError: if a metric that is named lacks its model, or a model's metric is not named.
    """
    for name in MODELS:
        if needs.models.get(name) and not {ALL, name} & set(names):
            raise OptionError(
                f"--{name}-model: --metrics {' '.join(names)} does not use it: add {name}, or leave it out"
            )
    metrics: dict[str, ReplyMetric] = {}
    left_out = []
    for name in METRICS if ALL in names else dict.fromkeys(names):
        try:
            if name in MODELS and not needs.models.get(name):
                raise OptionError(f"--metrics {name} needs --{name}-model")
            metrics[name] = METRICS[name](needs)
        except OptionError as error:
            if name in names or needs.models.get(name):
                raise
            left_out.append(str(error))
        except DownloadError as error:  # NIDF's counts
            if name in names:
                raise
            left_out.append(f"{name}: {error}")
    datapath = needs.data.get("datapath")
    judges = {name: MeanScore(AgentJudge(file, name, datapath)) for name, file in needs.judges.items()}
    return {**metrics, **judges}, left_out


def _endex(needs: Needs) -> Endex:
    return Endex(needs.models["endex"], ENDEX, datapath=needs.data.get("datapath"), **needs.endex)


def _nidf(needs: Needs) -> Nidf:
    """Return NIDF with the counts of EmpatheticDialogues' training fold, tokenised in the same way as the replies."""
    if not (is_sample(needs.data) or needs.data.get("datapath")):
        raise OptionError(
            "--metrics nidf needs --datapath: the folder where EmpatheticDialogues is, or can be downloaded to"
        )
    folder = build(dict(needs.data))
    turns = (
        [word.lower() for word in needs.words.of(turn.text)]
        for conversation in read_empathetic_dialogues(folder / "train.csv")
        for turn in conversation.turns
    )
    return Nidf.of_texts(turns, "ed_train_sample" if is_sample(needs.data) else "ed_train")
