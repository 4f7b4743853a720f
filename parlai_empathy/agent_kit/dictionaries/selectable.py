"""A dictionary class that chooses between words and a Hugging Face tokenizer, depending on an option.

ParlAI asks an agent for its dictionary class before the options have values, and builds the dictionary before it
builds the agent. So the class itself chooses, when it is called.
"""

from __future__ import annotations

from typing import Any, ClassVar

from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary
from parlai_empathy.agent_kit.dictionaries.words import has_json_words, left_by_another
from parlai_empathy.agent_kit.options.common import flag
from parlai_empathy.errors import ModelFileError, OptionError, one_line
from parlai_empathy.files.text_file import is_file

_NEEDING_MORE = ("bpe", "gpt2", "bytelevelbpe", "slow_bytelevel_bpe", "nltk")
"""ParlAI's tokenizers that need files, other libraries or a download."""

_READING = ("dict_tokenizer", "dict_lower")
"""Options that determine how words are read from a text."""


class TextDictionary(DictionaryAgent):
    """ParlAI's dictionary of words, in which no text contains padding: a word spelt like it is unknown.

    :raises OptionError: if what ``--dict-tokenizer`` needs is missing: a file, a library or a download.
    """

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        try:
            super().__init__(opt, shared)
        except (OSError, RuntimeError, ImportError, LookupError, ValueError) as error:
            if opt.get("dict_tokenizer") not in _NEEDING_MORE:
                raise
            raise OptionError(
                f"--dict-tokenizer {opt['dict_tokenizer']} lacks something that it needs ({one_line(error)}): provide "
                "it, or name another tokenizer, such as re"
            ) from error

    def txt2vec(self, text: str, vec_type: type = list) -> Any:
        """Return the ids of a text's words."""
        null, unknown = self[self.null_token], self[self.unk_token]
        return vec_type(unknown if index == null else index for index in super().txt2vec(text))


class SelectableDictionary(DictionaryAgent):
    """Creates a tokenizer's vocabulary if :meth:`is_pretrained`, else a dictionary of words; never itself instantiated.

    Subclasses may set :attr:`words` and :attr:`tokens` to other classes.
    """

    words: ClassVar[type[DictionaryAgent]] = TextDictionary
    tokens: ClassVar[type[TokenizerDictionary]] = TokenizerDictionary

    def __new__(cls, opt: Opt, shared: dict[str, Any] | None = None) -> DictionaryAgent:
        """Create the dictionary that the options select."""
        if cls.is_pretrained(opt):
            return cls.tokens(opt, shared)
        if has_json_words(opt.get("dict_file")):
            raise left_by_another(opt["dict_file"])
        _check_reading(opt)
        return cls.words(opt, shared)

    @staticmethod
    def is_pretrained(opt: Opt) -> bool:
        """Whether the options select a tokenizer: by default, whether ``--hf-model`` is set."""
        return bool(opt.get("hf_model"))


def _check_reading(opt: Opt) -> None:
    """Raise :class:`ModelFileError` for a dictionary whose words were read from texts in another way than ``opt`` says.

    A training that failed or was stopped before it saved a model may have left it: ParlAI uses a dictionary that is
    there, and words that are read in another way are unknown.
    """
    path = opt.get("dict_file")
    if not (path and is_file(path) and is_file(f"{path}.opt")):
        return
    theirs = Opt.load(f"{path}.opt")  # what ParlAI built it with
    for name in _READING:
        if name in theirs and name in opt and theirs[name] != opt[name]:
            raise ModelFileError(
                f"{path} was built with {flag(name)} {theirs[name]}, not {opt[name]}: use that with its model; for "
                "a new one, name another -mf, or delete the file if a training has left it without a model"
            )
