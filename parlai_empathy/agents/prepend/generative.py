"""``-m empathy:prepend/generative``: the generative agent with labels before contexts."""

from __future__ import annotations

import math

from parlai_empathy.agents.generative.generative import GenerativeAgent as Generator
from parlai_empathy.agents.prepend.labels import Prepend


class GenerativeAgent(Prepend, Generator):
    """Writes replies as ``empathy:generative`` does. Replies have no labels: they are what it shall write."""

    @property
    def context_begin(self) -> int:
        """What a language model's tokenizer puts before a text."""
        return len(self.dict.before) if self.opt.get("hf_model") else 0

    @property
    def longest_text(self) -> float:
        """As many tokens as the encoder has positions for; some language models have no limit."""
        if not self.opt.get("hf_model"):
            return int(self.opt["n_positions"])
        config = self.bare_model.language_model.config
        positions = getattr(config, "max_position_embeddings", None)
        return positions - len(self.dict.before) - len(self.dict.behind) if positions else math.inf
