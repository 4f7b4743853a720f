"""Inference with EPITOME's model: from pairs to levels and rationales, for one batch or any number of pairs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from parlai_empathy.agent_kit.judging.examples import TextPair, pairs_of
from parlai_empathy.agent_kit.judging.on_encoder import OnEncoder
from parlai_empathy.agent_kit.trained.text_cache import TextCache
from parlai_empathy.agents.epitome.tokens import Tokens, padded, tokens_of
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.classifiers.epitome import LEVELS, Epitome
from parlai_empathy.modules.speed.precision import autocast, use_bfloat16
from parlai_empathy.modules.speed.sorted_batches import sorted_batches

REMEMBERED = 4096  # number of posts; MiniLM's states of 64 tokens each are at most 200 MB in bfloat16
_READ_BATCH = 256  # pairs judged per batch


@dataclass(frozen=True)
class Judged:
    """The model's output for some pairs.

    :param levels: logits, ``(n, mechanisms, 3)``.
    :param rationales: logits, ``(n, mechanisms, length, 2)``.
    :param responses: the tokens read from each pair's response.
    """

    levels: Tensor
    rationales: Tensor
    responses: list[Tokens]


class EpitomeReader(OnEncoder):
    """Base class for inference; a subclass adds training.

    A pair is a reply and the line before it; earlier lines are ignored.
    """

    mechanisms: list[str]
    _posts: TextCache[Tensor]

    # --- model -------------------------------------------------------------------------------------------------------

    @property
    def outputs(self) -> int:
        """Number of level logits per pair."""
        return LEVELS * len(self.mechanisms)

    def build_model(self) -> nn.Module:
        """Build the encoders and new heads."""
        opt, encoder = self.opt, self.load_encoder()
        number = 1 if opt["responders"] == "shared" else len(self.mechanisms)
        responders = [copy.deepcopy(encoder) for _ in range(number)]
        return Epitome(encoder, responders, len(self.mechanisms), opt["pooling"], opt["dropout"])

    def parameter_groups(self) -> list[Any]:
        """Return the trainable parameters, with ``--weight-decay`` (default: none)."""
        return [{"params": super().parameter_groups(), "weight_decay": self.opt.get("weight_decay") or 0.0}]

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Return the inputs of :class:`Epitome`, with duplicate posts and responses removed."""
        return self._inputs(pairs)[0]

    def _inputs(self, pairs: Sequence[TextPair]) -> tuple[tuple[Tensor, ...], list[Tokens]]:
        """Return the model's inputs, and the tokens of each pair's response."""
        posts = [pair.turns[-1] if pair.turns else "" for pair in pairs]
        post_of, response_of = _numbered(posts), _numbered([pair.reply for pair in pairs])
        different = list(post_of)
        states = self._posts.of(different, lambda new: self._post_states([different[place] for place in new]))
        responses = tokens_of(self.tokenizer, list(response_of), self.opt["max_tokens"])
        tokens, lengths = padded(responses, self.NULL_IDX)
        seen = pad_sequence([torch.ones(len(each), dtype=torch.bool) for each in states], batch_first=True)
        places = [response_of[pair.reply] for pair in pairs]
        inputs = (
            pad_sequence(states, batch_first=True),
            seen,
            torch.tensor([post_of[post] for post in posts]),
            tokens,
            lengths,
            torch.tensor(places),
        )
        return inputs, [responses[place] for place in places]

    def _post_states(self, posts: Sequence[str]) -> list[Tensor]:
        """Return the frozen encoder's states of posts, ``(length, dim)`` each, with any padding that is attended."""
        filled = self.opt["max_tokens"] if self.opt["attend_padding"] else None
        tokens, lengths = padded(tokens_of(self.tokenizer, posts, self.opt["max_tokens"]), self.NULL_IDX, filled)
        model: Any = self.bare_model
        device = next(model.parameters()).device
        with autocast(model, self.opt["precision"]):
            states = model.seeker_states(tokens.to(device), lengths.to(device), whole=bool(filled))
        short = use_bfloat16(self.opt["precision"], device)
        states = states.bfloat16() if short else states  # keep the precision it was computed in
        return [row[: filled or length].clone() for row, length in zip(states, lengths.tolist(), strict=True)]

    def judge(self, pairs: Sequence[TextPair]) -> Judged:
        """Judge a single batch of pairs."""
        inputs, responses = self._inputs(pairs)
        device = next(self.model.parameters()).device
        # In evaluation, processes have different numbers of batches, and the wrapper would block.
        model = self.model if self.model.training else self.bare_model
        with autocast(self.model, self.opt["precision"]):
            levels, rationales = model(*[tensor.to(device) for tensor in inputs])
        return Judged(levels, rationales, responses)

    # --- judging -----------------------------------------------------------------------------------------------------

    def levels(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """Return the level probabilities of replies, in batches, with a progress bar if there are many.

        :param contexts: the turns before each reply, oldest first; only the last one is read.
        :param replies: ``(n,)``
        :returns: by mechanism, ``(n, 3)``, for levels 0, 1 and 2; each row sums to 1.
        """
        pairs = [read_of(pair) for pair in pairs_of(contexts, replies)]
        table = torch.empty(len(pairs), len(self.mechanisms), LEVELS, dtype=torch.double)
        for places, judged in self._batches(pairs):
            table[places] = judged.levels.double().softmax(dim=-1).cpu()
        return {name: table[:, column].numpy() for column, name in enumerate(self.mechanisms)}

    def rationales(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> dict[str, list[list[str]]]:
        """Return the words of replies that show each mechanism; parameters as for :meth:`levels`.

        :returns: by mechanism, a list of substrings of each reply; empty if its most probable level is 0.
        """
        pairs = [read_of(pair) for pair in pairs_of(contexts, replies)]
        found: dict[str, list[list[str]]] = {name: [[] for _ in pairs] for name in self.mechanisms}
        for places, judged in self._batches(pairs):
            for place, words in zip(places, self.quoted([pairs[place] for place in places], judged), strict=True):
                for name in self.mechanisms:
                    found[name][place] = words[name]
        return found

    def score_pairs(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """Score the empathy of replies: the expected level, summed over the mechanisms.

        :returns: ``(n,)``, 0 to twice the number of mechanisms.
        """
        expected = [table @ np.arange(LEVELS) for table in self.levels(contexts, replies).values()]
        total: NDArray[np.float64] = np.sum(expected, axis=0)
        return total

    def class_probabilities(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """Return the level probabilities, ``(n, 3)``, of a judge of a single mechanism.

        :raises OptionError: if it judges several mechanisms.
        """
        if len(self.mechanisms) > 1:
            raise OptionError(
                f"this judge has levels of {', '.join(self.mechanisms)}: call levels(), which returns them by mechanism"
            )
        return self.levels(contexts, replies)[self.mechanisms[0]]

    def _batches(self, pairs: Sequence[TextPair]) -> Iterator[tuple[list[int], Judged]]:
        """Judge any number of pairs in batches; yield their indices and the model's output."""
        keys = [(len(pair.reply), pair.reply) for pair in pairs]  # equal replies are read once per batch
        self.model.eval()
        with torch.no_grad():
            for places in sorted_batches(keys, _READ_BATCH, "scoring"):
                yield places, self.judge([pairs[place] for place in places])

    def quoted(self, pairs: Sequence[TextPair], judged: Judged) -> list[dict[str, list[str]]]:
        """Return each pair's rationales: by mechanism, the words that show it."""
        chosen, marks = judged.levels.argmax(dim=-1).tolist(), judged.rationales.argmax(dim=-1).tolist()
        return [
            {
                name: [pair.reply[start:end] for start, end in tokens.spans(row[: len(tokens.ids)])] if level else []
                for name, level, row in zip(self.mechanisms, levels, rows, strict=True)
            }
            for pair, tokens, levels, rows in zip(pairs, judged.responses, chosen, marks, strict=True)
        ]


def read_of(pair: TextPair) -> TextPair:
    """Return the part of a pair that is read: the reply and the last turn before it."""
    return TextPair(pair.turns[-1:], pair.reply)


def _numbered(texts: Sequence[str]) -> dict[str, int]:
    """Map the distinct texts, in order, to indices."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}
