"""Rule-based judges of engagingness: chance, whether a reply asks a question, and how specific it is.

They are the simplest baselines of Xu et al. (2022, Table 2). The details that the paper leaves open, and how close each
interpretation comes to its figures, are in docs/engagement.md. Trained judges are in
:mod:`parlai_empathy.scoring.endex`.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import OptionError
from parlai_empathy.metrics.specificity import specificity
from parlai_empathy.scoring.judge import Judge, Texts, check_lengths
from parlai_empathy.signature import signature

QUESTION_WORDS = frozenset(("how", "what", "when", "where", "which", "who", "whom", "whose", "why"))
"""The words that, besides the question mark, indicate a question (See et al. 2019)."""

_BITS = 53  # of a float's significand: the possible random scores are equally spaced


class RuleJudge(ABC):
    """A judge that scores each reply by a rule, without a model or references."""

    name: str

    @property
    @abstractmethod
    def signature(self) -> str:
        """How the numbers are computed."""

    @abstractmethod
    def score_one(self, context: Sequence[str], reply: str) -> float:
        """Score one reply in its context."""

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        """Score each reply.

        :param contexts: ``(n,)``, the turns before each reply, oldest first.
        :param replies: ``(n,)``
        :param references: ignored.
        :returns: ``(n,)``
        :raises NotComputableError: if there are no replies, or not as many contexts.
        """
        check_lengths(contexts, replies)
        return np.array([self.score_one(*pair) for pair in zip(contexts, replies, strict=True)], dtype=np.float64)


class Random(RuleJudge):
    """A pseudo-random number between 0 and 1 that depends only on the texts and the seed."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        return signature(self.name, seed=self.seed)

    def score_one(self, context: Sequence[str], reply: str) -> float:
        """Return a number in [0, 1)."""
        # JSON encodes different inputs differently, and can encode lone surrogates.
        digest = hashlib.sha256(json.dumps([self.seed, list(context), reply]).encode()).digest()
        return math.ldexp(int.from_bytes(digest[:8], "big") >> (64 - _BITS), -_BITS)


class Question(RuleJudge):
    """1 for a reply that asks a question, else 0.

    :param sign: what indicates a question: ``word``, a question mark or one of :data:`QUESTION_WORDS` among the
        lower-cased tokens of NLTK's Treebank tokenizer; ``mark``, a question mark anywhere; ``end``, one at the end.
    :raises OptionError: for an unknown sign.
    """

    def __init__(self, sign: str = "word") -> None:
        if sign not in self._RULES:
            raise OptionError(f"sign {sign!r}: must be one of {', '.join(self._RULES)}")
        self.sign = sign
        self.name = "question" if sign == "word" else f"question ({sign})"

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        return signature(self.name, sign=self.sign, tok="treebank" if self.sign == "word" else None)

    def score_one(self, context: Sequence[str], reply: str) -> float:
        """Return 0 or 1."""
        return float(self._RULES[self.sign](self, reply))

    @cached_property
    def _tokens(self) -> Callable[[str], list[str]]:
        from nltk.tokenize import NLTKWordTokenizer  # type: ignore[import-untyped]  # it takes a second to import

        tokenize: Callable[[str], list[str]] = NLTKWordTokenizer().tokenize
        return tokenize

    def _has_word(self, reply: str) -> bool:
        return not ({"?", *QUESTION_WORDS}).isdisjoint(self._tokens(reply.lower()))

    def _has_mark(self, reply: str) -> bool:
        return "?" in reply

    def _ends_with_mark(self, reply: str) -> bool:
        return reply.rstrip().endswith("?")

    _RULES: dict[str, Callable[[Question, str], bool]] = {
        "word": _has_word,
        "mark": _has_mark,
        "end": _ends_with_mark,
    }


class Specificity(RuleJudge):
    """The number of a reply's words that are not stop words: see :mod:`parlai_empathy.metrics.specificity`.

    :param scale: ``count``; or ``log``, the logarithm of the count plus one, so that a reply of a hundred words does
        not dominate Pearson's correlation. Ranks, and so Spearman's correlation, are the same.
    :raises OptionError: for an unknown scale.
    """

    _SCALES: dict[str, Callable[[int], float]] = {"count": float, "log": math.log1p}

    def __init__(self, scale: str = "count") -> None:
        if scale not in self._SCALES:
            raise OptionError(f"scale {scale!r}: must be one of {', '.join(self._SCALES)}")
        self.scale = scale
        self.name = "specificity" if scale == "count" else f"specificity ({scale})"

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        return signature(self.name, scale=self.scale, stop_words="scikit-learn", case="lc", tok="space")

    def score_one(self, context: Sequence[str], reply: str) -> float:
        """Return the score; 0 for a reply that is empty or has only stop words."""
        return self._SCALES[self.scale](specificity(reply))


def rule_judges(seed: int = 0) -> list[Judge]:
    """Return the judges that need no model.

    :param seed: for :class:`Random`.
    """
    return [Random(seed), Question(), Specificity(), Specificity("log")]
