"""A ParlAI dictionary that wraps a Hugging Face tokenizer."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.trained.agent import model_path
from parlai_empathy.files.text_file import as_unicode
from parlai_empathy.files.whole_file import write_whole
from parlai_empathy.metrics.tokens import TOKENS
from parlai_empathy.modules.pretrained.hugging_face import load_tokenizer


def encoder_source(opt: Opt) -> str:
    """Return where to load the encoder's configuration and tokenizer from.

    This is the folder beside the model, else the one beside ``--init-model``, else ``--hf-model``. A folder without its
    model file is ignored: it is left over from an earlier training.
    """
    for name in filter(None, (opt.get("model_file"), opt.get("init_model"))):
        path = model_path(name, opt.get("datapath"))  # ParlAI resolves a zoo name only after it has built this
        if path.is_file() and encoder_folder(str(path)).is_dir():
            return str(encoder_folder(str(path)))
    return str(opt["hf_model"])


def encoder_folder(model_file: str) -> Path:
    """Return the folder of a model's own tokenizer and configuration, with which a trained model needs no hub."""
    return Path(f"{model_file}.encoder")


def save_encoder(model_file: str, tokenizer: Any, config: Any) -> None:
    """Write :func:`encoder_folder`, replacing an existing one.

    Each file is replaced atomically: a training that is killed meanwhile can resume.
    """
    folder = encoder_folder(model_file)
    unfinished = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    tokenizer.save_pretrained(unfinished)
    config.save_pretrained(unfinished)
    _replace_files(folder, unfinished)
    shutil.rmtree(unfinished)


def _replace_files(folder: Path, new: Path) -> None:
    """Move the files of the folder ``new`` to ``folder``, and then delete the others that are in it."""
    names = {file.relative_to(new) for file in new.rglob("*") if file.is_file()}
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).replace(folder / name)
    for file in folder.rglob("*"):
        if file.is_file() and file.relative_to(folder) not in names:
            file.unlink()


class TokenizerDictionary(DictionaryAgent):
    """A tokenizer's vocabulary. It is never built from data."""

    # Word-level metrics such as BLEU must count words: subword tokens would give other values.
    tokenizer = "re"
    tokenizer_fun = staticmethod(TOKENS["re"])

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        self.opt = opt
        self.tokenizer_of_encoder = shared["tokenizer"] if shared else load_tokenizer(encoder_source(opt))
        tokenizer = self.tokenizer_of_encoder
        self.tok2ind: dict[str, int] = tokenizer.get_vocab()
        self.ind2tok: dict[int, str] = {index: token for token, index in self.tok2ind.items()}
        self.null_token = tokenizer.pad_token or tokenizer.eos_token
        self.start_token = tokenizer.cls_token or tokenizer.bos_token or self.null_token
        self.end_token = tokenizer.sep_token or tokenizer.eos_token or self.null_token
        self.unk_token = tokenizer.unk_token or self.null_token
        self.null_idx = self.tok2ind[self.null_token]

    def is_prebuilt(self) -> bool:
        """Return True, so that ParlAI does not build the dictionary."""
        return True

    def __getitem__(self, key: str | int) -> int | str:
        if isinstance(key, int):  # some models, such as T5, also have rows without a token
            token: str = self.ind2tok.get(key, self.unk_token)
            return token
        index: int = self.tok2ind.get(key, self.tok2ind[self.unk_token])
        return index

    def __len__(self) -> int:
        return len(self.tok2ind)

    def txt2vec(self, text: str, vec_type: type = list) -> Any:
        """Return a text's token ids without special tokens around it; line breaks become separator tokens.

        Unpaired surrogates are read as ``?``.
        """
        if separator := self.tokenizer_of_encoder.sep_token:
            text = text.replace("\n", f" {separator} ")
        # The tokenizer's own `__call__` needs twice the time; it sets these, and leaves them set.
        backend = self.tokenizer_of_encoder.backend_tokenizer
        if backend.truncation:
            backend.no_truncation()
        if backend.padding:
            backend.no_padding()
        return vec_type(backend.encode(as_unicode(text), add_special_tokens=False).ids)

    def vec2txt(self, vector: Any, **_: Any) -> str:
        """Decode token ids to text."""
        text: str = self.tokenizer_of_encoder.decode(list(vector), skip_special_tokens=True)
        return text

    def save(self, filename: str | None = None, append: bool = False, sort: bool = True) -> None:
        """Atomically write the tokens, one per line.

        ParlAI checks that the file exists; the tokenizer itself is loaded from :func:`encoder_folder`.
        """
        if filename:
            path = Path(filename)
            path.absolute().parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, "".join(f"{self.ind2tok[i]}\n" for i in sorted(self.ind2tok)))

    def share(self) -> dict[str, Any]:
        """Share the tokenizer with copies of the agent."""
        return {"class": type(self), "opt": self.opt, "tokenizer": self.tokenizer_of_encoder}
