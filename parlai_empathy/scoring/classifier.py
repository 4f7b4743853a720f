"""A trained classifier, asked what texts are: the emotion of a text, the intent of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent, weights_of
from parlai_empathy.errors import OptionError

_NO_CLASSIFIER = "tells no classes apart: name a model of a classifier, such as empathy:text_classifier"


class Classifier:
    """Tells how probable each of its classes is of a text that stands alone.

    :param model_file: what ``parlai train_model -mf`` wrote, of an agent such as ``empathy:text_classifier``; a name in
        the zoo will do.
    :param datapath: ParlAI's folder of data, for models of the zoo.
    :raises ModelFileError: if there is no model, or it cannot be loaded.
    :raises OptionError: if it is no classifier.
    """

    def __init__(self, model_file: str, datapath: str | None = None) -> None:
        path = check_agent(model_file, "class_probabilities", _NO_CLASSIFIER, datapath)
        self._agent: Any = load_agent(path)
        if not hasattr(self._agent, "classes"):  # what judges something else than classes has probabilities too
            raise OptionError(f"{path}: {self._agent.opt['model']} {_NO_CLASSIFIER}")
        if not self._agent.classes:
            raise OptionError(f"{model_file} tells true replies from others: name a model that was trained on classes")
        self.labels: tuple[str, ...] = tuple(self._agent.classes)
        self.settings = {"classifier": self._agent.opt.get("task"), "weights": weights_of(self._agent)}
        """What decides its answers, for signatures."""

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """How probable each class is, ``(texts, classes)``: in batches, each different text read once."""
        different = list(dict.fromkeys(texts))
        found: NDArray[np.float64] = self._agent.class_probabilities([[]] * len(different), different)
        places = {text: place for place, text in enumerate(different)}
        return found[[places[text] for text in texts]]

    def labels_of(self, texts: Sequence[str]) -> list[str]:
        """The most probable class of each text."""
        return [self.labels[place] for place in self.probabilities(texts).argmax(axis=1)] if texts else []

    def top(self, texts: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """The ``k`` most probable classes of each text with their probabilities, the most probable first.

        :raises OptionError: unless ``k`` is 1 or more; more than all classes are all of them.
        """
        if k < 1:
            raise OptionError(f"--top {k}: must be at least 1")
        rows = self.probabilities(texts) if texts else ()
        return [[(self.labels[i], float(row[i])) for i in (-row).argsort(kind="stable")[:k]] for row in rows]
