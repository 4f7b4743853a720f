"""``-m empathy:multitask``: the retrieval agent that learns emotions at the same time."""

from __future__ import annotations

from typing import Any

from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch, Output
from torch import Tensor

from parlai_empathy.agents.multitask.emotions import Multitask
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.biencoder import TwoTowers
from parlai_empathy.modules.emotion_head import EmotionHead


class MultitaskAgent(Multitask, RetrievalAgent):
    """Chooses replies as ``empathy:retrieval`` does; the context's vector has to tell the emotion, too.

    It is the vector that replies are chosen by. With ``--score cosine`` all have the same length, and so the head reads
    directions alone: nothing else of a vector has a part in the choice.
    """

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if opt["candidates"] != "batch":
            raise OptionError(
                f"--candidates {opt['candidates']}: empathy:multitask learns with --candidates batch alone"
            )
        super().__init__(opt, shared)

    def build_model(self) -> TwoTowers:
        """The two towers and the head."""
        model = super().build_model()
        model.emotion_head = EmotionHead(model.dim, len(self.opt["emotions"]))
        return model

    def losses(self, batch: Batch, contexts: Tensor, replies: Tensor) -> Tensor:
        """The mean of each example's two losses, ``(batch,)``."""
        return (super().losses(batch, contexts, replies) + self.emotion_losses(batch, contexts)) / 2

    def eval_step(self, batch: Batch) -> Output | None:
        """Rank candidates, and tell emotions where they are known."""
        if batch.text_vec is not None and batch.label_vec is not None:
            self.model.eval()
            self.emotion_losses(batch, self.encode_contexts(batch))
        return super().eval_step(batch)
