"""Teachers of HUMOD.

Each example is an episode of its own. Its text contains the turns before the label, one per line. If a reply is to be
judged, it is the last line of the text.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.task_kit.in_memory_teacher import InMemoryTeacher
from parlai_empathy.task_kit.is_true import is_true
from parlai_empathy.tasks.humod.build import build
from parlai_empathy.tasks.humod.exchanges import Exchange, alternatives, choices, exchanges, recombine
from parlai_empathy.tasks.humod.options import add_file_options
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import SCALE, Pair
from parlai_empathy.tasks.humod.splits import SPLITS, split_pairs


class HumodTeacher(InMemoryTeacher):
    """Base class: options, file and fold. Subclasses implement :meth:`examples`."""

    title = "HUMOD"
    build = staticmethod(build)

    @classmethod
    def add_options(cls, group: Any) -> None:
        """Add the options of the task, including ``--edition``."""
        add_file_options(group)
        group.add_argument(
            "--humod-split",
            choices=list(SPLITS),
            default="paper",
            help="paper: 1,000 of 9,500 pairs are for test. rated: half of the rated pairs are, for copies "
            "with few ratings.",
        )

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if opt.get("humod_split", "paper") not in SPLITS:  # ParlAI does not check options that follow a colon in -t
            raise OptionError(f"--humod-split {opt['humod_split']}: must be one of {', '.join(SPLITS)}")
        super().__init__(opt, shared)

    def messages(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield the examples of the fold's pairs."""
        pairs = read_pairs(path, is_true("--skip-bad-rows", self.opt))
        return self.examples(split_pairs(pairs, self.opt.get("humod_split", "paper"))[self.fold])

    def examples(self, pairs: list[Pair]) -> Iterator[dict[str, Any]]:
        """Yield the examples of a fold: messages with at least ``text`` and ``labels``."""
        raise NotImplementedError


def read_pairs(path: str | Path, skip_bad_rows: bool = False) -> list[Pair]:
    """Return all pairs of a file. Invalid rows raise an error, or are reported and left out."""
    bad_rows: list[DataError] | None = [] if skip_bad_rows else None
    pairs = list(read_humod(path, bad_rows))
    if bad_rows:
        logging.warning(f"{path}: left out {len(bad_rows)} bad row(s):")
        for error in bad_rows:
            logging.warning(f"  {error}")
    if empty := sum(not text for pair in pairs for text in pair.human_replies):
        logging.info(f"{path}: {empty} human reply(ies) are empty and give no example")
    if not pairs:
        raise DataError(f"{path} holds no pair")
    return pairs


def text_of(turns: tuple[str, ...]) -> str:
    """Return the turns as text, one per line."""
    return "\n".join(turns)


class DefaultTeacher(HumodTeacher):
    """The film's own reply, given the context; ``references`` holds it and the human replies."""

    def examples(self, pairs: list[Pair]) -> Iterator[dict[str, Any]]:
        """Yield one example per original reply."""
        for exchange in exchanges(pairs):
            if exchange.original:
                reply = exchange.original.reply
                yield {
                    "text": text_of(exchange.context),
                    "labels": [reply],
                    "references": list(dict.fromkeys([reply, *exchange.human_replies])),
                    "pair_id": exchange.original.pair_id,
                }


class RelevanceTeacher(HumodTeacher):
    """The relevance of a reply (the text's last line), 1 to 5: the mean of three ratings, rounded."""

    def examples(self, pairs: list[Pair]) -> Iterator[dict[str, Any]]:
        """Yield one example per rated pair, with ``rating_mean`` and each rater's own rating, ``ratings``."""
        human = {pair: exchange.human_replies for exchange in exchanges(pairs) for pair in _pairs_of(exchange)}
        for pair in pairs:
            if pair.mean_rating is not None:
                yield {
                    "text": text_of((*pair.context, pair.reply)),
                    "labels": [str(math.floor(pair.mean_rating + 0.5))],
                    "label_candidates": [str(rating) for rating in SCALE],
                    "rating_mean": pair.mean_rating,
                    "ratings": list(pair.ratings),
                    "human_replies": human[pair],
                    "is_original": pair.is_original,
                    "pair_id": pair.pair_id,
                }


class NextUtteranceTeacher(HumodTeacher):
    """Which of two replies is the film's own? The other one was drawn at random."""

    def examples(self, pairs: list[Pair]) -> Iterator[dict[str, Any]]:
        """Yield one example per context that has both replies; hits@1 is 50 % by chance."""
        for exchange in exchanges(pairs):
            if exchange.original and exchange.random:
                candidates = [exchange.original.reply, exchange.random.reply]
                random.Random(exchange.original.pair_id).shuffle(candidates)
                yield {
                    "text": text_of(exchange.context),
                    "labels": [exchange.original.reply],
                    "label_candidates": candidates,
                    "pair_id": exchange.original.pair_id,
                }


class DiverseRepliesTeacher(HumodTeacher):
    """The replies of six people to a context, all of which are labels."""

    def examples(self, pairs: list[Pair]) -> Iterator[dict[str, Any]]:
        """Yield one example per context. ParlAI trains on a random label each time, and evaluates against the best."""
        for exchange in exchanges(pairs):
            if exchange.human_replies:
                (first, *_) = _pairs_of(exchange)
                yield {
                    "text": text_of(exchange.context),
                    "labels": exchange.human_replies,
                    "pair_id": first.pair_id,
                }


class ExtendedTeacher(HumodTeacher):
    """New dialogues, with turns replaced by people's replies in their place (Merdivan et al. 2020, Figure 4)."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add ``--humod-recombinations``."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group("HUMOD, extended")
        group.add_argument(
            "--humod-recombinations",
            type=int,
            default=10,
            help="Maximum number of dialogues from each context, sampled from all possible ones.",
        )
        return parser

    def examples(self, pairs: list[Pair]) -> Iterator[dict[str, Any]]:
        """Yield one example per new dialogue, whose last turn is the label. Only replies of the same fold are used."""
        limit = self.opt.get("humod_recombinations", 10)
        if type(limit) is not int or limit < 1:
            raise OptionError(f"--humod-recombinations {limit}: must be a whole number, at least 1")
        whole = exchanges(pairs)
        known = alternatives(whole)
        for exchange in whole:
            if exchange.original:
                for turns in recombine(choices(exchange, known), limit, exchange.original.pair_id):
                    yield {
                        "text": text_of(turns[:-1]),
                        "labels": [turns[-1]],
                        "pair_id": exchange.original.pair_id,
                    }


def _pairs_of(exchange: Exchange) -> list[Pair]:
    return [pair for pair in (exchange.original, exchange.random) if pair]
