"""Scorers of single texts, from 0 to 1: how positive their emotion is, and how toxic they are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.files.text_file import read_text
from parlai_empathy.files.user_path import user_path
from parlai_empathy.modules.fingerprint import weights_fingerprint
from parlai_empathy.modules.pretrained.hugging_face import load_sequence_classifier, longest_text
from parlai_empathy.modules.speed.sorted_batches import sorted_batches
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.signature import signature
from parlai_empathy.tasks.go_emotions.emotions import POSITIVE

_BATCH = 64
_LONGEST = 512  # tokens; classifiers of toxicity were trained on shorter texts


class PositiveEmotion:
    """The probability of a positive emotion: the sum of the probabilities of GoEmotions' positive emotions.

    :param classifier: a classifier of emotions.
    :raises OptionError: if it lacks some of these emotions, because the sum would mean something else.
    """

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier
        self._places = [place for place, label in enumerate(classifier.labels) if label in POSITIVE]
        if missing := [emotion for emotion in POSITIVE if emotion not in classifier.labels]:
            raise OptionError(
                f"--emotion-model: the model lacks {len(missing)} of GoEmotions' {len(POSITIVE)} positive emotions "
                f"({', '.join(missing)}): train one with -t empathy:go_emotions -m empathy:text_classifier"
            )

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        return signature("positive emotion", emotions=len(self._places), **self._classifier.settings)

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """``(n,)`` to ``(n,)``."""
        found: NDArray[np.float64] = self._classifier.probabilities(texts)[:, self._places].sum(axis=1)
        return found


class ToxicWords:
    """1 for a text that contains a word or phrase of a list, as whole words and ignoring case, else 0.

    :param path: a text file with one word or phrase per line; lines that start with ``#`` are ignored.
    :raises DataError: if the file cannot be read, or has no words.
    """

    def __init__(self, path: str | Path) -> None:
        lines = read_text(user_path(path), "it should be a text file with one word per line").splitlines()
        words = sorted({" ".join(line.split()).lower() for line in lines if line.strip() and line[0] != "#"})
        if not words:
            raise DataError(f"{path} contains no word: it should have one per line")
        self._pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, words)) + r")(?!\w)", re.IGNORECASE)
        self._digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:8]

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        return signature("toxic words", words=self._digest)

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """``(n,)`` to ``(n,)``."""
        return np.array([float(bool(self._pattern.search(" ".join(text.split())))) for text in texts])


class ToxicModel:
    """The probability that a text is toxic, from any Hugging Face classifier that has such a class.

    :param name: a folder, or a name on the hub, such as ``unitary/toxic-bert``.
    :raises ModelFileError: if it cannot be loaded.
    :raises OptionError: if it has no class called toxic or toxicity.
    """

    def __init__(self, name: str) -> None:
        # The weights tell folders of the same name apart; a folder's path says nothing, and cards are published.
        self._name = user_path(name).resolve().name if user_path(name).is_dir() else name
        self._tokenizer, self._model = load_sequence_classifier(name, "--toxicity")
        labels = {place: str(label).lower() for place, label in self._model.config.id2label.items()}
        toxic = [place for place, label in labels.items() if re.fullmatch(r"toxic(?:ity)?", label)]
        if not toxic:
            raise OptionError(f"--toxicity {name}: none of its classes ({', '.join(labels.values())}) is called toxic")
        self._place = int(toxic[0])
        self._weights = weights_fingerprint(self._model)[:8]  # those in a folder may change

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        return signature("toxic", model=self._name, weights=self._weights)

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """``(n,)`` to ``(n,)``. Texts of similar length are batched together."""
        found = np.empty(len(texts))
        for places in sorted_batches([len(text) for text in texts], _BATCH, "toxicity"):
            found[places] = self._probabilities([texts[place] for place in places])
        return found

    def _probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        import torch

        longest = int(min(_LONGEST, longest_text(self._model.config, self._tokenizer)))
        inputs: Any = self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=longest, return_tensors="pt"
        )
        with torch.inference_mode():
            logits = self._model(**inputs.to(self._model.device)).logits.float().cpu()
        # Several classes of toxicity can apply at once (sigmoid); toxic and harmless exclude each other (softmax).
        several = self._model.config.problem_type == "multi_label_classification" or logits.shape[1] == 1
        probabilities = logits.sigmoid() if several else logits.softmax(dim=1)
        column: NDArray[np.float64] = probabilities[:, self._place].double().numpy()
        return column
