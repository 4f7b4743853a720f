"""Pretrained word vectors from a text file in the format of GloVe and fastText: a word and its numbers on each line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import parlai.utils.logging as logging
import torch
from torch import Tensor

from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.user_path import user_path


def copy_vectors(path: str | Path, ids: Mapping[str, int], weight: Tensor) -> int:
    """Copy the vectors of the words in ``ids`` from ``path`` into the rows of ``weight``.

    A first line with two numbers (fastText's count and size) is skipped, and so are words with spaces (GloVe's Common
    Crawl file has some). If a word is repeated, its first line counts. The number of words found is logged.

    :param weight: ``(vocabulary, dim)``, changed in place.
    :returns: number of words found, at least 1.
    :raises ModelFileError: naming the file, if it is missing or has none of the words, as one of another format; and
        naming the line too, if that does not have ``dim`` finite numbers.
    """
    path = user_path(path)
    found: set[str] = set()
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                word, *numbers = line.rstrip().split(" ")
                if number == 1 and len(numbers) == 1:
                    continue
                if word in ids and word not in found and not _word_continues(numbers, weight):
                    weight.data[ids[word]] = _vector(path, number, numbers, weight)
                    found.add(word)
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFileError(
            f"--vectors-file {path} cannot be read ({error}): name a text file with a word and its numbers on each line"
        ) from error
    if not found:
        raise ModelFileError(
            f"--vectors-file {path}: it has none of the {len(ids):,} words: name a text file with a word and its "
            "numbers on each line, separated by spaces"
        )
    logging.info(f"{path}: found vectors for {len(found):,} of the {len(ids):,} words")
    return len(found)


def _word_continues(numbers: list[str], weight: Tensor) -> bool:
    """Whether the text after the first space still belongs to the word."""
    return len(numbers) > weight.size(1) and not _is_finite(numbers[0])


def _vector(path: Path, line: int, numbers: list[str], weight: Tensor) -> Tensor:
    if len(numbers) != weight.size(1):
        raise ModelFileError(
            f"--vectors-file {path}, line {line}: {len(numbers)} numbers, but --embedding-size is {weight.size(1)}: "
            "make them equal"
        )
    if wrong := [number for number in numbers if not _is_finite(number)]:
        raise ModelFileError(
            f"--vectors-file {path}, line {line}: {wrong[0]!r} is not a finite number: fetch the file again"
        )
    return torch.tensor([float(number) for number in numbers], dtype=weight.dtype)


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
