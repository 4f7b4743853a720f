"""Beginning with a checkpoint of the paper's authors: their words, sizes and weights in the place of our own.

``--init-model FILE.mdl`` is all that has to be typed: it brings the options that the checkpoint decides. What is
trained from it is a model like any other of ours.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.words import WordDictionary
from parlai_empathy.agent_kit.trained.beginning import take_over
from parlai_empathy.agent_kit.trained.published import (
    BETWEEN_TURNS,
    PAD,
    UNKNOWN,
    Published,
    read_published,
    their_words,
)
from parlai_empathy.modules.hugging_face import transformers_library

ENDING = ".mdl"


def published_to_begin_with(opt: Opt) -> Published | None:
    """The checkpoint that ``--init-model`` names, unless there is a trained model already.

    :raises ModelFileError: if it is missing or broken.
    """
    path = opt.get("init_model")
    if not path or not str(path).endswith(ENDING) or (opt.get("model_file") and Path(opt["model_file"]).is_file()):
        return None
    return read_published(path)


def adopt(opt: Opt, published: Published) -> None:
    """Put into ``opt`` what a checkpoint decides: the sizes, and how the authors' code read texts with it.

    :raises OptionError: if the command line says otherwise.
    """
    sizes = dict(published.sizes)
    if published.kind == "transformer":
        temperature = sizes.pop("temperature")
        decided = {"encoder": "transformer", **sizes}
    else:
        temperature = sizes["length"]
        decided = {"encoder": "hf", "towers": 2, "pooling": sizes["pooling"], "projection": sizes["projection"]}
        opt.update(hf_model=_write_encoder(published), special_tokens=False)
    decided |= {"score": "dot"} if temperature is None else {"score": "cosine", "temperature": 1.0}
    take_over(opt, {"truncate_context": "newest", **decided}, f"--init-model {opt['init_model']}")


def _write_encoder(published: Published) -> str:
    """A folder that describes a published BERT as Hugging Face does; it goes beside the model when that is saved."""
    library: Any = transformers_library()
    folder = Path(tempfile.mkdtemp(prefix="published_bert_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in published.words), encoding="utf-8")
    # Their <SOC> between the turns is BERT's first unused word.
    tokenizer = library.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False, sep_token="[unused1]")
    tokenizer.save_pretrained(folder)
    library.BertConfig(**published.sizes["config"]).save_pretrained(folder)
    return str(folder)


class PublishedDictionary(WordDictionary):
    """The words of a published Transformer, which it finds in a text as the authors' code does."""

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        published = None if shared else published_to_begin_with(opt)
        self._is_prebuilt = published is not None
        theirs = {"dict_nulltoken": PAD, "dict_unktoken": UNKNOWN, "dict_starttoken": "", "dict_endtoken": ""}
        super().__init__(Opt({**opt, **theirs, "dict_lower": False}), shared)
        self.start_token = self.end_token = UNKNOWN  # ParlAI asks for their numbers, and uses none here
        if published:
            self.freq = dict.fromkeys(published.words, 0)
            self.number(published.words)
            self._unk_token_idx = self.tok2ind.get(UNKNOWN)  # ParlAI looked it up before there were words

    def is_prebuilt(self) -> bool:
        """ParlAI builds dictionaries that are not."""
        return self._is_prebuilt

    def tokenize(self, text: str, building: bool = False) -> list[str]:
        """A text's words; a word of its own stands between its lines, which are turns."""
        words = [their_words(line) for line in text.split("\n") if line.strip()]
        return [word for number, line in enumerate(words) for word in ([BETWEEN_TURNS] if number else []) + line]

    @staticmethod
    def is_meant(opt: Opt) -> bool:
        """Whether the options' model has such words: it begins with a published one, or was trained from one."""
        if str(opt.get("init_model") or "").endswith(ENDING):
            return bool(opt.get("encoder") != "hf")
        files = [f"{path}.dict" for path in (opt.get("model_file"), opt.get("init_model")) if path]
        return any(_has_their_words(Path(file)) for file in files)


def _has_their_words(path: Path) -> bool:
    """Whether a dictionary's file is one of ours with words in JSON's spelling: ParlAI's begins with a word."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) == b'["'
