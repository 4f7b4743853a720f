"""``-m empathy:prepend/generative``: the generative agent with labels prepended to contexts."""

from __future__ import annotations

import math

from parlai_empathy.agents.generative.generative import GenerativeAgent as Generator
from parlai_empathy.agents.prepend.labels import Prepend


class GenerativeAgent(Prepend, Generator):
    """Generates replies like ``empathy:generative``. Replies get no labels, as the model must generate them itself."""

    @property
    def context_begin(self) -> int:
        """Number of special tokens that a language model's tokenizer adds before a text."""
        return len(self.dict.before) if self.opt.get("hf_model") else 0

    @property
    def longest_text(self) -> float:
        """Number of the encoder's positions; some language models have no limit."""
        if not self.opt.get("hf_model"):
            return int(self.opt["n_positions"])
        config = self.bare_model.language_model.config
        positions = getattr(config, "max_position_embeddings", None)
        return positions - len(self.dict.before) - len(self.dict.behind) if positions else math.inf
