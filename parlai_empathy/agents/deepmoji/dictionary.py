"""DeepMoji's vocabulary: the training task's words, after those of the published vocabulary if that is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.words import WordDictionary
from parlai_empathy.agents.deepmoji.torchmoji import read_vocabulary
from parlai_empathy.agents.deepmoji.words import MASK, SPECIAL, UNKNOWN, words_of


def begins_with_published(opt: Opt) -> bool:
    """Whether training starts from the published weights rather than from a trained model."""
    if not opt.get("deepmoji_weights"):
        return False
    paths = (opt.get("model_file"), opt.get("init_model"))
    return not any(path and Path(path).is_file() for path in paths)


class DeepmojiDictionary(WordDictionary):
    """Words as :func:`words_of` finds them: the published or special ones first, then the task's by frequency."""

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        self._first: list[str] = []
        none = {"dict_starttoken": "", "dict_endtoken": ""}
        own = Opt({**opt, **none, "dict_nulltoken": MASK, "dict_unktoken": UNKNOWN})
        super().__init__(own, shared)
        self.start_token = self.end_token = MASK  # ParlAI looks up their ids, but does not use them here
        self.most = opt["extend_vocabulary"] if opt.get("deepmoji_weights") else -1
        if shared:
            return
        self._first = read_vocabulary(opt["deepmoji_weights"]) if begins_with_published(opt) else list(SPECIAL)
        if not own["dict_loaded"] or (begins_with_published(opt) and self._is_stale()):
            self.freq = dict.fromkeys(self._first, 0)
            self.number(self._first)

    def _is_stale(self) -> bool:
        """Whether the file is left over from an earlier training with another vocabulary."""
        return list(self.tok2ind)[: len(self._first)] != self._first

    def tokenize(self, text: str, building: bool = False) -> list[str]:
        """Split a text into words."""
        return words_of(text)

    def add_to_dict(self, tokens: list[str]) -> None:
        """Count words."""
        for token in tokens:
            self.add_token(token)
            self.freq[token] = self.freq.get(token, 0) + 1

    def sort(self, trim: bool = True) -> list[tuple[str, int]]:
        """Append the task's words to the first ones, most frequent first, up to the maximum."""
        first = set(self._first)
        new = [(word, count) for word, count in self.freq.items() if word not in first]
        if trim:
            new = [(word, count) for word, count in new if count >= self.minfreq]
        new.sort(key=lambda pair: (-pair[1], pair[0]))
        if trim and self.most >= 0:
            new = new[: self.most]
        pairs = [*((word, self.freq[word]) for word in self._first), *new]
        self.freq = dict(pairs)
        self.number(self.freq)
        return pairs
