"""Whether a message speaks of suicide or self-harm: a rule of words, not a judgement of how somebody is.

It is made to see too much rather than too little. It knows English alone; it reads one message at a time; it cannot
tell somebody's own pain from a film's, a friend's or a joke's; and who hints without any of its words passes it by
("I can't take it anymore", "soon nobody will have to worry about me").

What it looks at is the text in a plain form (:func:`plain`): lower case, without accents and apostrophes, with
``k1ll``, ``s u i c i d e`` and small slips of the keyboard mended. Then, in this order: idioms are taken out
(``career suicide``); what is left is searched for patterns; one that is denied right before it (``I would never``)
does not count, unless the message goes on with a ``but``.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from parlai_empathy.rating.chat.distress_words import DENIALS, IDIOMS, KEY_WORDS, PATTERNS, TURNS

_LOOKALIKES = str.maketrans("013457@$!|", "oieastasii")
_APOSTROPHES = re.compile("['\u2018\u2019\u02bc\uff07`\u00b4]")
_STOPS = re.compile(r"[.?;:]+|!+(?!\w)")
_DOTTED = re.compile(r"\b(?:[^\W_][.*_-]){3,}[^\W_]\b")
_SPELLED = re.compile(r"\b(?:\w ){3,}\w\b")
_RUN = re.compile(r"([a-z])\1{2,}")
_WORD = re.compile(r"[a-z]{5,}")


def speaks_of_self_harm(text: str) -> bool:
    """Whether a message speaks of suicide or self-harm, somebody's own or another's."""
    return any(_matches(one) for one in {plain(text), plain(text, mend=False)})


def plain(text: str, mend: bool = True) -> str:
    """A text as the patterns read it: words of letters, with `` . `` where a sentence ends.

    :param mend: whether digits that stand for letters, spelled words and slips of the keyboard are put right.
    """
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(letter for letter in text if not unicodedata.category(letter).startswith(("M", "Cf")))
    text = _APOSTROPHES.sub("", text)
    if mend:
        text = _DOTTED.sub(lambda match: re.sub(r"[.*_-]", "", match[0]), text)
        text = re.sub(r"\S*[^\W\d_]\S*", lambda match: _letters(match[0]), text)
    text = _STOPS.sub(" . ", text)
    text = " ".join(re.sub(r"[^a-z0-9. ]", " ", text).split())
    if mend:
        text = _SPELLED.sub(lambda match: match[0].replace(" ", ""), text)
        # A slip may make a run of letters (suiiide), or stand beside one (suuuucide).
        text = _words_mended(_RUN.sub(r"\1", _words_mended(text)))
    return text


def _matches(text: str) -> bool:
    for idiom in _compiled(IDIOMS):
        text = idiom.sub(" , ", text)
    return any(
        not _is_denied(text[: match.start()], text[match.end() :])
        for pattern in _compiled(PATTERNS)
        for match in pattern.finditer(text)
    )


@functools.cache
def _compiled(patterns: tuple[str, ...]) -> list[re.Pattern[str]]:
    """Whole words that match: made when a message comes, for no other command of ParlAI's needs them."""
    return [re.compile(rf"\b(?:{pattern})\b") for pattern in patterns]


def _is_denied(before: str, after: str) -> bool:
    return bool(DENIALS.search(before)) and not TURNS.search(after)


def _letters(word: str) -> str:
    """A word with letters in the place of what looks like them; a stop at its end stays one."""
    body = word.rstrip(".!?,;:")
    return body.translate(_LOOKALIKES) + word[len(body) :]


def _words_mended(text: str) -> str:
    return _WORD.sub(lambda match: _mended(match[0]), text)


def _mended(word: str) -> str:
    """The key word that a word is one slip away from: a letter more, less, other, or two of them swapped."""
    if word in KEY_WORDS or len(word) < 5:
        return word
    return next((key for key, slips in _SLIPS.items() if word in slips), word)


def _slips(word: str) -> frozenset[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    fewer = {a + b[1:] for a, b in cuts if b}
    other = {a + letter + b[1:] for a, b in cuts if b for letter in letters}
    more = {a + letter + b for a, b in cuts for letter in letters}
    return frozenset(swapped | fewer | other | more)


_SLIPS = {word: _slips(word) for word in KEY_WORDS}
