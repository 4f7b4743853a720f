"""The dictionaries of generators: words, or the tokens of a Hugging Face language model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.chosen import ChosenDictionary
from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary
from parlai_empathy.modules.peers_words import peers_words

PEERS = "peers"
"""``--dict-tokenizer peers``: see :mod:`parlai_empathy.modules.peers_words`."""

_PADDING = "__null__"


class ReadableDictionary(DictionaryAgent):
    """ParlAI's, with the peers' words beside its own ways to cut a text, and with texts that read like texts."""

    @staticmethod
    def peers_tokenize(text: str) -> list[str]:
        """The peers' words: lower-cased, contractions written out."""
        return peers_words(text)

    def vec2txt(self, vector: Any, delimiter: str = " ") -> str:
        """The words of token ids as a text: no space before a comma, and none in "don't"."""
        text: str = super().vec2txt(vector, delimiter)
        return written(text) if delimiter == " " and self.tokenizer in ("re", PEERS) else text


def written(text: str) -> str:
    """Words that stand apart, put together again: ``i ' m sorry .`` becomes ``i'm sorry.``"""
    text = re.sub(r"\b(\w+) ' (s|m|t|d|re|ve|ll)\b", r"\1'\2", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(\w+) (n't|'s|'m|'d|'re|'ve|'ll)\b", r"\1\2", text, flags=re.IGNORECASE)
    text = re.sub(r"``|''", '"', text)
    return re.sub(r" (?=[.,!?;:%)\]](?:\W|$))", "", text)


class GeneratorTokenizer(TokenizerDictionary):
    """A tokenizer's vocabulary, for models that write.

    Padding is a token of its own: where the tokenizer has none, or takes the end token for it as is often done with
    GPT-2, it gets an id that the model need not know.
    """

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        super().__init__(opt, shared)
        tokenizer = self.tokenizer_of_encoder
        if tokenizer.pad_token in (None, self.end_token):
            self.null_token = _PADDING
            self.null_idx = max(self.ind2tok) + 1
            self.tok2ind[_PADDING], self.ind2tok[self.null_idx] = self.null_idx, _PADDING
        if self.start_token == self.end_token or self.start_token not in self.tok2ind:
            self.start_token = self.null_token
        self.before, self.behind = self._affixes(tokenizer("a")["input_ids"])

    def _affixes(self, tokens: Sequence[int]) -> tuple[list[int], list[int]]:
        """The special tokens that the tokenizer puts before a text and behind it."""
        bare = super().txt2vec("a")
        place = next((i for i in range(len(tokens)) if list(tokens[i : i + len(bare)]) == bare), 0)
        return list(tokens[:place]), list(tokens[place + len(bare) :])

    def begins_with(self, kind: str, config: Any) -> list[int]:
        """The token ids that stand before a reply: what the model was trained with.

        An encoder-decoder has its own start token, and then what the tokenizer puts before a text (BART's does). A
        decoder alone goes on behind an end token, as DialoGPT (Zhang et al. 2020) does.

        :param kind: ``seq2seq`` or ``causal``.
        :param config: the model's.
        """
        end: int = self.tok2ind[self.end_token]
        if kind == "causal":
            return [end]
        start = config.decoder_start_token_id
        return [self.null_idx if start is None else start, *self.before]

    def txt2vec(self, text: str, vec_type: type = list) -> Any:
        """A text's token ids; between turns, one a line, stands an end token."""
        end = self.tok2ind[self.end_token]
        tokens: list[int] = []
        for number, line in enumerate(text.split("\n")):
            tokens += [end] if number else []
            tokens += super().txt2vec(line)
        return vec_type(tokens)

    def vec2txt(self, vector: Any, **options: Any) -> str:
        """The text of token ids, padding left out."""
        return super().vec2txt([int(token) for token in vector if int(token) != self.null_idx], **options)


class GenerativeDictionary(ChosenDictionary):
    """The tokens of ``--hf-model``, or words."""

    words = ReadableDictionary
    tokens = GeneratorTokenizer
