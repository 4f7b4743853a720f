"""The teacher of Reddit. Training data are streamed, because a dump may be far larger than memory.

Each example is an episode of its own: its text contains the turns before the label, one per line.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher
from parlai.utils.data import DatatypeHelper
from parlai.utils.distributed import get_rank, num_workers

from parlai_empathy.errors import DataError
from parlai_empathy.task_kit.candidates import sample_candidates
from parlai_empathy.tasks.reddit import folds, options
from parlai_empathy.tasks.reddit.build import build
from parlai_empathy.tasks.reddit.counts import stored_count
from parlai_empathy.tasks.reddit.reader import Pair, read_reddit
from parlai_empathy.tasks.reddit.shuffling import shuffled
from parlai_empathy.tasks.reddit.tally import Tally


class RedditTeacher(DialogTeacher):
    """A comment, given the comment or submission that it answers and the turns before.

    The training fold is streamed, with or without ``train:stream``, and each of several processes reads other threads.
    Valid and test are the first ``--reddit-eval-size`` pairs of their folds, with 100 candidates each: the true reply
    and 99 others from these pairs, the same in every run.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the options of the task."""
        super().add_cmdline_args(parser, partial_opt)
        options.add(parser)
        return parser

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        opt = copy.deepcopy(opt)
        datatype = DatatypeHelper.strip_stream(opt["datatype"])
        self.fold: str = DatatypeHelper.fold(datatype)
        self._limits = options.limits(opt)
        self._buffer = options.number(opt, "buffer") if DatatypeHelper.should_shuffle(datatype) else 0
        self._eval_size = options.number(opt, "eval_size")
        self._shares = _shares(opt) if DatatypeHelper.should_cycle(datatype) else (0, 1)
        self._files: list[Path] = shared["files"] if shared else build(opt)
        # Shared by the root teacher and its copies, one for each position in a batch.
        self._known: dict[str, int] = shared["known"] if shared else {"passes": 0}
        opt["datatype"] = datatype + (":stream" if self.fold == "train" else "")
        opt["datafile"] = self._described()
        super().__init__(opt, shared)

    def share(self) -> dict[str, Any]:
        """Return what this teacher shares with its copies."""
        shared: dict[str, Any] = super().share()
        return {**shared, "files": self._files, "known": self._known}

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        """Yield one message per example, each the start of a new episode: in training, for one pass over the dumps."""
        tally = Tally()
        pairs = self._pairs(tally)
        examples = self._training(pairs) if self.fold == "train" else self._evaluation(pairs)
        for example in examples:
            yield Message({**example, "fold": self.fold}), True
        if self._known["passes"] <= 1:  # later passes have the same counts
            tally.report(f"{datafile}, {self.fold}")
        if not tally.pairs:
            raise DataError(f"{datafile}: no pair is left for {self.fold} ({tally}): give more or other dumps")

    def _pairs(self, tally: Tally) -> Iterator[Pair]:
        return read_reddit(self._files, self._limits, folds.thread_filter(self.fold, *self._shares), tally)

    def _training(self, pairs: Iterator[Pair]) -> Iterator[dict[str, Any]]:
        self._known["passes"] += 1
        if self._buffer:
            seed = self.opt.get("seed")
            draw = random.Random(None if seed is None else f"{seed} {self._known['passes']} {self._shares}")
            pairs = shuffled(pairs, self._buffer, draw)
        return map(_example, pairs)

    def _evaluation(self, pairs: Iterator[Pair]) -> Iterator[dict[str, Any]]:
        first = list(islice(pairs, self._eval_size))
        replies = list(dict.fromkeys(pair.reply for pair in first))
        for pair in first:
            candidates = sample_candidates(pair.reply, replies, f"{pair.thread} {pair.comment}")
            yield {**_example(pair), "candidates_source": "sampled", "label_candidates": candidates}

    def num_examples(self) -> int:
        """Return the number of pairs in the fold; for training that of all processes, or ``--reddit-epoch-size``."""
        if self.fold != "train":
            return int(super().num_examples())
        if "count" not in self._known:
            self._known["count"] = options.number(self.opt, "epoch_size") or self._count()
        return self._known["count"]

    def num_episodes(self) -> int:
        """Return the number of examples, since each is an episode."""
        return self.num_examples()

    def _count(self) -> int:
        settings = {**asdict(self._limits), "fold": self.fold, "folds": [folds.SEED, folds.TEST, folds.VALID]}
        del settings["history"]  # the number does not depend on it
        return stored_count(Path(self.opt["datapath"]) / "reddit_counts", self._files, settings, self._pass)

    def _pass(self) -> tuple[int, bool]:
        tally = Tally()
        for _ in read_reddit(self._files, self._limits, folds.thread_filter(self.fold), tally):
            pass
        tally.report(f"{self._described()}, {self.fold}")
        return tally.pairs, not tally.broken

    def _described(self) -> str:
        first, *others = map(str, self._files)
        return f"{first} and {len(others)} more" if others else first


class DefaultTeacher(RedditTeacher):
    """The default of ``-t empathy:reddit``: every pair that passes the filters."""


def _shares(opt: Opt) -> tuple[int, int]:
    """Return the index of this process's share of the threads, and the number of shares, ParlAI's workers included."""
    helpers = max(1, opt.get("num_workers") or 0)
    return get_rank() * helpers + (opt.get("background_index") or 0), num_workers() * helpers


def _example(pair: Pair) -> dict[str, Any]:
    return {
        "text": "\n".join(pair.context),
        "labels": [pair.reply],
        "conv_id": pair.thread,
        "turn": pair.turn,
        "subreddit": pair.subreddit,
        "comment_id": pair.comment,
    }
