"""A fastText model's vocabulary: the words of the training task, or those of the ``.bin`` file it starts from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.words import WordDictionary
from parlai_empathy.agents.fasttext.bin_file import ENDINGS, FasttextFile, read_bin
from parlai_empathy.agents.fasttext.ngrams import END

_SPACE = re.compile(r"[ \n\r\t\v\f\0]+")  # what fastText splits words at; other whitespace is part of a word


def init_bin(opt: Opt) -> FasttextFile | None:
    """Read the library's file that ``--init-model`` names, unless there is a trained model already.

    :raises ModelFileError: if it is missing or damaged.
    """
    path = opt.get("init_model")
    if not path or not str(path).endswith(ENDINGS) or (opt.get("model_file") and Path(opt["model_file"]).is_file()):
        return None
    return read_bin(path)


class FasttextDictionary(WordDictionary):
    """Words, and the end-of-text token ``</s>``."""

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        file = None if shared else init_bin(opt)
        self._is_prebuilt = file is not None
        none = {"dict_nulltoken": "", "dict_starttoken": "", "dict_unktoken": ""}
        super().__init__(Opt({**opt, **none, "dict_endtoken": END}), shared)
        self.null_token = self.start_token = self.unk_token = END  # ParlAI looks up their ids but does not use them
        if file:
            self.freq = dict.fromkeys(file.words, 0)
            self.number(file.words)

    def is_prebuilt(self) -> bool:
        """Whether the words come from a ``.bin`` file, so that ParlAI must not build the dictionary."""
        return self._is_prebuilt

    @staticmethod
    def space_tokenize(text: str) -> list[str]:
        """Split a text into words as fastText does."""
        return [word for word in _SPACE.split(text) if word]
