"""``-m empathy:multitask``: the retrieval agent, trained to predict emotions as well."""

from __future__ import annotations

from typing import Any

from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch, Output
from torch import Tensor

from parlai_empathy.agents.multitask.emotions import Multitask
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.classifiers.emotion_head import EmotionHead
from parlai_empathy.modules.encoders.biencoder import TwoTowers


class MultitaskAgent(Multitask, RetrievalAgent):
    """Chooses replies like ``empathy:retrieval``; emotions are predicted from the context vector.

    This is the vector that replies are ranked with. With ``--score cosine`` it is normalised, so the head sees only its
    direction, as ranking does.
    """

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if opt["candidates"] != "batch":
            raise OptionError(f"--candidates {opt['candidates']}: empathy:multitask supports only --candidates batch")
        super().__init__(opt, shared)

    def build_model(self) -> TwoTowers:
        """Build the two towers and the emotion head."""
        model = super().build_model()
        model.emotion_head = EmotionHead(model.dim, len(self.opt["emotions"]))
        return model

    def losses(self, batch: Batch, contexts: Tensor, replies: Tensor) -> Tensor:
        """Return the mean of each example's two losses, ``(batch,)``."""
        return (super().losses(batch, contexts, replies) + self.emotion_losses(batch, contexts)) / 2

    def eval_step(self, batch: Batch) -> Output | None:
        """Rank candidates, and predict emotions where they are known."""
        if batch.text_vec is not None and batch.label_vec is not None:
            self.model.eval()
            self.emotion_losses(batch, self.encode_contexts(batch))
        return super().eval_step(batch)
