"""Detecting messages that mention suicide or self-harm, by rules on words; this does not assess how somebody is.

The rules prefer false alarms to misses. They know only English; they read one message at a time; they cannot tell
somebody's own pain from a film's, a friend's or a joke's; and they miss hints that contain none of the words
("I can't take it anymore", "soon nobody will have to worry about me").

They match a normalised form of the text (:func:`plain`): lower case, without accents and apostrophes, with ``k1ll``,
``s u i c i d e`` and single typing errors corrected. Then, in this order: idioms are removed (``career suicide``); the
rest is searched for patterns; a match that is denied right before it (``I would never``) does not count, unless the
message continues with a ``but``.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from parlai_empathy.rating.talking.distress_words import DENIALS, IDIOMS, KEY_WORDS, PATTERNS, TURNS

_LOOKALIKES = str.maketrans("013457@$!|", "oieastasii")
_APOSTROPHES = re.compile("['\u2018\u2019\u02bc\uff07`\u00b4]")
_STOPS = re.compile(r"[.?;:]+|!+(?!\w)")
_DOTTED = re.compile(r"\b(?:[^\W_][.*_-]){3,}[^\W_]\b")
_SPELLED = re.compile(r"\b(?:\w ){3,}\w\b")
_RUN = re.compile(r"([a-z])\1{2,}")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[a-z]{5,}")


def speaks_of_self_harm(text: str) -> bool:
    """Whether a message mentions suicide or self-harm, the writer's own or another person's."""
    return any(_matches(one) for one in {plain(text), plain(text, mend=False)})


def plain(text: str, mend: bool = True) -> str:
    """Return a text as the patterns match it: lower-case words, with `` . `` where a sentence ends.

    :param mend: whether to correct digits that stand for letters, spelled-out words and typing errors.
    """
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(letter for letter in text if not unicodedata.category(letter).startswith(("M", "Cf")))
    text = _APOSTROPHES.sub("", text)
    if mend:
        text = _DOTTED.sub(lambda match: re.sub(r"[.*_-]", "", match[0]), text)
        text = re.sub(r"\S+", lambda match: _letters(match[0]), text)
    text = _STOPS.sub(" . ", text)
    text = " ".join(re.sub(r"[^a-z0-9. ]", " ", text).split())
    if mend:
        text = _SPELLED.sub(lambda match: match[0].replace(" ", ""), text)
        # A typing error may produce a repeated letter (suiiide), or occur together with one (suuuucide).
        text = _typos_corrected(_RUN.sub(r"\1", _typos_corrected(text)))
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
    """Compile patterns for whole words. This is done at the first message: other commands do not need them."""
    return [re.compile(rf"\b(?:{pattern})\b") for pattern in patterns]


def _is_denied(before: str, after: str) -> bool:
    return bool(DENIALS.search(before)) and not TURNS.search(after)


def _letters(word: str) -> str:
    """Replace characters that look like letters with these letters, except punctuation at the end of the word.

    A word without any letter is a number, or punctuation.
    """
    if not _LETTER.search(word):
        return word
    body = word.rstrip(".!?,;:")
    return body.translate(_LOOKALIKES) + word[len(body) :]


def _typos_corrected(text: str) -> str:
    return _WORD.sub(lambda match: _typo_corrected(match[0]), text)


def _typo_corrected(word: str) -> str:
    """Return the key word that is one typing error away (a letter added, left out, replaced or swapped), if any."""
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
