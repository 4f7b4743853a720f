"""``-m empathy:prepend``: the retrieval agent with labels prepended to contexts and replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parlai.core.message import Message
from torch import Tensor

from parlai_empathy.agents.prepend.labels import Prepend
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.modules.pretrained.hugging_face import longest_text

_LABELS = ("labels", "eval_labels")


class PrependAgent(Prepend, RetrievalAgent):
    """Chooses replies like ``empathy:retrieval``. Labels are prepended to each context and each candidate."""

    cut = ("text_truncate", "label_truncate")

    @property
    def context_begin(self) -> int:
        """1 if there is a start token, else 0."""
        return int(self.has_ends)

    @property
    def longest_text(self) -> float:
        """Number of the towers' positions."""
        if not self.pretrained:
            return int(self.opt["n_positions"])
        tower: Any = self.bare_model.contexts
        longest = longest_text(tower.encoder.config, self.dict.tokenizer_of_encoder)
        return longest - 2  # a special token before the text, and one after it

    def texts_in(self, obs: Message) -> list[str]:
        """Return the context, the true reply, and the tokenized candidates."""
        texts = super().texts_in(obs)
        texts += [obs[f"{name}_choice"] for name in _LABELS if f"{name}_vec" in obs]
        return texts + list(obs["label_candidates"] if "label_candidates_vecs" in obs else [])

    def with_labels(self, obs: Message, labels: Mapping[str, Sequence[str]]) -> Message:
        """Prepend labels to all these texts."""
        obs, begin = super().with_labels(obs, labels), self.context_begin
        for name in _LABELS:
            if f"{name}_vec" in obs:
                obs.force_set(f"{name}_vec", self.labelled(obs[f"{name}_vec"], labels[obs[f"{name}_choice"]], begin))
        if "label_candidates_vecs" in obs:
            pairs = zip(obs["label_candidates"], obs["label_candidates_vecs"], strict=True)
            obs.force_set("label_candidates_vecs", [self.labelled(vec, labels[text], begin) for text, vec in pairs])
        return obs

    def replies_tokens(self, texts: Sequence[str]) -> list[Tensor]:
        """Return the replies' token ids, including labels."""
        tokens = super().replies_tokens(texts)
        pairs = zip(tokens, self.labels_of(texts), strict=True)
        return [self.labelled(tokens, labels, self.context_begin) for tokens, labels in pairs]

    def _pool_source(self) -> str:
        """Identify the pool by the labels, too."""
        how = (self.classifier.fingerprint, self.opt["prepend_k"], self.opt["prepend_order"])
        return " ".join(map(str, (super()._pool_source(), *how)))
