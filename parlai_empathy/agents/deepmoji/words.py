"""Splits texts into words as DeepMoji's vocabulary requires.

The rules are those of the published vocabulary (Felbo et al. 2017, section 3.1): lower case; one special word each for
links, for names after an ``@`` and for whole numbers; letters repeated more than twice are reduced to two; and a run
of the same punctuation mark is one word.
"""

from __future__ import annotations

import re
import unicodedata

MASK, UNKNOWN = "CUSTOM_MASK", "CUSTOM_UNKNOWN"
NAME, LINK, NUMBER, BREAK = "CUSTOM_AT", "CUSTOM_URL", "CUSTOM_NUMBER", "CUSTOM_BREAK"
SPECIAL = (MASK, UNKNOWN, NAME, LINK, NUMBER, BREAK)
"""No text contains these words, because texts are lower-cased. The first one is padding."""

_NAME = r"@[a-z0-9_]+"
_LINK = r"(?:https?://|www\.)[^\s\"<>{}|\\^`]+"
_EYES, _NOSE = r"(?:>:|[:=;])", r"[-,^'\"]?"
_MOUTH = "|".join(re.escape(sign) + "+" for sign in "dpvo)(3/|\\")
_SIGNS = re.escape("()<>!?.,/'\"-_=\\|[]{}~$^&*;:%+`#@\u00a7\u00b4\u02c7\u00b0\u00a3\u20ac")
_WORD = re.compile(
    "|".join(
        [
            _LINK,
            r"\b[a-z0-9_.+-]+@[a-z0-9-]+\.[a-z0-9.-]+\b",  # an address
            r"[a-z]+[-_][a-z]+",  # red-haired
            r"#[a-z0-9_]+",
            _NAME,
            r"(?:<+/?3+)+",  # hearts
            r"-_-|x_x|\^_\^|o\.o|o_o|\(:|\):|\);|\(;",  # faces
            f"{_EYES}{_NOSE}(?:{_MOUTH})",
            r"[a-z]+'[a-z]+",
            r"(?:mr|ms|mrs|dr|prof)\.",
            r"\b(?<!\.)(?:[a-z]\.){2,}",  # u.s.
            r"[0-9]+",
            r"[a-z]+",
            r"#+(?=#[a-z0-9_])|@+(?=@[a-z0-9_])",  # the last of a run belongs to what follows
            rf"([{_SIGNS}])\1*",
            r"\S",
        ]
    )
)
_IS_NAME, _IS_LINK = re.compile(_NAME), re.compile(_LINK)
_REPEATED = re.compile(r"(.)\1{2,}")
_LINE_ENDS = re.compile(r"\r\n|[\n\r]|<br>")
_VARIANTS = re.compile("[\ufe00-\ufe0f]")  # variation selectors of emoji: colour or plain text
# Signs that the vocabulary has in ASCII, but that compatibility decomposition (NFKC) leaves unchanged.
_IN_ASCII = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e", '"'),
        **{"\u2013": "-", "\u2014": "--", "\u2039": "<", "\u203a": ">", "\u00ab": "<<", "\u00bb": ">>"},
    }
)


def words_of(text: str) -> list[str]:
    """Split a text into words; :data:`BREAK` replaces line breaks."""
    text = _VARIANTS.sub("", text.strip().lower())
    lines = _LINE_ENDS.split(text)
    words: list[str] = []
    for number, line in enumerate(lines):
        if number:
            words.append(BREAK)
        plain = unicodedata.normalize("NFKC", line).lower().translate(_IN_ASCII)  # the form of some signs is a capital
        words.extend(_as_in_vocabulary(match[0]) for match in _WORD.finditer(plain))
    return words


def _as_in_vocabulary(word: str) -> str:
    if word.isdecimal():
        return NUMBER
    if _IS_NAME.search(word):
        return NAME
    if _IS_LINK.search(word):
        return LINK
    return _REPEATED.sub(r"\1\1", word) if word.isascii() else word
