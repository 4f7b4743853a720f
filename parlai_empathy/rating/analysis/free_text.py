"""Detecting bad replies written by raters: generic, gibberish, not English, always the same.

HUMOD's authors rejected replies for these reasons, by hand (Merdivan et al. 2020, section 2). The rules here only
suggest where to look. Each is a pure function; word lists and thresholds were checked on the 28,500 replies that
HUMOD's authors kept, very few of which are flagged by the rules for single replies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

# Function words of English, and the most common words of conversation; without those that are also frequent words of
# other European languages, such as a, an, as, he, in, me, no, on, so and we.
_ENGLISH = """
about after again all always am and any anything are aren't at be because been before but by can can't could couldn't
did didn't does doesn't doing don't down ever every for from get getting go going gonna good got had has have haven't
having he's her here him his how i i'd i'll i'm i've if into isn't it it's its just know let let's like look make maybe
mean more much must my need never not nothing now off oh ok okay only or other our out over please really right said
say see she she's should some something sorry still sure take tell than thank thanks that that's the their them then
there there's these they they're thing think this those time to too up us very want was wasn't way we'll we're well
were what what's when where which who why will with won't would wouldn't yeah yes you you'll you're you've your
"""

# Replies that fit almost anything: the most common replies of HUMOD's raters and a few like them. Replies that ask
# about or mention something in the dialogue ("what do you want") are left out.
_GENERIC = """
absolutely|alright|bye|cool|exactly|fine|good|good luck|goodbye|great|haha|hello|hey|hi|hmm|i agree|i am fine
i don't know|i don't think so|i don't understand|i guess|i have no idea|i hope so|i know|i see|i think so|i understand
idk|i'm fine|i'm not sure|i'm sorry|interesting|it's good|it's nice|it's ok|it's okay|lol|maybe|me too|nice|nice one|no
no idea|no problem|no thank you|no thanks|none|nope|not sure|nothing|of course|oh|ok|ok sure|okay|okay sure|please
really|right|so|sorry|sounds good|sure|thank you|thanks|thank you so much|thank you very much|that is good|that's fine
that's good|that's great|that's nice|that's okay|that's right|that's true|very good|very nice|welcome|well|whatever|what
wow|yeah|yeah sure|yep|yes|yes i agree|yes of course|yes sir|yes sure|you are right|you are welcome|you're right
you're welcome
"""

# Words and sounds without a, e, i, o or u that people do write, with doubled letters reduced to one.
_VOWELLESS = (
    "br by cry dry fly gr gym hm hymn lynch m my myth nth pft pst rhythm sh shy sky sly spy st sync tsk try tv why"
)

_ROWS = tuple(row for keys in ("asdfghjkl", "zxcvbnm", "qwertyuiop") for row in (keys, keys[::-1]))
_KEYS = 4  # adjacent letters of a keyboard row; one more in the upper row, since "property" contains four
_CONSONANTS = 6  # consecutive consonants; "lengths" and "strengths" have five
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")

FEWEST_WORDS = 30
"""The minimum number of words for judging the language: a short reply may contain no common English word."""

LEAST_ENGLISH = 0.2
"""The minimum share of common English words in English text. Of 9,439 pieces of HUMOD's and EmpatheticDialogues'
conversations, some 30 words each, one has less, and half have more than .5; among texts in nine other languages the
highest share is .06."""

_KNOWN = frozenset(_ENGLISH.split())
_STOCK = frozenset(re.split(r"[|\n]", _GENERIC.strip()))
_STOCK_AS_TYPED = _STOCK | {one.replace("'", "") for one in _STOCK}
_SOUNDS = frozenset(_VOWELLESS.split())


def plain(text: str) -> str:
    """A reply in lower case, reduced to its words and numbers."""
    return " ".join(re.findall(r"[\w']+", _lower(text)))


def is_generic(text: str) -> bool:
    """Whether a reply would fit almost any message: "yes", "thank you", "I don't know"."""
    return plain(text) in _STOCK_AS_TYPED


def is_gibberish(text: str) -> bool:
    """Whether more than half of a reply's words are not real words ("asdf", "kjhgf"), or it is only punctuation.

    Words with letters other than a to z count as real words: see :func:`is_other_script`.
    """
    words = _words(text)
    if not words:
        return not any(letter.isdigit() for letter in text)  # "10:00" may well be an answer
    return sum(map(_is_no_word, words)) > len(words) / 2


def is_other_script(text: str) -> bool:
    """Whether more than half of a reply's letters are not Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    return sum(ord(letter) > 0x24F for letter in letters) > len(letters) / 2  # the end of Latin Extended-B


def english_share(texts: Sequence[str]) -> float | None:
    """The share of common English words among a rater's words, 0..1.

    :returns: None if there are fewer than :data:`FEWEST_WORDS` words.
    """
    words = [word for text in texts for word in _words(text)]
    if len(words) < FEWEST_WORDS:
        return None
    return sum(word in _KNOWN for word in words) / len(words)


def most_frequent_share(texts: Sequence[str]) -> float:
    """The share of a rater's most frequent reply, 0..1, ignoring case and punctuation.

    :param texts: at least one reply.
    """
    return max(Counter(plain(text) or text.strip() for text in texts).values()) / len(texts)


def _words(text: str) -> list[str]:
    return _WORD.findall(_lower(text))


def _lower(text: str) -> str:
    """The text in lower case, with straight apostrophes."""
    return text.lower().replace("\u2019", "'")


def _is_no_word(word: str) -> bool:
    once = re.sub(r"(.)\1+", r"\1", word)  # "shhhhh" and "noooo" are words
    if not re.fullmatch(r"[a-z']+", word) or once in _SOUNDS:
        return False
    if len(word) > 2 and (len(once) == 1 or not re.search(r"[aeiouy]", word)):
        return True
    return bool(re.search(rf"[bcdfghjklmnpqrstvwxz]{{{_CONSONANTS}}}", word)) or _is_keyboard_run(word)


def _is_keyboard_run(word: str) -> bool:
    for row in _ROWS:
        length = _KEYS + (row[0] in "qp")
        if any(row[start : start + length] in word for start in range(len(row) - length + 1)):
            return True
    return False
