"""Tokenisers for the replies of any system, to count their words."""

from __future__ import annotations

from collections.abc import Callable

from parlai.core.dict import DictionaryAgent

TOKENS: dict[str, Callable[[str], list[str]]] = {
    "re": DictionaryAgent.re_tokenize,  # separates words and punctuation, as our dictionaries and so AVG BLEU
    "space": str.split,  # for text that is already tokenised: as in MoEL, its successors and EmpGPT-3
}
