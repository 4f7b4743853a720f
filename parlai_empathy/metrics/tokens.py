"""Ways to split a reply into words, to count them: the replies of any system, whatever its model's own tokens are."""

from __future__ import annotations

from collections.abc import Callable

from parlai.core.dict import DictionaryAgent


def _re(text: str) -> list[str]:
    """Separate words and punctuation. ParlAI would return each line break as a token."""
    tokens: list[str] = DictionaryAgent.re_tokenize(text.replace("\n", " "))
    return tokens


TOKENS: dict[str, Callable[[str], list[str]]] = {
    "re": _re,  # as our dictionaries and so AVG BLEU
    "space": str.split,  # for text that is already tokenised: as in MoEL, its successors and EmpGPT-3
}
