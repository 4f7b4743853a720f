"""A WordNet with a few invented synsets, in WordNet's file format (wndb(5WN)), for tests without the real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
SYNSETS = {"noun": [["car", "auto", "motor_car"], ["car", "wagon"]], "verb": [["begin", "start"]]}


def write_wordnet(folder: Path, synsets: Mapping[str, Sequence[Sequence[str]]] = SYNSETS, version: str = "9.9") -> Path:
    """Write the files that a reader needs, as in Debian's package, which has no ``lexnames``.

    :param synsets: for each part of speech the words of each synset.
    :returns: the folder.
    """
    folder.mkdir(parents=True)
    # As in the real files, a licence comes first, on numbered lines that begin with two spaces.
    header = f"  1 WordNet {version} Copyright 2000 by nobody: invented for tests.  \n"
    for part, letter in LETTERS.items():
        data = header
        offsets: dict[str, list[int]] = {}
        for words in synsets.get(part, ()):
            for word in words:
                offsets.setdefault(word, []).append(len(data))  # a synset's offset is the byte at which its line begins
            frames = " 01 + 02 00" if part == "verb" else ""
            listed = " ".join(f"{word} 0" for word in words)
            data += f"{len(data):08d} 03 {letter} {len(words):02x} {listed} 000{frames} | invented  \n"
        index = header
        for word, places in sorted(offsets.items()):
            listed = " ".join(f"{place:08d}" for place in places)
            index += f"{word} {letter} {len(places)} 0 {len(places)} 0 {listed}  \n"
        (folder / f"data.{part}").write_bytes(data.encode("ascii"))
        (folder / f"index.{part}").write_bytes(index.encode("ascii"))
        (folder / f"{part}.exc").touch()
    for path in (folder, *folder.iterdir()):  # whatever the umask: NLTK refuses files that others can write
        path.chmod(path.stat().st_mode & 0o755)
    return folder
