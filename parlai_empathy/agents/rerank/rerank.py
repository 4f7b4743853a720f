"""``-m empathy:rerank``: a cross-encoder reranks the best replies of a bi-encoder."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Output, TorchAgent
from parlai.utils.distributed import num_workers
from parlai.utils.misc import warn_once
from torch import Tensor
from torch.nn import functional as F

from parlai_empathy.agent_kit.judging.examples import TextPair, labels_of, pairs_of
from parlai_empathy.agent_kit.judging.model import Texts
from parlai_empathy.agent_kit.options.common import check_at_least
from parlai_empathy.agent_kit.options.presets import refine_defaults
from parlai_empathy.agent_kit.trained.frozen import FrozenPart
from parlai_empathy.agent_kit.training.draws import random_of_step
from parlai_empathy.agents.rerank.blocks import BlockPrecisions
from parlai_empathy.agents.rerank.example_count import evaluated
from parlai_empathy.agents.rerank.training_candidates import block_of, hard_candidates
from parlai_empathy.agents.retrieval.conversation import Conversation, Remembering, without_repeats
from parlai_empathy.agents.retrieval.replies import pool_tasks, training_replies
from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent
from parlai_empathy.agents.text_classifier.text_classifier import TextClassifierAgent
from parlai_empathy.errors import OptionError
from parlai_empathy.metrics.avg_bleu import AvgBleu, bleu_statistics
from parlai_empathy.metrics.example_order import example_order
from parlai_empathy.metrics.precision_at_k import BLOCK, ranked_precisions

_DEFAULTS: dict[str, Any] = {
    "validation_metric": "mrr",  # over the whole ranking, as for empathy:retrieval
    "negatives": 7,  # each costs one more forward pass; when 10 are reranked, the best of them matter
    "num_epochs": 2.0,
    "use_reply": "label",  # the agent's own replies are part of the conversation
}
_PAIRS = 256  # scored by the retriever at once
_SHOWN = 100  # number of a pool's replies in the ranking; a block has no more


def _check_retriever(kind: Any, opt: Opt) -> None:
    """Raise :class:`OptionError` for models that are no retriever."""
    if not (isinstance(kind, type) and issubclass(kind, RetrievalAgent)):
        raise OptionError(f"{opt['model']} is not a retriever")


RETRIEVER = FrozenPart(option="retriever", wanted="a trained model of empathy:retrieval", check=_check_retriever)


class RerankAgent(Remembering, TextClassifierAgent):
    """Reranks the replies that a retriever finds: a cross-encoder's score is added to the retriever's.

    So it starts as good as the retriever, and learns to correct its errors.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group("Rerank (empathy:rerank)")
        group.add_argument(
            "--retriever",
            default=None,
            help="Model file of a trained empathy:retrieval. The new model keeps a copy of it.",
        )
        group.add_argument(
            "--rerank-top", type=int, default=10, help="How many of the retriever's best replies to rerank."
        )
        group.add_argument(
            "--pool", default=None, help="Pool to answer from, such as ed+dd+reddit; by default the retriever's."
        )
        group.add_argument(
            "--eval-candidates",
            choices=["inline", "fixed"],
            default="inline",
            help="What to answer from if a message has candidates: these (inline), or the pool all the same (fixed).",
        )
        refine_defaults(parser, _DEFAULTS)
        return parser

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        check_at_least(opt, 2, "rerank_top")
        self.retriever: RetrievalAgent = shared["retriever"] if shared else self._load_retriever(opt)
        opt["classes_known"] = True  # it ranks replies, whatever candidates the task has
        self._training_replies: list[str] | None = None
        self._blocks: BlockPrecisions[_Example] | None = None
        self._trained = False
        super().__init__(opt, shared)
        if self.classes:
            raise OptionError(
                f"--classes {' '.join(self.classes)}: empathy:rerank ranks replies, not classes; leave it out"
            )
        if self.opt["loss"] != "ce":
            raise OptionError(f"--loss {self.opt['loss']}: empathy:rerank supports only ce")

    @staticmethod
    def _load_retriever(opt: Opt) -> Any:
        retriever = RETRIEVER.load(opt)
        if opt.get("pool"):
            pool_tasks(opt["pool"])  # an error now, not at the first reply
            retriever.opt["pool"] = opt["pool"]
        return retriever

    def share(self) -> dict[str, Any]:
        """Also share the retriever."""
        return {**super().share(), "retriever": self.retriever}

    # --- training ----------------------------------------------------------------------------------------------------

    def train_step(self, batch: Any) -> Output:
        """Run one training step."""
        self._trained = True
        return super().train_step(batch)

    def _losses(self, observations: Sequence[Message]) -> Tensor:
        """Return each example's loss, ``(n,)``: the true reply against the retriever's best wrong ones of a block."""
        draw = random_of_step(self.opt, self._number_training_updates)
        true = [draw.choice(labels_of(obs)) for obs in observations]
        block = block_of(true, self._replies(), draw)
        scores = self._scores([obs["lines"] for obs in observations], block)
        is_true = torch.tensor([[text in labels_of(obs) for text in block] for obs in observations])
        count = min(self.opt["negatives"], int((~is_true).sum(dim=1).min()))
        if not count:
            raise OptionError("all replies of a batch are the same: there are no wrong ones to learn from")
        true_places = torch.tensor([block.index(text) for text in true])
        places = hard_candidates(scores, is_true.to(scores.device), true_places.to(scores.device), count)
        pairs = [
            TextPair(tuple(obs["lines"]), block[place])
            for obs, row in zip(observations, places.tolist(), strict=True)
            for place in row
        ]
        logits = self.logits(pairs)[:, 0].view(places.shape) + scores.gather(1, places)
        return F.cross_entropy(logits, torch.zeros_like(places[:, 0]), reduction="none")

    def _scores(self, contexts: Sequence[Sequence[str]], replies: list[str]) -> Tensor:
        """Return the retriever's scores, ``(contexts, replies)``."""
        return self.retriever.encode_turns(contexts) @ self.retriever.encode_texts([replies])[0].T

    def _replies(self) -> list[str]:
        """Return the distinct replies of the training data."""
        if self._training_replies is None:
            self._training_replies = list(dict.fromkeys(training_replies(self.opt, self.opt["task"])))
        return self._training_replies

    # --- ranking -----------------------------------------------------------------------------------------------------

    def _is_judged(self, obs: Message) -> bool:
        """Return False: messages are always answered with a reply, also in a chat."""
        return False

    @classmethod
    def history_class(cls) -> type[_Texts]:
        """Return a history of texts that knows everything said."""
        return _Texts

    def is_valid(self, obs: Message) -> bool:
        """Whether the message needs an answer; one with empty text does, too."""
        return not obs.is_padding() and "lines" in obs

    def self_observe(self, self_message: Message) -> None:
        """Add the agent's own reply to the conversation."""
        TorchAgent.self_observe(self, self_message)

    def _rank(self, observations: Sequence[Message]) -> Output:
        """Rank each message's candidates, or the pool if it has none or with ``--eval-candidates fixed``."""
        contexts = self.retriever.encode_turns([obs["lines"] for obs in observations])
        lists = [list(obs.get("label_candidates") or ()) for obs in observations]
        if all(lists) and self.opt.get("eval_candidates") != "fixed":
            ranked = self._ordered(contexts, self.retriever.encode_texts(lists), observations, lists)
            self._record_ranks(observations, ranked)
        else:
            ranked = self._from_pool(contexts, observations)
        if all(map(labels_of, observations)):
            self._record_blocks(observations, contexts)
            self._record_avg_bleu(observations, contexts)
        # A single candidate is no choice, and must not count as a correct one.
        shown = [
            None if len(replies) == 1 and labels_of(obs) else replies
            for obs, replies in zip(observations, ranked, strict=True)
        ]
        return Output([replies[0] if replies else None for replies in shown], text_candidates=shown)

    def _ordered(
        self, contexts: Tensor, encodings: Tensor, messages: Sequence[Mapping[str, Any]], lists: Sequence[Sequence[str]]
    ) -> list[list[str]]:
        """Return each message's replies, best first."""
        orders = self._places(contexts, encodings, messages, lists)
        return [[texts[place] for place in order] for texts, order in zip(lists, orders, strict=True)]

    def _places(
        self, contexts: Tensor, encodings: Tensor, messages: Sequence[Mapping[str, Any]], lists: Sequence[Sequence[str]]
    ) -> list[list[int]]:
        """Return the indices of each message's replies: the reranked ones first, then the retriever's next best.

        Of many replies that all messages share, only the best are returned.

        :param contexts: ``(n, dim)``
        :param encodings: ``(n, longest list, dim)``, padded with zero rows; or ``(replies, dim)``, shared by all.
        :param messages: messages with the context's turns in ``lines``.
        :param lists: each message's replies.
        """
        if encodings.dim() == 3:
            scores = torch.einsum("nd,nmd->nm", contexts, encodings)
            scores = scores.masked_fill((encodings == 0).all(dim=-1), -math.inf)
            scores, best = scores.sort(dim=1, descending=True, stable=True)
        else:
            most = min(len(encodings), max(_SHOWN, self.opt["rerank_top"]))
            scores, best = (contexts @ encodings.T).topk(most, dim=1)
        found = [
            [place for place in row if place < len(texts)] for row, texts in zip(best.tolist(), lists, strict=True)
        ]
        return self._reordered(found, scores.cpu(), messages, lists)

    def _reordered(
        self,
        found: Sequence[list[int]],
        scores: Tensor,
        messages: Sequence[Mapping[str, Any]],
        lists: Sequence[Sequence[str]],
    ) -> list[list[int]]:
        """Sort the first ``--rerank-top`` of each row by the sum of both scores.

        :param scores: the retriever's scores of each row's replies, ``(n, longest row or more)``.
        """
        top = self.opt["rerank_top"]
        pairs = [
            TextPair(tuple(message["lines"]), texts[place])
            for row, message, texts in zip(found, messages, lists, strict=True)
            for place in row[:top]
        ]
        parts = torch.split(self._read(pairs)[:, 0], [len(row[:top]) for row in found])
        sums = [part + row[: len(part)] for part, row in zip(parts, scores, strict=True)]
        orders = [part.argsort(descending=True, stable=True).tolist() for part in sums]
        return [[row[place] for place in order] + row[top:] for row, order in zip(found, orders, strict=True)]

    def score_pairs(self, contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> NDArray[np.float64]:
        """Score replies in their contexts by the sum of both scores, which also determines the ranking.

        :param contexts: the turns before each reply, oldest first.
        :returns: ``(n,)``, 0..1.
        """
        found = [torch.zeros(0)]
        for start in range(0, len(replies), _PAIRS):
            chosen = slice(start, start + _PAIRS)
            encodings = self.retriever.encode_texts([list(replies[chosen])])[0]
            found.append((self.retriever.encode_turns(contexts[chosen]) * encodings).sum(dim=1).cpu())
        sums = self._read(pairs_of(contexts, replies)) + torch.cat(found).unsqueeze(1)
        scores: NDArray[np.float64] = self.scores(sums.double()).numpy()
        return scores

    def _from_pool(self, contexts: Tensor, observations: Sequence[Message]) -> list[list[str]]:
        pool = self.retriever.pool()
        ranked = self._ordered(contexts, pool.encodings, observations, [pool.texts] * len(observations))
        if not self.opt.get("interactive_mode"):
            return ranked
        return without_repeats(ranked, observations)

    # --- metrics ------------------------------------------------------------------------------------------------------

    @property
    def _score_name(self) -> str:
        return f"rerank-{self.opt['rerank_top']}"

    def _record_ranks(self, observations: Sequence[Message], ranked: Sequence[list[str]]) -> None:
        true = [
            [place for place, text in enumerate(texts, start=1) if text in labels_of(obs)]
            for obs, texts in zip(observations, ranked, strict=True)
        ]
        if not all(true):
            warn_once("some candidates lack the true reply: their batches have no rank")
            return
        if any(len(texts) == 1 for texts in ranked):
            warn_once("some examples have a single candidate, which is no choice: their batches have no rank")
            return
        ranks = torch.tensor([places[0] for places in true])
        self.record_local_metric("rank", AverageMetric.many(ranks.tolist()))
        self.record_local_metric("mrr", AverageMetric.many((1 / ranks).tolist()))
        if all(len(texts) == BLOCK for texts in ranked):
            source = observations[0].get("candidates_source", "task")
            split = observations[0].get("fold")
            for name, values in ranked_precisions(ranks, "inline", self._score_name, source, split).items():
                self.record_local_metric(name, values)

    def _record_blocks(self, observations: Sequence[Message], contexts: Tensor) -> None:
        if num_workers() > 1:
            warn_once("P@k,100 shuffled and ordered of empathy:rerank need all examples in one process")
            return
        if self._blocks is None:
            first = observations[0]
            self._blocks = BlockPrecisions(
                evaluated(self.opt, first),
                self._block_ranks,
                self._score_name,
                first.get("fold"),
                example_order(self.opt, observations),
            )
        for obs, context in zip(observations, contexts, strict=True):
            for name, metric in self._blocks.add(_Example(obs["lines"], labels_of(obs)[0], context)):
                self.global_metrics.add(name, metric)

    def _block_ranks(self, block: list[_Example]) -> Tensor:
        """Return the rank of each example's reply among the block's."""
        contexts = torch.stack([example.context for example in block])
        replies = [example.reply for example in block]
        encodings = self.retriever.encode_texts([replies])[0]
        messages = [{"lines": example.lines} for example in block]
        orders = self._places(contexts, encodings, messages, [replies] * len(block))
        return torch.tensor([order.index(true) + 1 for true, order in enumerate(orders)])

    def _record_avg_bleu(self, observations: Sequence[Message], contexts: Tensor) -> None:
        # Only for final weights, not at each validation during training.
        if self._trained or not (pool := self.retriever.pool_for_bleu()):
            return
        tokenise = self.dict.tokenizer_fun
        metrics = [
            AvgBleu(
                bleu_statistics(tokenise(texts[0]), tokenise(labels_of(obs)[0])),
                self.dict.tokenizer,
                1,
                pool.name,
                obs.get("fold"),
                decoding=self._score_name,
            )
            for texts, obs in zip(self._from_pool(contexts, observations), observations, strict=True)
        ]
        self.record_local_metric("avg_bleu", metrics)

    def reset_metrics(self) -> None:
        """Reset ParlAI's metrics and the examples seen."""
        super().reset_metrics()
        self._blocks = None


class _Texts(Conversation, Texts):
    """Texts, and everything said."""


@dataclass(frozen=True)
class _Example:
    """An example in an incomplete block."""

    lines: Sequence[str]
    reply: str
    context: Tensor
