"""A frozen classifier whose predicted labels, or last-layer features, another model uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.opt import Opt
from torch import Tensor

from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agent_kit.trained.frozen import FrozenPart
from parlai_empathy.agent_kit.trained.text_cache import TextCache
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.fingerprint import weights_fingerprint

HELP = (
    "Trained classifier of emotions or topics: the model file of an agent such as empathy:text_classifier. The new "
    "model keeps a copy of it."
)
_TEXTS = 2**18  # number of texts whose labels are cached


def _check(kind: Any, opt: Opt) -> None:
    """Raise :class:`OptionError` for a model that is no classifier, or that gives no probabilities."""
    if not (isinstance(kind, type) and issubclass(kind, JudgeAgent)):
        raise OptionError(f"{opt['model']} is not a classifier")
    if not opt.get("classes"):
        raise OptionError("it ranks replies and has no classes")
    if opt.get("loss") != "ce":
        raise OptionError(f"it was trained with --loss {opt.get('loss')} and gives no probabilities")


PART = FrozenPart(
    option="classifier",
    wanted="a trained classifier, such as empathy:text_classifier on empathy:empathetic_dialogues:SituationEmotion",
    check=_check,
)


class FrozenClassifier:
    """A frozen classifier. Each text's labels are computed once and cached.

    Like its own agent, it reads a text of several lines, such as a conversation, as the last line in the context of the
    lines before it. This matches its training texts; texts that are too long lose their oldest words.

    :param agent: the trained classifier.
    """

    def __init__(self, agent: JudgeAgent) -> None:
        assert agent.classes is not None
        self._agent = agent
        self.labels = tuple(agent.classes)
        self.feature_size = agent.feature_size
        self.fingerprint = weights_fingerprint(agent.bare_model)
        self._ranked: TextCache[tuple[int, ...]] = TextCache(_TEXTS)

    @classmethod
    def load(cls, opt: Opt) -> FrozenClassifier:
        """Load the classifier of ``--classifier``, or the copy that a trained model keeps.

        :raises OptionError: if none is named, or the named model is not a classifier.
        :raises ModelFileError: if it is missing or damaged.
        """
        return cls(PART.load(opt))

    def top_labels(self, texts: Sequence[str], k: int) -> list[tuple[str, ...]]:
        """Return the ``k`` most probable labels of each text, most probable first; ties go to the earlier class.

        :param texts: texts of one or more lines.
        :param k: 1 to the number of classes.
        """

        def ranked(places: list[int]) -> list[tuple[int, ...]]:
            probabilities = self._agent.class_probabilities(*self._read([texts[place] for place in places]))
            return [tuple(row) for row in (-probabilities).argsort(axis=1, kind="stable").tolist()]

        return [tuple(self.labels[place] for place in row[:k]) for row in self._ranked.of(texts, ranked)]

    def features(self, texts: Sequence[str]) -> Tensor:
        """Return the inputs of the classifier's last layer, ``(n, feature_size)``, on the CPU; they are not cached."""
        return self._agent.features(*self._read(texts))

    def _read(self, texts: Sequence[str]) -> tuple[list[list[str]], list[str]]:
        """Split texts as the classifier's agent does: the lines before the last, and the last line."""
        lines = [text.split("\n") for text in texts]
        return [each[:-1] for each in lines], [each[-1] for each in lines]
