"""A ranker that answers from a pool and reports the metrics of the EmpatheticDialogues paper."""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch, Output
from parlai.core.torch_ranker_agent import TorchRankerAgent
from parlai.utils.distributed import get_rank, is_primary_worker, num_workers
from parlai.utils.misc import warn_once
from parlai.utils.torch import padded_tensor
from torch import Tensor, nn

from parlai_empathy.agents.retrieval.conversation import Remembering, without_repeats
from parlai_empathy.agents.retrieval.pool import Pool, load_or_build, load_pool, try_save
from parlai_empathy.agents.retrieval.pool_search import best_replies, index_for
from parlai_empathy.agents.retrieval.replies import (
    file_fingerprint,
    pool_options,
    pool_tasks,
    read_replies,
    source_of,
    task_options,
    training_replies,
)
from parlai_empathy.agents.retrieval.vector_index import VectorIndex
from parlai_empathy.errors import EmpathyError, OptionError
from parlai_empathy.metrics.avg_bleu import AvgBleu, bleu_statistics
from parlai_empathy.metrics.example_order import example_order
from parlai_empathy.metrics.precision_at_k import (
    BLOCK,
    EncodedExamples,
    block_precisions,
    ranked_precisions,
    true_ranks,
)
from parlai_empathy.modules.fingerprint import weights_fingerprint
from parlai_empathy.modules.speed.sorted_batches import sorted_batches

# Model options that affect how replies are encoded.
_READING = ("score", "temperature", "pooling", "special_tokens", "label_truncate")
_ENCODE_BATCH = 256  # replies encoded per batch
_WITHOUT_REPLIES = (None, "", "interactive", "self_chat")  # values of --task without replies, as in a chat


class PoolRanker(Remembering, TorchRankerAgent):
    """Base of agents that encode contexts and replies separately: candidates, metrics and a pool.

    Subclasses define how contexts and replies are encoded and scored. Evaluation reports P@1,100 under three protocols
    and, once the weights are final, AVG BLEU. The pool is the task's training replies, or the lines of
    ``--fixed-candidates-path``; it is saved beside the model when training ends.
    """

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        if not shared and opt.get("pool"):
            pool_tasks(opt["pool"])  # an unknown name is an error at once, not a pool that is not there
        # A saved model records its training task and where its data are: an evaluation or a chat has another task,
        # whose replies must not enter the pool.
        if "pool_task" not in opt:
            opt["pool_task"] = opt.get("task")
            opt["pool_options"] = {} if opt["pool_task"] in _WITHOUT_REPLIES else task_options(opt["pool_task"], opt)
        self._pool: Pool | None = shared["pool"] if shared else None
        # The pool's index or None, and the pool that it belongs to.
        self._index: tuple[VectorIndex | None, Pool] | None = shared["index"] if shared else None
        self._no_pool = False  # whether building one has failed
        self._encoded: dict[str, Tensor] = {}  # cache of encoded replies, for evaluation
        self._seen = 0  # evaluation examples so far, to determine their positions in the fold
        self._trained = False  # whether weights have changed since they were loaded
        super().__init__(opt, shared)

    @property
    @abstractmethod
    def bare_model(self) -> nn.Module:
        """The model without its ``DistributedDataParallel`` wrapper."""

    @abstractmethod
    def encode_contexts(self, batch: Batch) -> Tensor:
        """Encode the contexts, ``(batch, dim)``."""

    @abstractmethod
    def encode_candidates(self, padded_cands: Tensor) -> Tensor:
        """Encode replies: token ids ``(n, length)`` to ``(n, dim)``."""

    def encode_true_replies(self, batch: Batch) -> Tensor:
        """Encode the true replies, ``(batch, dim)``."""
        return self.encode_candidates(batch.label_vec)

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension of the encodings."""

    @property
    def trains_on_messages(self) -> bool:
        """Whether training steps read a batch's messages, not only its tokens."""
        return False

    def update_params(self) -> None:
        """Take an optimiser step, and discard encodings computed with the old weights."""
        super().update_params()
        self._trained = True
        self._pool = None
        self._encoded.clear()

    # --- candidates --------------------------------------------------------------------------------------------------

    def _set_label_cands_vec(self, *args: Any, **kwargs: Any) -> Message:
        """Keep candidates as texts in evaluation: they recur often, and each is encoded only once."""
        obs: Message = args[0]
        if "labels" in obs:
            return super()._set_label_cands_vec(*args, **kwargs)
        return obs

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """Return ParlAI's batch, with the candidates' texts, their source and the fold."""
        batch = super().batchify(obs_batch, sort)
        valid = [obs for obs in obs_batch if self.is_valid(obs)]
        # A worker of --num-workers would have to send them.
        batch.observations = valid if self.trains_on_messages or not batch.is_training else None
        if valid and not batch.is_training:
            if batch.labels is not None and None in batch.labels:
                warn_once("some examples have no true reply: their batches have no loss, no rank and no AVG BLEU")
                batch.labels = batch.label_vec = None
            lists = [list(obs.get("label_candidates") or []) for obs in valid]
            batch.candidates = lists if all(lists) else None
            sources = {obs.get("candidates_source", "task") for obs in valid}
            batch.candidates_source = sources.pop() if len(sources) == 1 else "mixed"
            batch.split = valid[0].get("fold") or self.opt["datatype"].split(":")[0]
        return batch

    def batch_of(self, observations: list[Message]) -> Batch:
        """Return a batch on the model's device: ParlAI moves only batches that it makes itself."""
        return self.batchify(observations).to(self.device)

    @property
    def device(self) -> torch.device:
        """The model's device."""
        device: torch.device = next(self.bare_model.parameters()).device
        return device

    def _build_candidates(self, batch: Batch, source: str, mode: str) -> tuple[Any, Tensor | None, Tensor | None]:
        """Return ParlAI's candidates; in evaluation, inline ones are encoded and need not include the label."""
        if mode == "train" or source not in ("inline", "fixed"):
            return super()._build_candidates(batch, source, mode)  # type: ignore[no-any-return]
        if source == "fixed":
            self.set_fixed_candidates(None)  # training changes their encodings
            return self.fixed_candidates, self.fixed_candidate_vecs, self._fixed_label_index(batch)
        if batch.candidates is None:
            return self._without_inline(batch, mode)
        encodings = self.encode_texts(batch.candidates)
        true = self._inline_label_index(batch)
        if true is not None and all(len(texts) == BLOCK for texts in batch.candidates):
            ranks = true_ranks(self.score_candidates(batch, encodings), true)
            metrics = ranked_precisions(ranks, "inline", self.opt["score"], batch.candidates_source, batch.split)
            for name, values in metrics.items():
                self.record_local_metric(name, values)
        return batch.candidates, encodings, true

    def _without_inline(self, batch: Batch, mode: str) -> tuple[Any, Tensor | None, Tensor | None]:
        if batch.label_vec is None:
            source = "--interactive-candidates" if self.opt.get("interactive_mode") else "--eval-candidates"
            raise OptionError(f"the task gives neither candidates nor labels to rank: use {source} fixed")
        warn_once(
            "the task gives no candidates: replies are ranked against those of the same batch, "
            "so hits@1 and loss depend on --batchsize"
        )
        return super()._build_candidates(batch, "batch", mode)  # type: ignore[no-any-return]

    def encode_texts(self, candidates: list[list[str]]) -> Tensor:
        """Encode lists of replies to ``(lists, longest list, dim)``, padded with zeros; each text is encoded once."""
        new = list(dict.fromkeys(text for texts in candidates for text in texts if text not in self._encoded))
        if new:
            self._encoded.update(zip(new, self._encode_replies(new), strict=True))
        rows = [torch.stack([self._encoded[text] for text in texts]) for texts in candidates]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def _inline_label_index(self, batch: Batch) -> Tensor | None:
        """Return each label's index among its candidates, ``(batch,)``; None without labels, or if one is missing."""
        if batch.labels is None:
            return None
        if not all(label in texts for texts, label in zip(batch.candidates, batch.labels, strict=True)):
            warn_once("some candidates lack the true reply: their batches have no loss and no rank")
            return None
        if _without_choice(batch):
            warn_once(
                "some examples have a single candidate, which is no choice: their batches have no loss and no rank"
            )
            return None
        places = [texts.index(label) for texts, label in zip(batch.candidates, batch.labels, strict=True)]
        return torch.tensor(places, device=batch.text_vec.device)

    def _fixed_label_index(self, batch: Batch) -> Tensor | None:
        if batch.labels is None:
            return None
        place_of = self.pool().place_of
        places = [place_of.get(label, -1) for label in batch.labels]
        if min(places) < 0:
            warn_once("the pool lacks some true replies: their batches have no loss and no rank, and hits@1 is low")
            return None
        return torch.tensor(places, device=batch.text_vec.device)

    @abstractmethod
    def reply_tokens(self, text: str) -> Tensor:
        """Return a reply's token ids, ``(length,)``, for :meth:`encode_candidates`."""

    def replies_tokens(self, texts: Sequence[str]) -> list[Tensor]:
        """Return the token ids of replies."""
        return [self.reply_tokens(text) for text in texts]

    def _encode_replies(self, texts: list[str]) -> Tensor:
        """Encode texts, ``(n, dim)``, in batches."""
        vectors = self.replies_tokens(texts)
        encodings = torch.empty(len(texts), self.dim)
        self.model.eval()
        with torch.no_grad():
            for chosen in sorted_batches([len(one) for one in vectors], _ENCODE_BATCH, "encoding replies"):
                tokens, _ = padded_tensor([vectors[i] for i in chosen], pad_idx=self.NULL_IDX)
                encodings[chosen] = self.encode_candidates(tokens.to(self.device)).cpu()
        return encodings.to(self.device)

    # --- evaluation --------------------------------------------------------------------------------------------------

    def eval_step(self, batch: Batch) -> Output | None:
        """Rank the candidates, and record the paper's metrics."""
        if batch.text_vec is None:
            return None
        self.model.eval()
        if batch.label_vec is not None:
            self._record_block_precision(batch)
            self._record_avg_bleu(batch)
        if self.eval_candidates == "fixed" and batch.labels is None:
            return self._answers(batch)
        if self._is_only_candidate(batch):
            warn_once("an example that is alone in its batch has no wrong replies to compare with: it is not ranked")
            return None
        output = super().eval_step(batch)
        for place in _without_choice(batch) if self.eval_candidates == "inline" else ():
            output.text[place] = output.text_candidates[place] = None
        return output

    def _is_only_candidate(self, batch: Batch) -> bool:
        """Whether the true reply is the only candidate, and would always rank first."""
        of_batch = self.eval_candidates == "batch" or (self.eval_candidates == "inline" and batch.candidates is None)
        return of_batch and batch.labels is not None and len(batch.labels) == 1

    def _answers(self, batch: Batch) -> Output:
        """Return the pool's best replies without metrics: ParlAI would score and sort the whole pool."""
        pool, most = self.pool(), self.opt["cap_num_predictions"]
        scores, ranked = best_replies(pool, self._pool_index(), self.encode_contexts(batch), most)
        if self.opt.get("repeat_blocking_heuristic", True):
            ranked = without_repeats(ranked, batch.observations)
        among = self.opt["topk"] if self.opt.get("inference") == "topk" else 1
        chosen = [random.choice(texts[:among]) for texts in ranked]
        return Output(chosen, ranked, sorted_scores=scores.cpu() if self.opt.get("return_cand_scores") else None)

    def _record_block_precision(self, batch: Batch) -> None:
        count = len(batch.text_vec)
        # Each process evaluates every num_workers()-th example: compute their positions in the fold.
        positions = torch.arange(self._seen, self._seen + count) * num_workers() + get_rank()
        self._seen += count
        contexts = self.encode_contexts(batch).cpu()
        replies = self.encode_true_replies(batch).cpu()
        examples = EncodedExamples(positions, contexts, replies, example_order(self.opt, batch.observations))
        for name, metric in block_precisions(examples, self.opt["score"], batch.split).items():
            self.global_metrics.add(name, metric)

    def _record_avg_bleu(self, batch: Batch) -> None:
        """Record AVG BLEU for final weights only, not at validations during training: it encodes the whole pool."""
        if self._trained or not (pool := self.pool_for_bleu()):
            return
        tokenise = self.dict.tokenizer_fun  # for words, the dictionary's tokenizer before lower-casing
        replies = pool.best(self.encode_contexts(batch))
        metrics = [
            AvgBleu(bleu_statistics(tokenise(reply), tokenise(label)), self.dict.tokenizer, 1, pool.name, batch.split)
            for reply, label in zip(replies, batch.labels, strict=True)
        ]
        self.record_local_metric("avg_bleu", metrics)

    def pool_for_bleu(self) -> Pool | None:
        """Return the pool; None, after a warning, if it cannot be built: other metrics do not need it.

        A model that is not in a file has none that was built with it, only what it is told to answer from.
        """
        if self._no_pool:
            return None
        if not (self.opt.get("model_file") or self.opt.get("pool") or self.fixed_candidates_path):
            warn_once("no AVG BLEU, because no pool of replies is named: name one, such as --pool ed")
            return None
        try:
            return self.pool()
        except EmpathyError as error:
            self._no_pool = True
            logging.warning(f"no AVG BLEU, because there is no pool of replies: {error}")
            return None

    def reset_metrics(self) -> None:
        """Reset ParlAI's metrics and the examples seen."""
        super().reset_metrics()
        self._seen = 0

    # --- pool --------------------------------------------------------------------------------------------------------

    def pool(self) -> Pool:
        """Return the replies to choose from, loaded from beside the model, or else built and saved."""
        if self._pool is None:
            path = self._pool_path()
            pool, is_new = load_or_build(path, self.pool_fingerprint(), self._pool_texts, self._encode_replies)
            if is_new and path and is_primary_worker() and try_save(path, pool.save):
                logging.info(f"stored a pool of {len(pool.texts):,} replies in {path}")
                pool = load_pool(path)  # memory-mapped, it takes less memory
            self._pool = replace(pool, encodings=pool.encodings.to(self.device))
        return self._pool

    def pool_fingerprint(self) -> str:
        """Return what determines the pool's texts and encodings: if it changes, a stored pool is outdated."""
        reading = " ".join(str(self.opt.get(name)) for name in _READING)
        return f"{weights_fingerprint(self.bare_model)} {reading} {self._pool_source()}"

    @abstractmethod
    def encode_turns(self, contexts: Sequence[Sequence[str]]) -> Tensor:
        """Encode contexts, each given as its turns, oldest first: ``(n, dim)``."""

    def _pool_index(self) -> VectorIndex | None:
        pool = self.pool()
        if self._index is None or self._index[1] is not pool:
            self._index = index_for(self.opt.get("pool_index", "auto"), pool, self.encode_turns), pool
        return self._index[0]

    def _pool_path(self) -> str | None:
        """Return ``<model>.pool``, or ``<model>.<name>.pool`` for a file or other tasks; None for an unsaved model."""
        own = Path(self.fixed_candidates_path).stem if self.fixed_candidates_path else self.opt.get("pool")
        ending = f"{re.sub('[^A-Za-z0-9+_-]', '_', own)}.pool" if own else "pool"
        return f"{self.opt['model_file']}.{ending}" if self.opt.get("model_file") else None

    def _pool_source(self) -> str:
        """Return what determines the pool's texts."""
        if self.fixed_candidates_path:
            return file_fingerprint(self.fixed_candidates_path)
        if self.opt.get("pool"):
            return source_of(self._pool_tasks(), self.opt, pool_options(self._pool_tasks(), self.opt))
        return source_of(self._pool_tasks(), self.opt, self.opt.get("pool_options") or {})

    def _pool_opt(self) -> Opt:
        """Return the options for reading the pool's tasks: those given with ``--pool``, else the training's."""
        return self.opt if self.opt.get("pool") else Opt({**self.opt, **self.opt.get("pool_options", {})})

    def _pool_tasks(self) -> list[str]:
        if self.opt.get("pool"):
            return pool_tasks(self.opt["pool"])
        if self.opt["pool_task"] in _WITHOUT_REPLIES:
            raise OptionError(
                "nothing to answer from: name a trained model with -mf, or a pool of replies, such as --pool ed"
            )
        return [self.opt["pool_task"]]

    def _pool_texts(self) -> list[str]:
        """Return the lines of ``--fixed-candidates-path``, or the short training replies without unknown words."""
        if self.fixed_candidates_path:
            return read_replies(self.fixed_candidates_path)
        opt = self._pool_opt()
        replies = dict.fromkeys(text for task in self._pool_tasks() for text in training_replies(opt, task))
        return [text for text in replies if self._can_be_reply(text)]

    def _can_be_reply(self, text: str) -> bool:
        tokens = self.dict.txt2vec(text)
        most = self.opt["pool_max_tokens"]
        return bool(tokens) and self.dict[self.dict.unk_token] not in tokens and (most < 0 or len(tokens) <= most)

    def get_task_candidates_path(self) -> None:
        """Do nothing: ParlAI would write a text file of candidates here, which :meth:`pool` replaces."""
        return None

    def set_fixed_candidates(self, shared: dict[str, Any] | None) -> None:
        """Provide the pool to ParlAI's ranking if it ranks fixed candidates (as in a chat)."""
        wanted = "fixed" in (self.candidates, self.eval_candidates)
        pool = self.pool() if wanted else None
        self.fixed_candidates = pool.texts if pool else None
        self.fixed_candidate_encs = pool.encodings if pool else None
        # ParlAI uses only the number of dimensions of the token ids, which is the same for the encodings.
        self.fixed_candidate_vecs = self.fixed_candidate_encs
        self.num_fixed_candidates = len(pool.texts) if pool else 0

    def block_repeats(self, cand_preds: list[list[str]]) -> list[list[str]]:
        """Return the replies as they are: ParlAI calls this in evaluations, where the true reply may repeat a line."""
        return cand_preds

    def share(self) -> dict[str, Any]:
        """Also share the pool and its index with copies of this agent, for batches or self-chat."""
        return {**super().share(), "pool": self._pool, "index": self._index}


def _without_choice(batch: Batch) -> list[int]:
    """Return the indices of the examples whose true reply is their only candidate, and would always rank first."""
    if batch.labels is None or batch.candidates is None:
        return []
    return [place for place, texts in enumerate(batch.candidates) if len(texts) == 1]
