"""The words that a fastText model knows: those of the training task, or those of a ``.bin`` file to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.words import WordDictionary
from parlai_empathy.agents.fasttext.bin_file import ENDINGS, FasttextFile, read_bin
from parlai_empathy.agents.fasttext.ngrams import END

_SPACE = re.compile(r"[ \n\r\t\v\f\0]+")  # what fastText takes for the ends of words; other kinds of space are letters


def bin_to_begin_with(opt: Opt) -> FasttextFile | None:
    """The library's file that ``--init-model`` names, unless there is a trained model already.

    :raises ModelFileError: if it is missing or broken.
    """
    path = opt.get("init_model")
    if not path or not str(path).endswith(ENDINGS) or (opt.get("model_file") and Path(opt["model_file"]).is_file()):
        return None
    return read_bin(path)


class FasttextDictionary(WordDictionary):
    """Words, and ``</s>``, which ends each text."""

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        file = None if shared else bin_to_begin_with(opt)
        self._is_prebuilt = file is not None
        none = {"dict_nulltoken": "", "dict_starttoken": "", "dict_unktoken": ""}
        super().__init__(Opt({**opt, **none, "dict_endtoken": END}), shared)
        self.null_token = self.start_token = self.unk_token = END  # ParlAI asks for their numbers, and uses none here
        if file:
            self.freq = dict.fromkeys(file.words, 0)
            self.number(file.words)

    def is_prebuilt(self) -> bool:
        """ParlAI builds dictionaries that are not."""
        return self._is_prebuilt

    @staticmethod
    def space_tokenize(text: str) -> list[str]:
        """The words as fastText finds them."""
        return [word for word in _SPACE.split(text) if word]
