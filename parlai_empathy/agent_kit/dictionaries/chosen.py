"""A dictionary class for agents that know words, or a Hugging Face model's own tokens, as an option says.

ParlAI asks an agent for its dictionary's class before the options have values, and builds the dictionary before the
agent exists. So the class itself chooses, when it is called.
"""

from __future__ import annotations

from typing import Any, ClassVar

from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary


class ChosenDictionary(DictionaryAgent):
    """Not itself what it makes: the tokenizer's vocabulary if :meth:`is_pretrained`, else a dictionary of words.

    A subclass may set :attr:`words` and :attr:`tokens` to other classes.
    """

    words: ClassVar[type[DictionaryAgent]] = DictionaryAgent
    tokens: ClassVar[type[TokenizerDictionary]] = TokenizerDictionary

    def __new__(cls, opt: Opt, shared: dict[str, Any] | None = None) -> DictionaryAgent:
        """Make the dictionary that the options ask for."""
        kind = cls.tokens if cls.is_pretrained(opt) else cls.words
        return kind(opt, shared)

    @staticmethod
    def is_pretrained(opt: Opt) -> bool:
        """Whether the options ask for a tokenizer: by default, whether ``--hf-model`` names one."""
        return bool(opt.get("hf_model"))
