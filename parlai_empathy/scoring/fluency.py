"""Fluency of replies: the perplexity of each under a language model, as in Lee et al. (2022)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from parlai_empathy.modules.fingerprint import weights_fingerprint
from parlai_empathy.modules.pooling import token_mask
from parlai_empathy.modules.pretrained.hugging_face import load_causal_model, load_tokenizer
from parlai_empathy.modules.speed.precision import autocast, use_bfloat16
from parlai_empathy.modules.speed.sorted_batches import sorted_batches
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.scored import Scored, check_finite, median, scored

_OPTION = "--fluency-model"  # which names the model, for errors
_BATCH = 32
_MOST_LOGITS = 2**27  # in a batch, one for each token and word of the vocabulary: they take 1.5 GB at the peak


class Fluency:
    """The perplexity of replies under a causal language model.

    A reply is lower-cased and scored without its context. Its first token is given and has no loss, so a reply of fewer
    than two tokens has no perplexity. The paper's model is GPT-2 XL.

    :param name: a folder with a Hugging Face model, or a model's name on the hub.
    :param precision: as ``--precision``. bfloat16 is faster, but rounds logits as large as GPT-2's to multiples of 0.5.
    :raises ModelFileError: if the model cannot be loaded, or is not a causal language model.
    """

    def __init__(self, name: str, precision: str = "float32") -> None:
        self._name = name
        self._precision = precision
        self._tokenizer = load_tokenizer(name, _OPTION)
        self._model = load_causal_model(name, torch.float32, _OPTION).eval()
        self._weights = weights_fingerprint(self._model)[:8]  # those in a folder may change
        if torch.cuda.is_available():
            self._model.cuda()
        limit = getattr(self._model.config, "max_position_embeddings", None)
        self._longest = int(limit) if limit else None
        self._vocabulary = self._model.get_input_embeddings().num_embeddings

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return the mean of the replies' perplexities, which is the paper's, and their median; both at least 1.

        A few short replies, such as a lone "okay", can have perplexities in the millions and decide the mean.

        :raises NotComputableError: if no reply has two tokens.
        """
        values = self.perplexities([one.reply for one in replies])
        title = "PPL of the language model"
        return [
            scored("fluency", title, values, self._settings("mean")),
            scored("fluency_median", f"median {title}", values, self._settings("median"), median, record=None),
        ]

    def _settings(self, average: str) -> dict[str, str]:
        short = use_bfloat16(self._precision, self._model.device)
        return {
            "model": self._name,
            "weights": self._weights,
            "case": "lower",
            average: "replies",
            "precision": "bfloat16" if short else "float32",
        }

    def perplexities(self, texts: Sequence[str]) -> list[float | None]:
        """Return each text's perplexity; None for fewer than two tokens. Each distinct text is scored once.

        :raises NotComputableError: if a perplexity is NaN or infinite.
        """
        different = list(dict.fromkeys(text.lower().strip() for text in texts))
        tokens = self._tokenizer(different, add_special_tokens=False)["input_ids"] if different else []
        # Truncated to the model's maximum length, which replies seldom exceed.
        tokens = [ids[: self._longest] for ids in tokens]
        long_enough = [place for place, ids in enumerate(tokens) if len(ids) > 1]
        found: dict[str, float] = {}
        for batch in sorted_batches([len(tokens[place]) for place in long_enough], _BATCH, "fluency"):
            places = [long_enough[number] for number in batch]
            found |= zip((different[place] for place in places), self._of([tokens[p] for p in places]), strict=True)
        return [found.get(text.lower().strip()) for text in texts]

    def _of(self, tokens: Sequence[Sequence[int]]) -> list[float]:
        """Return the perplexities of texts given as token ids, at least two each."""
        device = self._model.device
        lengths = torch.tensor([len(ids) for ids in tokens])
        longest = int(lengths.max())
        if len(tokens) > 1 and len(tokens) * longest * self._vocabulary > _MOST_LOGITS:
            half = len(tokens) // 2
            return self._of(tokens[:half]) + self._of(tokens[half:])
        ids = torch.tensor([[*each, *[0] * (longest - len(each))] for each in tokens]).to(device)
        mask = token_mask(lengths, longest)
        with torch.no_grad(), autocast(self._model, self._precision):
            output: Any = self._model(input_ids=ids, attention_mask=mask.long().to(device))
        logits: Tensor = output.logits[:, :-1].float()
        losses = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").cpu()
        found = (losses.masked_fill(~mask[:, 1:], 0).double().sum(dim=1) / (lengths - 1)).exp()
        check_finite(found.numpy(), f"fluency: {self._name}", "a reply", "perplexity")
        return found.tolist()
