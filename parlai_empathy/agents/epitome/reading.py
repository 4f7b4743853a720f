"""EPITOME's model as an agent uses it: from pairs to levels and rationales, one batch or any number at a time."""

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
from tqdm import tqdm

from parlai_empathy.agent_kit.judging.examples import TextPair, pairs_of
from parlai_empathy.agent_kit.judging.on_encoder import OnEncoder
from parlai_empathy.agent_kit.trained.remembered import Remembered
from parlai_empathy.agents.epitome.tokens import Tokens, padded, tokens_of
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.epitome import LEVELS, Epitome
from parlai_empathy.modules.precision import autocast, use_bfloat16

REMEMBERED = 4096  # posts; of MiniLM's states of 64 tokens each that is at most 200 MB in bfloat16
_READ_BATCH = 256  # pairs judged at once
_WORTH_A_BAR = 20  # as many batches take long enough for a progress bar


@dataclass(frozen=True)
class Judged:
    """What the model says of some pairs.

    :param levels: logits, ``(n, mechanisms, 3)``.
    :param rationales: logits, ``(n, mechanisms, length, 2)``.
    :param responses: the tokens that were read of each pair's response.
    """

    levels: Tensor
    rationales: Tensor
    responses: list[Tokens]


class EpitomeReader(OnEncoder):
    """What the model says of pairs; how it learns, a subclass says.

    A pair is a reply and the line before it: nothing else is read.
    """

    mechanisms: list[str]
    _posts: Remembered[Tensor]

    # --- model -------------------------------------------------------------------------------------------------------

    @property
    def outputs(self) -> int:
        """How many logits of levels a pair has."""
        return LEVELS * len(self.mechanisms)

    def build_model(self) -> nn.Module:
        """The encoders and new heads."""
        opt, encoder = self.opt, self.load_encoder()
        number = 1 if opt["responders"] == "shared" else len(self.mechanisms)
        responders = [copy.deepcopy(encoder) for _ in range(number)]
        return Epitome(encoder, responders, len(self.mechanisms), opt["pooling"], opt["dropout"])

    def parameter_groups(self) -> list[Any]:
        """What learns, with the weight decay that ``--weight-decay`` says: left out, there is none."""
        return [{"params": super().parameter_groups(), "weight_decay": self.opt.get("weight_decay") or 0.0}]

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """What :class:`Epitome` takes: each different post and each different response once."""
        return self._inputs(pairs)[0]

    def _inputs(self, pairs: Sequence[TextPair]) -> tuple[tuple[Tensor, ...], list[Tokens]]:
        """The model's inputs, and the tokens of each pair's response."""
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
        """What the frozen encoder makes of posts, ``(length, dim)`` each; of all that the attention may see."""
        filled = self.opt["max_tokens"] if self.opt["attend_padding"] else None
        tokens, lengths = padded(tokens_of(self.tokenizer, posts, self.opt["max_tokens"]), self.NULL_IDX, filled)
        model: Any = self.bare_model
        device = next(model.parameters()).device
        with autocast(model, self.opt["precision"]):
            states = model.seeker_states(tokens.to(device), lengths.to(device), whole=bool(filled))
        short = use_bfloat16(self.opt["precision"], device)
        states = states.bfloat16() if short else states  # as it was computed
        return [row[: filled or length].clone() for row, length in zip(states, lengths.tolist(), strict=True)]

    def judge(self, pairs: Sequence[TextPair]) -> Judged:
        """Judge pairs that fit into one batch."""
        inputs, responses = self._inputs(pairs)
        device = next(self.model.parameters()).device
        # In evaluation processes have different numbers of batches: the wrapper would have them wait for one another.
        model = self.model if self.model.training else self.bare_model
        with autocast(self.model, self.opt["precision"]):
            levels, rationales = model(*[tensor.to(device) for tensor in inputs])
        return Judged(levels, rationales, responses)

    # --- judging -----------------------------------------------------------------------------------------------------

    def levels(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """How probable each level is, of many replies at once, with a progress bar where it takes long.

        :param contexts: the turns before each reply, oldest first; the last one is read.
        :param replies: ``(n,)``
        :returns: by mechanism, ``(n, 3)``: of level 0, 1 and 2; each row adds up to 1.
        """
        pairs = [read_of(pair) for pair in pairs_of(contexts, replies)]
        table = torch.empty(len(pairs), len(self.mechanisms), LEVELS, dtype=torch.double)
        for places, judged in self._batches(pairs):
            table[places] = judged.levels.double().softmax(dim=-1).cpu()
        return {name: table[:, column].numpy() for column, name in enumerate(self.mechanisms)}

    def rationales(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> dict[str, list[list[str]]]:
        """The words of replies that show each mechanism; parameters as of :meth:`levels`.

        :returns: by mechanism, for each reply parts of it; none where its most probable level is 0.
        """
        pairs = [read_of(pair) for pair in pairs_of(contexts, replies)]
        found: dict[str, list[list[str]]] = {name: [[] for _ in pairs] for name in self.mechanisms}
        for places, judged in self._batches(pairs):
            for place, words in zip(places, self.quoted([pairs[place] for place in places], judged), strict=True):
                for name in self.mechanisms:
                    found[name][place] = words[name]
        return found

    def score_pairs(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """How much empathy replies show: the expected level, added up over the mechanisms.

        :returns: ``(n,)``, 0 to twice the number of mechanisms.
        """
        expected = [table @ np.arange(LEVELS) for table in self.levels(contexts, replies).values()]
        total: NDArray[np.float64] = np.sum(expected, axis=0)
        return total

    def class_probabilities(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """How probable each level is, ``(n, 3)``, for a judge of a single mechanism.

        :raises OptionError: if it judges several.
        """
        if len(self.mechanisms) > 1:
            raise OptionError(
                f"this judge has levels of {', '.join(self.mechanisms)}: ask it for levels(), which names the mechanism"
            )
        return self.levels(contexts, replies)[self.mechanisms[0]]

    def _batches(self, pairs: Sequence[TextPair]) -> Iterator[tuple[list[int], Judged]]:
        """Judge any number of pairs: their places, and what the model says of those."""
        # Replies of like length go together, so that little of a batch is padding; the same ones, to be read once.
        order = sorted(range(len(pairs)), key=lambda place: (len(pairs[place].reply), pairs[place].reply))
        starts = range(0, len(order), _READ_BATCH)
        self.model.eval()
        with torch.no_grad():
            for start in tqdm(starts, desc="scoring", disable=len(starts) < _WORTH_A_BAR):
                places = order[start : start + _READ_BATCH]
                yield places, self.judge([pairs[place] for place in places])

    def quoted(self, pairs: Sequence[TextPair], judged: Judged) -> list[dict[str, list[str]]]:
        """For each pair by mechanism the words that show it."""
        chosen, marks = judged.levels.argmax(dim=-1).tolist(), judged.rationales.argmax(dim=-1).tolist()
        return [
            {
                name: [pair.reply[start:end] for start, end in tokens.spans(row[: len(tokens.ids)])] if level else []
                for name, level, row in zip(self.mechanisms, levels, rows, strict=True)
            }
            for pair, tokens, levels, rows in zip(pairs, judged.responses, chosen, marks, strict=True)
        ]


def read_of(pair: TextPair) -> TextPair:
    """What is read of a pair: of the turns before a reply the last one."""
    return TextPair(pair.turns[-1:], pair.reply)


def _numbered(texts: Sequence[str]) -> dict[str, int]:
    """The different texts, in order, each with its number."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}
