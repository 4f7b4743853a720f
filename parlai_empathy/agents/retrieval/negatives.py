"""Hard negatives: wrong replies that a model scores highly, which make each comparison more informative.

They are mined once, at the start of training, from all training replies, and saved beside the model: a resumed training
uses the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import parlai.utils.logging as logging
import torch
import torch.distributed as dist
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.utils.distributed import is_distributed, is_primary_worker, num_workers
from torch import Tensor
from tqdm import tqdm

from parlai_empathy.agents.retrieval.replies import source_of, task_options
from parlai_empathy.errors import ModelFileError
from parlai_empathy.files.whole_file import whole_file
from parlai_empathy.task_kit.training_fold import training_teachers

if TYPE_CHECKING:
    from parlai_empathy.agents.retrieval.ranker import PoolRanker

# The highest-ranked replies are often as good as the true one, and would be false negatives (Qu et al. 2021, section
# 3.2, "de-noised"); those far down are no more informative than random ones.
FIRST, LAST = 10, 60
_BATCH = 128  # contexts encoded per batch
_LINES = 4  # last lines of a context that identify it


@dataclass(frozen=True)
class HardNegatives:
    """The candidates for each training example's hard negatives.

    :param replies: all replies of the training data.
    :param places: indices into ``replies``, by context and true reply, of replies that are not true.
    :param source: what determines both: the training's task and its options.
    :param model: fingerprint of the model that ranked the replies, and of how it reads them.
    """

    replies: list[str]
    places: dict[str, list[int]]
    source: str = ""
    model: str = ""

    @classmethod
    def load_or_mine(cls, agent: PoolRanker, opt: Opt, is_resumed: bool) -> HardNegatives:
        """Load the file beside a model; if there is none for this training, mine hard negatives and save them.

        :param agent: ranks the replies.
        :param opt: the training's options, with the task and the model file.
        :param is_resumed: whether the agent has been trained since the file was written.
        """
        path = f"{opt['model_file']}.negatives" if opt.get("model_file") else None
        if path and Path(path).is_file():
            found = cls.load(path)
            if found.source == _source(opt) and (is_resumed or found.model == agent.pool_fingerprint()):
                return found
            logging.info(f"{path} is from another training: hard negatives are mined again")
        found = mine(agent, opt)
        if path and is_primary_worker():
            found.save(path)
        return found

    @classmethod
    def load(cls, path: str) -> HardNegatives:
        """Load a file without executing anything in it. Raise :class:`ModelFileError` if it is damaged."""
        try:
            return cls(**torch.load(path, weights_only=True))
        except Exception as error:  # torch raises a different error for each kind of damage
            raise ModelFileError(
                f"{path} is not a readable file of hard negatives: delete it to have them mined again"
            ) from error

    def save(self, path: str) -> None:
        """Write the file atomically."""
        with whole_file(Path(path)) as unfinished:
            torch.save(asdict(self), unfinished)

    def draw(self, observations: Sequence[Message], count: int, draw: random.Random) -> list[list[str]]:
        """Draw ``count`` wrong replies per observation, excluding all true replies: the batch shares its negatives.

        With several processes these are the true replies of all of them, which must call this together.

        An example that was not seen when they were mined gets none.
        """
        true = set(_everyones([label for obs in observations for label in obs["labels"]]))
        found = []
        for obs in observations:
            wrong = [self.replies[place] for place in self.places.get(_key(obs), ())]
            wrong = [text for text in wrong if text not in true]
            found.append(draw.sample(wrong, min(count, len(wrong))))
        return found


def _everyones(texts: list[str]) -> list[str]:
    """Return the texts of all processes."""
    if not is_distributed():
        return texts
    parts: list[Any] = [None] * num_workers()
    dist.all_gather_object(parts, texts)
    return [text for part in parts for text in part]


def mine(agent: PoolRanker, opt: Opt) -> HardNegatives:
    """Rank all replies of the training task for each of its contexts."""
    logging.info("mining hard negatives")
    batches = list(_batches(agent, opt))
    replies = list(dict.fromkeys(label for batch in batches for obs in batch for label in obs["labels"]))
    place_of = {text: place for place, text in enumerate(replies)}
    encodings = agent.encode_texts([replies])[0]
    places: dict[str, list[int]] = {}
    with torch.no_grad():
        for batch in tqdm(batches, desc="ranking replies"):
            scores = agent.encode_contexts(agent.batch_of(batch)) @ encodings.T  # (batch, replies)
            for obs, row in zip(batch, _best(scores), strict=True):
                true = {place_of[label] for label in obs["labels"]}
                places[_key(obs)] = [place for place in row if place not in true]
    return HardNegatives(replies, places, _source(opt), agent.pool_fingerprint())


def _source(opt: Opt) -> str:
    return source_of([opt["task"]], opt, task_options(opt["task"], opt))


def _best(scores: Tensor) -> list[list[int]]:
    """Return the indices of ranks ``FIRST`` to ``LAST``; of fewer than ``LAST`` replies, all ranks."""
    ranked = scores.topk(min(LAST, scores.size(1)), dim=1).indices
    rows: list[list[int]] = (ranked[:, FIRST:] if ranked.size(1) == LAST else ranked).tolist()
    return rows


def _batches(agent: PoolRanker, opt: Opt) -> Iterator[list[Message]]:
    """Yield batches of the training examples as the agent observes them, each with its whole context."""
    observer: Any = agent.clone()
    batch: list[Message] = []
    for teacher in training_teachers(opt["task"], opt):
        while not teacher.epoch_done():
            obs = observer.observe(teacher.act())
            observer.self_observe(Message({"id": agent.id, "text": "", "episode_done": False}))
            if not obs.is_padding() and obs.get("labels"):
                batch.append(obs)
            if len(batch) == _BATCH:
                yield batch
                batch = []
    if batch:
        yield batch


def _key(obs: Message) -> str:
    """Return an example's key: the last lines of its context, and its true reply, the first if there are several."""
    lines = [line.strip() for line in obs["full_text"].split("\n") if line.strip()]
    return "\n".join([*lines[-_LINES:], "", obs["labels"][0]])
