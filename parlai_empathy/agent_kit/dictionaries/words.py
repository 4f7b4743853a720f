"""A ParlAI dictionary of words alone, whatever they are made of, in an order that saving and loading keep."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from parlai.core.dict import DictionaryAgent

from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.whole_file import write_whole


class WordDictionary(DictionaryAgent):
    """A dictionary whose file has each word in JSON's spelling, so that a word can be any text and keeps its number.

    ParlAI's own file has no way to write some words, such as one with half a character in it, and ParlAI puts its
    special words before all others.
    """

    def number(self, words: Iterable[str]) -> None:
        """Give the words their numbers, from 0 in their order."""
        self.ind2tok = dict(enumerate(words))
        self.tok2ind = {word: number for number, word in self.ind2tok.items()}

    def load(self, filename: str) -> None:
        """Read what :meth:`save` wrote.

        :raises ModelFileError: naming the line, if it is none of a dictionary's.
        """
        self.freq.clear()
        with open(filename, encoding="utf-8") as file:
            for line_number, line in enumerate(file, start=1):
                try:
                    word, count = json.loads(line)
                    self.freq[str(word)] = int(count)
                except (TypeError, ValueError) as error:
                    raise ModelFileError(
                        f"{filename}, line {line_number}: no word with its count: fetch the file again, or train again"
                    ) from error
        self.number(self.freq)

    def save(self, filename: str | None = None, append: bool = False, sort: bool = True) -> None:
        """Write the words in their order, each with its count, at once or not at all."""
        path = Path(filename or self.opt["dict_file"])
        if sort:
            self.sort(trim=True)
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(json.dumps([word, self.freq[word]]) + "\n" for word in self.tok2ind))
