"""A trained classifier of single texts: the emotion of a text, the intent of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent, weights_of
from parlai_empathy.errors import OptionError
from parlai_empathy.scoring.scored import check_finite

_NO_CLASSIFIER = "does not predict classes: name a model of a classifier, such as empathy:text_classifier"


class Classifier:
    """Predicts class probabilities of single texts, without context.

    :param model_file: a model file of ``parlai train_model -mf``, of an agent such as ``empathy:text_classifier``, or a
        name in the zoo.
    :param datapath: ParlAI's data folder, for models of the zoo.
    :raises ModelFileError: if the model does not exist, or cannot be loaded.
    :raises OptionError: if it is not a classifier.
    """

    def __init__(self, model_file: str, datapath: str | None = None) -> None:
        path = check_agent(model_file, "class_probabilities", _NO_CLASSIFIER, datapath)
        self._name = model_file
        self._agent: Any = load_agent(path)
        if not hasattr(self._agent, "classes"):  # agents without classes can have probabilities too
            raise OptionError(f"{path}: {self._agent.opt['model']} {_NO_CLASSIFIER}")
        if not self._agent.classes:
            raise OptionError(
                f"{model_file} was trained to tell true replies from others: name a model that was trained on classes"
            )
        self.labels: tuple[str, ...] = tuple(self._agent.classes)
        self.settings = {"classifier": self._agent.opt.get("task"), "weights": weights_of(self._agent)}
        """What its predictions depend on, for signatures."""

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return class probabilities, ``(texts, classes)``, computed in batches and once per distinct text.

        :raises NotComputableError: if one is NaN or infinite, as with a broken model; so do the methods below.
        """
        different = list(dict.fromkeys(texts))
        found: NDArray[np.float64] = self._agent.class_probabilities([[]] * len(different), different)
        check_finite(found, self._name, "a text", "probability")
        places = {text: place for place, text in enumerate(different)}
        return found[[places[text] for text in texts]]

    def labels_of(self, texts: Sequence[str]) -> list[str]:
        """Return the most probable class of each text."""
        return [self.labels[place] for place in self.probabilities(texts).argmax(axis=1)] if texts else []

    def top(self, texts: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """Return the ``k`` most probable classes of each text with their probabilities, the most probable first.

        :param k: at least 1; above the number of classes, all of them are returned.
        :raises OptionError: if ``k`` is below 1.
        """
        if k < 1:
            raise OptionError(f"--top {k}: must be at least 1")
        rows = self.probabilities(texts) if texts else ()
        return [[(self.labels[i], float(row[i])) for i in (-row).argsort(kind="stable")[:k]] for row in rows]
