"""A judge's model on a Hugging Face encoder: its tokenizer, how it is loaded, and the files saved beside the model."""

from __future__ import annotations

from typing import Any

from parlai.utils.distributed import is_primary_worker

from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary, encoder_source, save_encoder
from parlai_empathy.agent_kit.judging.model import PairModelAgent
from parlai_empathy.agent_kit.judging.options import check_max_tokens
from parlai_empathy.modules.pretrained.hugging_face import load_encoder


class OnEncoder(PairModelAgent):
    """Mixin for agents whose model has an ``encoder`` and that have the options ``--hf-model`` and ``--max-tokens``."""

    @staticmethod
    def dictionary_class() -> type[TokenizerDictionary]:
        """The encoder's own tokenizer."""
        return TokenizerDictionary

    @property
    def tokenizer(self) -> Any:
        """The encoder's tokenizer."""
        return self.dict.tokenizer_of_encoder

    def load_encoder(self) -> Any:
        """Load the encoder, with pretrained weights unless a trained model's weights follow.

        :raises OptionError: if ``--max-tokens`` exceeds the encoder's maximum length.
        """
        encoder = load_encoder(encoder_source(self.opt), pretrained=self.is_new)
        check_max_tokens(self.opt, encoder.config, self.tokenizer)
        return encoder

    def save(self, path: str | None = None) -> None:
        """Save the model, and its encoder's tokenizer and configuration."""
        path = path or self.opt.get("model_file")
        if path and is_primary_worker():
            model: Any = self.bare_model
            save_encoder(path, self.tokenizer, model.encoder.config)
        super().save(path)
