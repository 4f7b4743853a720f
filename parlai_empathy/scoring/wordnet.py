"""WordNet, for judges that know synonyms: where it is on this computer, and NLTK's reader for it.

It is looked for

1. among NLTK's data, as a folder or an archive: where ``python -m nltk.downloader wordnet`` puts it;
2. in the folder that ``WNSEARCHDIR`` names, else in ``dict`` below the one that ``WNHOME`` names: the variables of
   WordNet's own programs; without them in ``/usr/share/wordnet``, where Debian's package ``wordnet-base`` puts it.

The versions of WordNet differ in their synonyms: a number that comes of them should name the version.
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

# The names of the 45 files that WordNet was made from (lexnames(5WN)). NLTK's reader wants them, Debian does not have
# them, and nobody here asks for them.
_LEXNAMES = "".join(f"{number:02d}\tunnamed\t0\n" for number in range(45))


def open_wordnet() -> Any:
    """Open the WordNet of this computer for its English words.

    :returns: NLTK's ``WordNetCorpusReader``; ``synsets(word)`` has the word's meanings, ``get_version()`` the version.
    :raises MissingDependencyError: if there is none.
    :raises DataError: if it cannot be read.
    """
    root = _among_nltks_data() or _folder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that other languages are not there
            reader = _reader_class()(root, None)
        for part in ("noun", "verb", "adj", "adv"):  # the reader opens these when a first word asks for them
            reader.open(f"data.{part}").close()
        return reader
    except Exception as error:  # NLTK's reader trusts its files: broken ones end it in any way
        reason = one_line(error) or type(error).__name__
        # NLTK refuses files that others can write to.
        remedy = "copy it to where only you can write" if isinstance(error, PermissionError) else "install it again"
        raise DataError(f"{root}: WordNet cannot be read ({reason}): {remedy}") from error


def _among_nltks_data() -> Any:
    """NLTK's pointer to the folder or the place in the archive; None if there is neither."""
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
            f"WordNet is neither among NLTK's data nor in {folder}: run `python -m nltk.downloader wordnet`, or "
            "install Debian's package wordnet-base, or let WNSEARCHDIR name the folder that has its data.noun"
        )
    path = str(folder.absolute())
    if path not in nltk.data.path:
        nltk.data.path.append(path)  # NLTK refuses to read anywhere else
    return path


def _reader_class() -> Any:
    from nltk.corpus.reader.wordnet import WordNetCorpusReader  # type: ignore[import-untyped]

    class EnglishReader(WordNetCorpusReader):
        """NLTK's reader without what it needs for other languages and for the names of WordNet's sources."""

        def open(self, file: str) -> Any:
            """Open one of the database's files."""
            return StringIO(_LEXNAMES) if file == "lexnames" else super().open(file)

        def map_to_one(self, *version: str) -> dict[str, str]:
            """Leave out the way from other languages' words to these: it needs NLTK's own copy of WordNet."""
            return {}

    return EnglishReader
