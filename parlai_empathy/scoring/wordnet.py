"""WordNet, for judges that match synonyms: where to find it, and NLTK's reader for it.

It is searched for in

1. NLTK's data, as a folder or an archive, where ``python -m nltk.downloader wordnet`` puts it;
2. the folder named by ``WNSEARCHDIR``, or the folder ``dict`` in the one named by ``WNHOME`` (the variables of
   WordNet's own programs); if neither is set, ``/usr/share/wordnet``, where Debian's package ``wordnet-base`` puts it.

WordNet's versions differ in their synonyms, so a number that depends on them should name the version.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError, MissingDependencyError, one_line

DEBIAN = Path("/usr/share/wordnet")

# The names of the 45 files that WordNet was made from (lexnames(5WN)). NLTK's reader requires them, Debian does not
# include them, and nothing here uses them.
_LEXNAMES = "".join(f"{number:02d}\tunnamed\t0\n" for number in range(45))


def open_wordnet() -> Any:
    """Open this computer's WordNet, for English words.

    :returns: NLTK's ``WordNetCorpusReader``; ``synsets(word)`` returns the word's meanings, ``get_version()`` the
        version.
    :raises MissingDependencyError: if it is not found.
    :raises DataError: if it cannot be read.
    """
    root = _find_in_nltk_data() or _folder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that other languages are missing
            reader = _reader_class()(root, None)
        for part in ("noun", "verb", "adj", "adv"):  # the reader opens these only at the first lookup
            reader.open(f"data.{part}").close()
        return reader
    except Exception as error:  # NLTK's reader trusts its files: broken ones raise anything
        reason = one_line(error) or type(error).__name__
        # NLTK refuses files that others can write to.
        remedy = "copy it to where only you can write" if isinstance(error, PermissionError) else "install it again"
        raise DataError(f"{root}: WordNet cannot be read ({reason}): {remedy}") from error


def _find_in_nltk_data() -> Any:
    """Return NLTK's pointer to the folder or the path in the archive; None if there is neither."""
    import nltk.data  # type: ignore[import-untyped]

    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        with suppress(LookupError):
            return nltk.data.find(name)
    return None


def _folder() -> str:
    import nltk.data

    folder = DEBIAN
    if home := os.environ.get("WNHOME"):
        folder = Path(home, "dict")
    if named := os.environ.get("WNSEARCHDIR"):
        folder = Path(named)
    if not (folder / "data.noun").is_file():
        raise MissingDependencyError(
            f"METEOR needs WordNet, which is neither among NLTK's data nor in {folder}: run `python -m nltk.downloader "
            "wordnet`, or install Debian's package wordnet-base, or set WNSEARCHDIR to the folder that contains "
            "data.noun"
        )
    path = str(folder.absolute())
    if path not in nltk.data.path:
        nltk.data.path.append(path)  # NLTK refuses to read anywhere else
    return path


def _reader_class() -> Any:
    from nltk.corpus.reader.wordnet import WordNetCorpusReader  # type: ignore[import-untyped]

    class EnglishReader(WordNetCorpusReader):
        """NLTK's reader without the files for other languages and for the names of WordNet's sources."""

        def open(self, file: str) -> Any:
            """Open one of the database's files."""
            return StringIO(_LEXNAMES) if file == "lexnames" else super().open(file)

        def map_to_one(self, *version: str) -> dict[str, str]:
            """Return no mapping from other languages' words: it would need NLTK's own copy of WordNet."""
            return {}

    return EnglishReader
