"""``-m empathy:multitask/generative``: the generative agent, trained to predict emotions as well."""

from __future__ import annotations

from typing import Any

from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorModel

from parlai_empathy.agents.generative.generative import GenerativeAgent as Generator
from parlai_empathy.agents.multitask.emotions import Multitask
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.classifiers.emotion_head import EmotionHead
from parlai_empathy.modules.generation.hugging_face_generator import CausalGenerator
from parlai_empathy.modules.pooling import masked_mean


class GenerativeAgent(Multitask, Generator):
    """Generates replies like ``empathy:generative``; emotions are predicted from the mean of the encoder's states."""

    def build_model(self, states: Any = None) -> TorchGeneratorModel:
        """Build the generator and the emotion head."""
        model = super().build_model(states)
        if isinstance(model, CausalGenerator):
            raise OptionError(
                f"--hf-model {self.opt['hf_model']}: empathy:multitask/generative needs an encoder, and this is "
                "decoder-only; name one such as T5 or BART"
            )
        model.emotion_head = EmotionHead(encoder_size(model, self.opt), len(self.opt["emotions"]))
        return model

    def compute_loss(self, batch: Batch, return_output: bool = False) -> Any:
        """Return ParlAI's loss; in training, its mean with the emotion loss."""
        loss, output = super().compute_loss(batch, return_output=True)
        states, mask = output[-1]
        losses = self.emotion_losses(batch, masked_mean(states.float(), mask))
        if self.is_training:
            loss = (loss + losses.mean()) / 2
        return (loss, output) if return_output else loss


def encoder_size(model: Any, opt: Any) -> int:
    """Return the dimension of the encoder's states."""
    if opt.get("hf_model"):
        return int(model.language_model.get_input_embeddings().embedding_dim)
    return int(opt["embedding_size"])
