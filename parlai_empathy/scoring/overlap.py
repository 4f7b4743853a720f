"""BLEU-4, ROUGE-L and METEOR of single replies: the word-overlap judges of HUMOD (Merdivan et al. 2020, section 4.4).

Each compares a reply with one or more references; 0 means no overlap. All are scaled to 0..100, although rouge-score
and NLTK use 0..1, so that a table has one unit. Blank references are ignored. An empty reply gets 0. The paper names
neither its programs nor their settings; these are well-maintained ones with their usual settings, which the signatures
spell out.
"""

from __future__ import annotations

import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import MissingDependencyError, NotComputableError
from parlai_empathy.scoring.judge import Judge, Texts, check_lengths
from parlai_empathy.scoring.wordnet import open_wordnet
from parlai_empathy.signature import signature

_REMEMBERED = 2**16  # cached words and texts: more than the replies of a test set have, but bounded in a long run


class OverlapJudge(ABC):
    """A judge that compares each reply with its references."""

    name: str

    @property
    @abstractmethod
    def signature(self) -> str:
        """How the numbers are computed."""

    @abstractmethod
    def score_one(self, reply: str, references: Sequence[str]) -> float:
        """Score one reply, 0..100, against at least one reference that is not blank."""

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        """Score each reply against its own references.

        :param contexts: ``(n,)``, ignored.
        :param replies: ``(n,)``
        :param references: ``(n,)``, one or more for each reply; their number may vary.
        :returns: ``(n,)``, 0..100
        :raises NotComputableError: if the lengths differ, or if a reply has no reference that is not blank.
        """
        check_lengths(contexts, replies, references)
        if references is None:
            raise NotComputableError(f"{self.name} compares replies with references, but was given none")
        kept = [self._not_blank(texts, place) for place, texts in enumerate(references)]
        return np.array([self.score_one(reply, texts) for reply, texts in zip(replies, kept, strict=True)])

    def _not_blank(self, references: Sequence[str], place: int) -> list[str]:
        kept = [text for text in references if text.strip()]
        if not kept:
            raise NotComputableError(
                f"{self.name} of item {place}, counted from 0: it has no reference, or only blank ones; leave it out"
            )
        return kept


class SentenceBleu4(OverlapJudge):
    """Sentence-level BLEU-4, computed by sacrebleu (Papineni et al. 2002; Post 2018).

    All references are used together: an n-gram matches if any of them has it, and the reference of the closest length
    determines the brevity penalty. An order without a match gets half a match, the next such order a quarter, and so on
    (``exp``); a reply of fewer than four tokens is scored by the orders that it has (``eff:yes``).
    """

    name = "BLEU-4"

    def __init__(self) -> None:
        sacrebleu = _library("sacrebleu", self.name)
        self._bleu = sacrebleu.BLEU(tokenize="13a", lowercase=False, smooth_method="exp", effective_order=True)
        self._bleu.sentence_score("a", ["a"])  # sacrebleu has no signature before the first score

    @property
    def signature(self) -> str:
        """How the numbers are computed; ``case``, ``eff``, ``tok`` and ``smooth`` are sacrebleu's terms."""
        theirs = self._bleu.get_signature().info
        settings = {key: theirs[key] for key in ("case", "eff", "tok", "smooth")}
        return signature(self.name, references="all", **settings, sacrebleu=theirs["version"])

    def score_one(self, reply: str, references: Sequence[str]) -> float:
        """Score one reply, 0..100; 100 if it equals a reference."""
        score: float = self._bleu.sentence_score(reply, references).score
        return min(score, 100.0)  # a perfect score is slightly above 100 by rounding


class RougeL(OverlapJudge):
    """ROUGE-L, computed by rouge-score: F1 of the longest common subsequence (Lin 2004), with the best reference.

    Words are the runs of ``a-z`` and ``0-9`` in the lower-cased text; a reply without any gets 0. They are not stemmed,
    which is ROUGE's default and usual for dialogue. (METEOR is the judge that matches different forms of a word.)
    """

    name = "ROUGE-L"

    def __init__(self) -> None:
        self._scorer = _library("rouge_score.rouge_scorer", self.name).RougeScorer(["rougeL"], use_stemmer=False)

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        version = importlib.metadata.version("rouge-score")
        return signature(
            self.name, references="best", measure="f1", case="lc", tok="a-z0-9", stem="no", **{"rouge-score": version}
        )

    def score_one(self, reply: str, references: Sequence[str]) -> float:
        """Score one reply, 0..100; 100 if it has the same words in the same order as a reference."""
        return 100 * float(self._scorer.score_multi(references, reply)["rougeL"].fmeasure)


class Meteor(OverlapJudge):
    """METEOR, computed by NLTK, with the best reference (Banerjee and Lavie 2005).

    Words match exactly, else by their Porter stem, else as synonyms in WordNet. (NLTK looks synonyms up by stem: a word
    whose stem is not a word, such as happi for happy, has none.) With m matches in c chunks, precision P and recall R::

        P R / (0.9 P + 0.1 R) * (1 - 0.5 (c / m)^3)

    A reply that equals a reference has c = 1, so its score is below 100: 50 with one word, 93.75 with two.

    Words are those of NLTK's ``word_tokenize``, except for the abbreviations in its trained data: sentences are split
    by an untrained Punkt, then words by the Penn Treebank's rules. This needs no data; the synonyms need WordNet.
    """

    name = "METEOR"
    _WEIGHTS = {"alpha": 0.9, "beta": 3.0, "gamma": 0.5}

    def __init__(self) -> None:
        nltk = _library("nltk", self.name)
        wordnet = open_wordnet()
        self._settings = {"wordnet": wordnet.get_version() or "unknown", "nltk": nltk.__version__}
        self._meteor = nltk.translate.meteor
        # Without a cache NLTK stems and looks up each word for each pair of texts: more than four times as slow.
        self._stems = SimpleNamespace(stem=lru_cache(_REMEMBERED)(nltk.stem.PorterStemmer().stem))
        self._synonyms = SimpleNamespace(synsets=lru_cache(_REMEMBERED)(wordnet.synsets))
        self._sentences = nltk.tokenize.PunktSentenceTokenizer()
        self._treebank = nltk.tokenize.NLTKWordTokenizer()
        self._words = lru_cache(_REMEMBERED)(self._tokenize)

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        return signature(
            self.name,
            references="best",
            **self._WEIGHTS,
            case="lc",
            tok="punkt+treebank",
            stem="porter",
            **self._settings,
        )

    def score_one(self, reply: str, references: Sequence[str]) -> float:
        """Score one reply, 0..100."""
        words = [self._words(text) for text in references]
        theirs = self._meteor(
            words,
            self._words(reply),
            preprocess=str.lower,
            stemmer=self._stems,
            wordnet=self._synonyms,
            **self._WEIGHTS,
        )
        return 100 * float(theirs)

    def _tokenize(self, text: str) -> tuple[str, ...]:
        return tuple(word for sentence in self._sentences.tokenize(text) for word in self._treebank.tokenize(sentence))


def overlap_judges(missing: list[MissingDependencyError] | None = None) -> list[Judge]:
    """Return the three judges, in the paper's order.

    :param missing: a list for the errors of judges that lack a dependency, which are left out; None raises the error.
    :raises MissingDependencyError: if a library or WordNet is missing.
    """
    judges: list[Judge] = []
    for kind in (SentenceBleu4, RougeL, Meteor):
        try:
            judges.append(kind())
        except MissingDependencyError as error:
            if missing is None:
                raise
            missing.append(error)
    return judges


def _library(name: str, judge: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        library = name.split(".")[0]
        raise MissingDependencyError(
            f'{judge} needs {library}, which cannot be imported ({error}): pip install "parlai-empathy[overlap]"'
        ) from error
