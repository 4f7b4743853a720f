"""A ParlAI dictionary of arbitrary strings whose order survives saving and loading."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from parlai.core.dict import DictionaryAgent

from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.whole_file import write_whole


class WordDictionary(DictionaryAgent):
    """A dictionary whose file stores each word as a JSON string, so that any text can be a word and keeps its index.

    ParlAI's own format cannot represent some words, such as a lone surrogate, and ParlAI puts its special tokens before
    all others.
    """

    def number(self, words: Iterable[str]) -> None:
        """Assign indices to the words, from 0 in the given order."""
        self.ind2tok = dict(enumerate(words))
        self.tok2ind = {word: number for number, word in self.ind2tok.items()}

    def load(self, filename: str) -> None:
        """Load the file that :meth:`save` wrote.

        :raises ModelFileError: naming the line, if a line is malformed.
        """
        self.freq.clear()
        with open(filename, "rb") as file:
            for line_number, line in enumerate(file, start=1):
                try:
                    word, count = json.loads(line)
                    self.freq[str(word)] = int(count)
                except (TypeError, ValueError) as error:
                    raise ModelFileError(
                        f"{filename}, line {line_number}: expected a word with its count: delete the file if another "
                        "kind of agent has left it, or fetch it again"
                    ) from error
        self.number(self.freq)

    def save(self, filename: str | None = None, append: bool = False, sort: bool = True) -> None:
        """Atomically write the words in order, each with its count."""
        path = Path(filename or self.opt["dict_file"])
        if sort:
            self.sort(trim=True)
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(json.dumps([word, self.freq[word]]) + "\n" for word in self.tok2ind))


def has_json_words(path: str | Path | None) -> bool:
    """Whether a dictionary file is in this format, with words as JSON: ParlAI's starts with a plain word."""
    if not path or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(2) == b'["'


def left_by_another(path: str | Path) -> ModelFileError:
    """Return the error for a dictionary of another kind of agent, whose words would all be unknown."""
    return ModelFileError(f"{path} is the dictionary of another kind of agent: delete it, or name another -mf")
