"""What people may write in a collection: situations of one to three sentences, and messages of one line."""

from __future__ import annotations

import re

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.study.questions import clean

MOST_SENTENCES = 3
LONGEST = 1000
"""Maximum length of a situation and of a message, in characters."""

# The end of a sentence, but not the full stop of a common abbreviation.
_END = re.compile(
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\betc)(?<!\b[a-zA-Z]\.[a-zA-Z])[.!?…]+[\"')\]]*(?=\s|$)"
)


def checked_situation(text: str) -> str:
    """Return a description of a situation in one line.

    :raises OptionError: if it is empty, too long, or more than three sentences.
    """
    text = one_line(text, "situation")
    if (count := sentences(text)) > MOST_SENTENCES:
        raise OptionError(f"situation: it has {count} sentences: describe it in 1 to {MOST_SENTENCES}")
    return text


def one_line(text: str, what: str) -> str:
    """Return ``text`` without line breaks, which the data set's files cannot hold.

    :raises OptionError: if it is empty or too long.
    """
    text = " ".join(clean(text, what).split())
    if not 1 <= len(text) <= LONGEST:
        raise OptionError(f"{what}: it has {len(text):,} characters: write 1 to {LONGEST:,}")
    return text


def sentences(text: str) -> int:
    """Return how many sentences a text has; words after the last full stop count as one more."""
    ends = list(_END.finditer(text))
    return len(ends) + bool(text[ends[-1].end() if ends else 0 :].strip())
