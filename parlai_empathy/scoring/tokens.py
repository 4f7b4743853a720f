"""How replies of any system are cut into tokens, so that their words can be counted."""

from __future__ import annotations

from collections.abc import Callable

from parlai.core.dict import DictionaryAgent

TOKENS: dict[str, Callable[[str], list[str]]] = {
    "re": DictionaryAgent.re_tokenize,  # words and marks apart: as our agents' dictionaries, and so their AVG BLEU
    "space": str.split,  # for text that is cut into tokens already: how MoEL's line and EmpGPT-3 count their replies
}
