"""``-m empathy:prepend/generative``: the generative agent with labels prepended to contexts."""

from __future__ import annotations

import math

from parlai_empathy.agents.generative.generative import GenerativeAgent as Generator
from parlai_empathy.agents.prepend.labels import Prepend
from parlai_empathy.modules.generation.hugging_face_generator import CausalGenerator


class GenerativeAgent(Prepend, Generator):
    """Generates replies like ``empathy:generative``. Replies get no labels, as the model must generate them itself."""

    @property
    def context_begin(self) -> int:
        """Number of special tokens that a language model's tokenizer adds before a text."""
        return len(self.dict.before) if self.opt.get("hf_model") else 0

    @property
    def longest_text(self) -> float:
        """Number of positions that the model has for a context; some language models have no limit."""
        if not self.opt.get("hf_model"):
            return int(self.opt["n_positions"])
        model = self.bare_model
        positions = getattr(model.language_model.config, "max_position_embeddings", None)
        if not positions:
            return math.inf
        of_reply = len(model.begins_with) + self.opt["label_truncate"] if isinstance(model, CausalGenerator) else 0
        return int(positions - len(self.dict.before) - len(self.dict.behind) - of_reply)
