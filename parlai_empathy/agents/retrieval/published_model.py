"""Starting from a checkpoint of the paper's authors: their vocabulary, sizes and weights replace our own.

``--init-model FILE.mdl`` sets all options that the checkpoint determines. A model trained from it is like any other of
ours.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.words import WordDictionary, has_json_words, left_by_another
from parlai_empathy.agent_kit.trained.init_model import copy_options
from parlai_empathy.agent_kit.trained.published import (
    BETWEEN_TURNS,
    PAD,
    UNKNOWN,
    Published,
    read_published,
    their_words,
)
from parlai_empathy.modules.pretrained.hugging_face import transformers_library

ENDING = ".mdl"


def init_published(opt: Opt) -> Published | None:
    """Read the checkpoint that ``--init-model`` names, unless there is a trained model already.

    :raises ModelFileError: if it is missing or damaged.
    """
    path = opt.get("init_model")
    if not path or not str(path).endswith(ENDING) or (opt.get("model_file") and Path(opt["model_file"]).is_file()):
        return None
    return read_published(path)


def adopt(opt: Opt, published: Published) -> None:
    """Set the options that a checkpoint determines: the sizes, and how the authors' code preprocesses texts.

    :raises OptionError: if the command line gives another value.
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
    copy_options(opt, {"truncate_context": "newest", **decided}, f"--init-model {opt['init_model']}")


def _write_encoder(published: Published) -> str:
    """Write a published BERT's configuration and tokenizer to a temporary folder, to be saved with the model later."""
    library: Any = transformers_library()
    folder = Path(tempfile.mkdtemp(prefix="published_bert_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in published.words), encoding="utf-8")
    # Their <SOC> between turns is BERT's first unused token.
    tokenizer = library.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False, sep_token="[unused1]")
    tokenizer.save_pretrained(folder)
    library.BertConfig(**published.sizes["config"]).save_pretrained(folder)
    return str(folder)


class PublishedDictionary(WordDictionary):
    """The vocabulary of a published Transformer, with the authors' tokenization."""

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        published = None if shared else init_published(opt)
        self._is_prebuilt = published is not None
        theirs = {"dict_nulltoken": PAD, "dict_unktoken": UNKNOWN, "dict_starttoken": "", "dict_endtoken": ""}
        super().__init__(Opt({**opt, **theirs, "dict_lower": False}), shared)
        self.start_token = self.end_token = UNKNOWN  # ParlAI looks up their ids but does not use them
        if published:
            self.freq = dict.fromkeys(published.words, 0)
            self.number(published.words)
            self._unk_token_idx = self.tok2ind.get(UNKNOWN)  # ParlAI looked it up while the dictionary was empty

    def load(self, filename: str) -> None:
        """Load a file, which must have the checkpoint's special words unless the checkpoint itself follows."""
        super().load(filename)
        if not (self._is_prebuilt or {PAD, UNKNOWN} <= set(self.tok2ind)):
            raise left_by_another(filename)

    def is_prebuilt(self) -> bool:
        """Whether the words come from a checkpoint, so that ParlAI must not build the dictionary."""
        return self._is_prebuilt

    def tokenize(self, text: str, building: bool = False) -> list[str]:
        """Split a text into words, with a special word between its lines, which are turns."""
        words = [their_words(line) for line in text.split("\n") if line.strip()]
        return [word for number, line in enumerate(words) for word in ([BETWEEN_TURNS] if number else []) + line]

    @staticmethod
    def uses_published_words(opt: Opt) -> bool:
        """Whether the model uses such a vocabulary: it starts from a published model, or was trained from one."""
        if str(opt.get("init_model") or "").endswith(ENDING):
            return bool(opt.get("encoder") != "hf")
        files = [f"{path}.dict" for path in (opt.get("model_file"), opt.get("init_model")) if path]
        return any(map(has_json_words, files))
