"""Metrics of the words of replies: their number, diversity, rarity, and overlap with people's replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import MissingDependencyError, NotComputableError
from parlai_empathy.metrics.avg_bleu import MAX_ORDER, BleuStatistics, avg_bleu, bleu_statistics
from parlai_empathy.metrics.distinct import ORDERS, distinct_of_one
from parlai_empathy.metrics.nidf import Nidf
from parlai_empathy.metrics.tokens import TOKENS
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.scored import Array, Scored, scored
from parlai_empathy.signature import Number, signature

Ngrams = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """How replies are tokenised and cased before their words are counted.

    :param tokens: one of :data:`~parlai_empathy.metrics.tokens.TOKENS`.
    """

    tokens: str = "re"
    lower_case: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, for signatures."""
        return {"case": "lower" if self.lower_case else "kept", "tokens": self.tokens}

    def cased(self, text: str) -> str:
        """Return a text in the case in which it is counted."""
        return text.lower() if self.lower_case else text

    def of(self, text: str) -> list[str]:
        """Return a text's tokens."""
        return TOKENS[self.tokens](self.cased(text))


class Length:
    """The number of tokens per reply."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return the mean length, empty replies included."""
        lengths = [len(self._words.of(one.reply)) for one in replies]
        return [scored("words", "words a reply", lengths, self._words.settings)]


class Variety:
    """The diversity of a system's replies: Dist-n over all of them, and within each."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return Dist-1 and Dist-2 of the corpus (x100), and their means over single replies (0..1).

        Those for which all replies are too short are left out.

        :raises NotComputableError: if all replies are too short for any of them.
        """
        cut = [self._words.of(one.reply) for one in replies]
        found = []
        for n in ORDERS:
            with suppress(NotComputableError):
                found.append(self._of_corpus(cut, n))
        for n in ORDERS:
            with suppress(NotComputableError):
                found.append(self._of_replies(cut, n))
        if not found:
            raise NotComputableError("Dist-n: no reply has a word")
        return found

    def _of_corpus(self, cut: Sequence[Sequence[str]], n: int) -> Scored:
        ngrams = [_ngrams(words, n) for words in cut]
        settings = {"level": "corpus", **self._words.settings}
        return scored(f"dist_{n}", f"Dist-{n}", ngrams, settings, _corpus_distinct, None, has_interval=False)

    def _of_replies(self, cut: Sequence[Sequence[str]], n: int) -> Scored:
        # Within a reply the paper ignores case.
        shares = [distinct_of_one([word.lower() for word in words], n) for words in cut]
        settings = {"level": "reply", "case": "lower", "tokens": self._words.tokens}
        return scored(f"dist_{n}_reply", f"Dist-{n} in a reply", shares, settings)


def _ngrams(words: Sequence[str], n: int) -> Ngrams:
    """Return the n-grams' hashes, which are fast to count; equal for equal n-grams within this process."""
    return np.array([hash(tuple(words[i : i + n])) for i in range(len(words) - n + 1)], dtype=np.int64)


def _corpus_distinct(items: Array) -> float:
    every = np.concatenate(list(items))
    if not len(every):
        raise NotComputableError("Dist-n: no reply is long enough")
    return 100 * len(np.unique(every)) / len(every)


class Rarity:
    """The rarity of a reply's words: NIDF."""

    def __init__(self, words: Words, nidf: Nidf, kind: str = "mean") -> None:
        self._words = words
        self._nidf = nidf
        self._kind = kind

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return the mean over replies; a reply without a known word has no value."""
        values = [self._nidf.of([word.lower() for word in self._words.of(one.reply)], self._kind) for one in replies]
        settings = {"words": self._kind, "case": "lower", "tokens": self._words.tokens, "counts": self._nidf.source}
        return [scored("nidf", "NIDF", values, settings)]


class AvgBleu:
    """The overlap of replies with people's replies: AVG BLEU, with all references of a log."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return AVG BLEU of the replies that have a reference.

        :raises NotComputableError: if none has.
        """
        rows = [
            _row(bleu_statistics(self._words.of(one.reply), *map(self._words.of, theirs))) if theirs else None
            for one, theirs in _with_references(replies)
        ]
        if not any(row is not None for row in rows):
            raise NotComputableError("AVG BLEU: no reply has a reference")
        settings = {"orders": "1-4", "smoothing": "none", "references": _numbers(replies), **self._words.settings}
        return [scored("avg_bleu", "AVG BLEU", rows, settings, _avg_bleu, _listed)]


class CorpusBleu4:
    """Corpus BLEU-4 of sacrebleu (Post 2018), with its own tokeniser."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return BLEU-4 of the replies that have a reference.

        :raises NotComputableError: if none has.
        :raises MissingDependencyError: if sacrebleu is not installed.
        """
        try:
            from sacrebleu.metrics.bleu import BLEU
        except ImportError as error:
            raise MissingDependencyError(
                f'BLEU-4 needs sacrebleu, which cannot be imported ({error}): pip install "parlai-empathy[overlap]"'
            ) from error
        cased = self._words.cased
        texts = [(cased(one.reply), list(map(cased, theirs))) for one, theirs in _with_references(replies) if theirs]
        if not texts:
            raise NotComputableError("BLEU-4: no reply has a reference")
        most = max(len(theirs) for _, theirs in texts)
        streams: Any = [[theirs[i] if i < len(theirs) else None for _, theirs in texts] for i in range(most)]
        bleu = BLEU(tokenize="13a", smooth_method="exp", force=True)  # no warning about tokenised text
        value = bleu.corpus_score([reply for reply, _ in texts], streams).score
        info = bleu.get_signature().info
        kept = {key: info[key] for key in ("nrefs", "tok", "smooth")}
        case = self._words.settings["case"]
        text = signature("BLEU-4", case=case, **kept, sacrebleu=info["version"], n=len(texts))
        return [Scored("bleu_4", "BLEU-4 (sacrebleu)", Number(value, text))]


def _with_references(replies: Sequence[LoggedReply]) -> Iterator[tuple[LoggedReply, list[str]]]:
    for one in replies:
        yield one, [text for text in one.references if text.strip()]


def _numbers(replies: Sequence[LoggedReply]) -> str | None:
    """Return the number of references per reply, or its range, for the signature."""
    counts = sorted({len(theirs) for _, theirs in _with_references(replies) if theirs})
    return "-".join(dict.fromkeys(map(str, (counts[0], counts[-1])))) if counts else None


def _row(one: BleuStatistics) -> Ngrams:
    """Return a reply's statistics as one row; rows of several replies are summed."""
    return np.array([*one.matches, *one.totals, one.reply_length, one.reference_length], dtype=np.int64)


def _avg_bleu(rows: Array) -> float:
    *counts, reply_length, reference_length = np.sum(rows, axis=0).tolist()
    return avg_bleu(
        BleuStatistics(tuple(counts[:MAX_ORDER]), tuple(counts[MAX_ORDER:]), reply_length, reference_length)
    )


def _listed(row: Ngrams) -> dict[str, Any]:
    return dict(_named(row.tolist()))


def _named(counts: list[int]) -> Iterator[tuple[str, Any]]:
    yield "matches", counts[:MAX_ORDER]
    yield "totals", counts[MAX_ORDER : 2 * MAX_ORDER]
    yield from zip(("reply_length", "reference_length"), counts[2 * MAX_ORDER :], strict=True)
