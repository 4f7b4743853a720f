"""Dictionaries of generators: words, or the tokens of a Hugging Face language model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.selectable import SelectableDictionary, TextDictionary
from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary
from parlai_empathy.agents.generative.peers_tokenizer import peers_words

PEERS = "peers"
"""``--dict-tokenizer peers``: see :mod:`parlai_empathy.agents.generative.peers_tokenizer`."""

_PADDING = "__null__"


class ReadableDictionary(TextDictionary):
    """ParlAI's dictionary, with the peers' tokenization as a further option, and with detokenization."""

    @staticmethod
    def peers_tokenize(text: str) -> list[str]:
        """Tokenize as the peers do: lower-cased, with contractions expanded."""
        return peers_words(text)

    def vec2txt(self, vector: Any, delimiter: str = " ") -> str:
        """Convert token ids to text, without spaces before punctuation or around apostrophes."""
        text: str = super().vec2txt(vector, delimiter)
        return written(text) if delimiter == " " and self.tokenizer in ("re", PEERS) else text


def written(text: str) -> str:
    """Detokenize: ``i ' m sorry .`` becomes ``i'm sorry.``"""
    text = re.sub(r"\b(\w+) ' (s|m|t|d|re|ve|ll)\b", r"\1'\2", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(\w+) (n't|'s|'m|'d|'re|'ve|'ll)\b", r"\1\2", text, flags=re.IGNORECASE)
    text = re.sub(r"``|''", '"', text)
    return re.sub(r" (?=[.,!?;:%)\]](?:\W|$))", "", text)


class GeneratorTokenizer(TokenizerDictionary):
    """A tokenizer's vocabulary, for generators.

    Padding is a token of its own: if the tokenizer has none, or uses its end token, as is common with GPT-2, padding
    gets a new id, which the model need not know.
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
        self.lower = self.txt2vec("A") == self.txt2vec("a")  # --dict-lower is for dictionaries of words

    def _affixes(self, tokens: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the special tokens that the tokenizer adds before and after a text."""
        bare = super().txt2vec("a")
        place = next((i for i in range(len(tokens)) if list(tokens[i : i + len(bare)]) == bare), 0)
        return list(tokens[:place]), list(tokens[place + len(bare) :])

    def begins_with(self, kind: str, config: Any) -> list[int]:
        """Return the token ids before a reply, as in the model's pretraining.

        An encoder-decoder has its own start token, followed by what the tokenizer adds before a text (as BART's does).
        A decoder-only model continues after an end token, as DialoGPT (Zhang et al. 2020) does.

        :param kind: ``seq2seq`` or ``causal``.
        :param config: the model's configuration.
        """
        end: int = self.tok2ind[self.end_token]
        if kind == "causal":
            return [end]
        start = config.decoder_start_token_id
        return [self.null_idx if start is None else start, *self.before]

    def txt2vec(self, text: str, vec_type: type = list) -> Any:
        """Return a text's token ids; end tokens replace the line breaks between turns."""
        end = self.tok2ind[self.end_token]
        tokens: list[int] = []
        for number, line in enumerate(text.split("\n")):
            tokens += [end] if number else []
            tokens += super().txt2vec(line)
        return vec_type(tokens)

    def vec2txt(self, vector: Any, **options: Any) -> str:
        """Convert token ids to text, without padding."""
        return super().vec2txt([int(token) for token in vector if int(token) != self.null_idx], **options)


class GenerativeDictionary(SelectableDictionary):
    """A dictionary of the tokens of ``--hf-model``, or of words."""

    words = ReadableDictionary
    tokens = GeneratorTokenizer
