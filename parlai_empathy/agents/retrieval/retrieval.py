"""``-m empathy:retrieval``: the paper's Transformer bi-encoder (Rashkin et al. 2019, section 4.1) on ParlAI's ranker."""

from __future__ import annotations

from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output
from parlai.core.torch_ranker_agent import TorchRankerAgent
from parlai.utils.distributed import get_rank, is_primary_worker, num_workers
from parlai.utils.misc import warn_once
from parlai.utils.torch import padded_tensor
from torch import Tensor
from tqdm import tqdm

from parlai_empathy.agents.retrieval import options
from parlai_empathy.agents.retrieval.pool import Pool, model_fingerprint, stored_or_new, training_replies
from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError
from parlai_empathy.metrics import precision_at_k
from parlai_empathy.metrics.avg_bleu import AvgBleu, bleu_statistics
from parlai_empathy.metrics.precision_at_k import BlockPrecision, EncodedExamples, InlinePrecision
from parlai_empathy.modules.biencoder import BiEncoder
from parlai_empathy.modules.vectors import copy_vectors

_ENCODE_BATCH = 256  # replies encoded at once


class RetrievalAgent(TorchRankerAgent):
    """Answers with the reply, of a pool, whose vector has the greatest dot product with the context's vector.

    In training each example's negatives are the other replies of the batch. Evaluation reports P@1,100 under three
    protocols and, once the weights are final, AVG BLEU. The pool is the task's training replies; it is stored beside the
    model when training ends.
    """

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options, and the defaults that it recommends for ParlAI's own."""
        super().add_cmdline_args(parser, partial_opt)
        return options.add(parser, partial_opt or {})

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        options.check(opt)
        self._pool: Pool | None = shared["pool"] if shared else None
        self._no_pool = False  # there was no way to build one
        self._encoded: dict[str, Tensor] = {}  # replies that evaluation met before
        self._seen = 0  # evaluation examples so far, for their place in the fold
        self._trained = False  # weights have changed since they were loaded
        super().__init__(opt, shared)

    # --- model -------------------------------------------------------------------------------------------------------

    def build_model(self) -> BiEncoder:
        """The two towers, from ``--seed`` where it is given, with ready-made word vectors where a file is named."""
        opt = self.opt
        if opt.get("seed") is not None:
            torch.manual_seed(opt["seed"])  # ParlAI seeds only after it has built the model
        model = BiEncoder(
            len(self.dict),
            self.NULL_IDX,
            embedding_size=opt["embedding_size"],
            n_layers=opt["n_layers"],
            n_heads=opt["n_heads"],
            ffn_size=opt["ffn_size"],
            dropout=opt["dropout"],
            n_positions=opt["n_positions"],
        )
        if opt.get("vectors_file") and self._should_initialize_optimizer():
            found = copy_vectors(opt["vectors_file"], self.dict.tok2ind, model.embedding.weight)
            logging.info(f"{opt['vectors_file']}: vectors of {found:,} of the {len(self.dict):,} words")
        return model

    @property
    def _bare_model(self) -> BiEncoder:
        """The model without the wrapper of distributed training."""
        return getattr(self.model, "module", self.model)  # type: ignore[no-any-return]

    def load(self, path: str) -> dict[str, Any]:
        """Load weights, with one clear line if the file is broken or made for another model."""
        try:
            return super().load(path)  # type: ignore[no-any-return]
        except FileNotFoundError:
            raise
        except Exception as error:
            reason = str(error).strip().split("\n")[-1].strip()
            raise ModelFileError(f"{path} is not a model that fits its options ({path}.opt): {reason}") from error

    def train_step(self, batch: Batch) -> Output:
        """One step; encodings of the weights before it are forgotten."""
        self._trained = True
        self._pool = None
        self._encoded.clear()
        return super().train_step(batch)

    def score_candidates(self, batch: Batch, cand_vecs: Tensor, cand_encs: Tensor | None = None) -> Tensor:
        """Dot products of contexts and candidates.

        :param cand_vecs: token ids ``(m, length)``, the same candidates for all, or ``(batch, m, length)``, own ones
            for each; or encodings ``(batch, m, dim)``, rows of zeros being padding.
        :param cand_encs: encodings ``(m, dim)`` of the same candidates for all, if they are known.
        :returns: ``(batch, m)``
        """
        if cand_encs is not None:
            return self._contexts(batch) @ cand_encs.T
        if cand_vecs.is_floating_point():
            scores = torch.einsum("bd,bmd->bm", self._contexts(batch), cand_vecs)
            return scores.masked_fill((cand_vecs == 0).all(dim=-1), float("-inf"))
        contexts, replies = self.model(batch.text_vec, self._without_empty(cand_vecs.flatten(0, -2)))
        if cand_vecs.dim() == 2:
            return contexts @ replies.T  # type: ignore[no-any-return]
        return torch.einsum("bd,bmd->bm", contexts, replies.view(*cand_vecs.shape[:2], -1))

    def _contexts(self, batch: Batch) -> Tensor:
        """The contexts' encodings, ``(batch, dim)``, computed once a batch."""
        if "contexts" not in batch:
            batch.contexts = self._bare_model.contexts(batch.text_vec)
        return batch.contexts  # type: ignore[no-any-return]

    def encode_candidates(self, padded_cands: Tensor) -> Tensor:
        """Replies' token ids ``(n, length)`` to encodings ``(n, dim)``."""
        return self._bare_model.replies(self._without_empty(padded_cands))  # type: ignore[no-any-return]

    def _without_empty(self, tokens: Tensor) -> Tensor:
        """Put an unknown word where a text, or a padding row, has no token: the mean of nothing has no value."""
        empty = (tokens == self.NULL_IDX).all(dim=1)
        if empty.any():
            tokens = tokens.clone()
            tokens[empty, 0] = self.dict[self.dict.unk_token]
        return tokens

    # --- text to token ids -------------------------------------------------------------------------------------------

    def vectorize(self, *args: Any, **kwargs: Any) -> Message:
        """As ParlAI does, without start and end tokens: the encoders have no use for them."""
        kwargs.update(add_start=False, add_end=False)
        return super().vectorize(*args, **kwargs)

    def _set_text_vec(self, obs: Message, history: History, truncate: int | None) -> Message:
        """The context's token ids, cut as ``--truncate-context`` says, and never none at all."""
        obs = super()._set_text_vec(obs, history, truncate)
        if self.opt["truncate_context"] == "newest" and obs.get("full_text_vec") is not None:
            obs.force_set("text_vec", torch.LongTensor(obs["full_text_vec"][:truncate]))
        if "text" in obs and (obs.get("text_vec") is None or len(obs["text_vec"]) == 0):
            obs.force_set("text_vec", torch.LongTensor([self.dict[self.dict.unk_token]]))
        return obs

    def _set_label_cands_vec(self, *args: Any, **kwargs: Any) -> Message:
        """In evaluation candidates stay texts: the same ones come again and again, and each is encoded once."""
        obs: Message = args[0]
        if "labels" in obs:
            return super()._set_label_cands_vec(*args, **kwargs)
        return obs

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """ParlAI's batch, with the texts of the candidates and where they and the examples come from."""
        batch = super().batchify(obs_batch, sort)
        valid = [obs for obs in obs_batch if self.is_valid(obs)]
        if valid and not batch.is_training:
            lists = [list(obs.get("label_candidates") or []) for obs in valid]
            batch.candidates = lists if all(lists) else None
            batch.candidates_source = valid[0].get("candidates_source", "task")
            batch.split = valid[0].get("fold") or self.opt["datatype"].split(":")[0]
        return batch

    def _tokens(self, text: str) -> Tensor:
        return self._vectorize_text(text, truncate=self.label_truncate, truncate_left=False)

    def _encode_replies(self, texts: list[str], progress: bool = False) -> Tensor:
        """Texts to encodings ``(n, dim)``; texts of like length go together, so that little is padding."""
        vectors = [self._tokens(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: len(vectors[i]))
        encodings = torch.empty(len(texts), self.opt["embedding_size"])
        device = next(self.model.parameters()).device
        starts = range(0, len(order), _ENCODE_BATCH)
        self.model.eval()
        with torch.no_grad():
            for start in tqdm(starts, desc="encoding replies", disable=not progress):
                chosen = order[start : start + _ENCODE_BATCH]
                tokens, _ = padded_tensor([vectors[i] for i in chosen], pad_idx=self.NULL_IDX)
                encodings[chosen] = self.encode_candidates(tokens.to(device)).float().cpu()
        return encodings.to(device)

    # --- evaluation --------------------------------------------------------------------------------------------------

    def eval_step(self, batch: Batch) -> Output | None:
        """Rank the candidates, and record what the paper measures."""
        if batch.text_vec is None:
            return None
        self.model.eval()
        if batch.label_vec is not None:
            self._record_block_precision(batch)
            self._record_avg_bleu(batch)
        return super().eval_step(batch)

    def _build_candidates(self, batch: Batch, source: str, mode: str) -> tuple[Any, Tensor, Tensor | None]:
        """ParlAI's candidates; in evaluation inline ones come encoded, and a label need not be among them."""
        if mode == "train" or source not in ("inline", "fixed"):
            return super()._build_candidates(batch, source, mode)  # type: ignore[no-any-return]
        if source == "fixed":
            return self.fixed_candidates, self.fixed_candidate_vecs, self._among_fixed(batch)
        if batch.candidates is None:
            return self._without_inline(batch, mode)
        encodings = self._inline_encodings(batch.candidates)
        return batch.candidates, encodings, self._among_inline(batch)

    def _without_inline(self, batch: Batch, mode: str) -> tuple[Any, Tensor, Tensor | None]:
        if batch.label_vec is None:
            raise OptionError("the task gives neither candidates nor labels to choose from: use --eval-candidates fixed")
        warn_once(
            "the task gives no candidates: replies are ranked against those of the same batch, "
            "so hits@1 and loss depend on --batchsize"
        )
        return super()._build_candidates(batch, "batch", mode)  # type: ignore[no-any-return]

    def _inline_encodings(self, candidates: list[list[str]]) -> Tensor:
        """Each example's candidates to ``(batch, most candidates, dim)``, padded with zeros."""
        new = list(dict.fromkeys(text for texts in candidates for text in texts if text not in self._encoded))
        if new:
            self._encoded.update(zip(new, self._encode_replies(new), strict=True))
        rows = [torch.stack([self._encoded[text] for text in texts]) for texts in candidates]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def _among_inline(self, batch: Batch) -> Tensor | None:
        """Each label's place among its candidates; P@k,100 is recorded where there are 100 of them."""
        if batch.labels is None:
            return None
        places = [texts.index(label) if label in texts else -1 for texts, label in zip(batch.candidates, batch.labels, strict=True)]
        if min(places) < 0:
            warn_once("some candidates lack the true reply: no loss and no rank for their batches")
            return None
        true = torch.tensor(places, device=batch.text_vec.device)
        if all(len(texts) == precision_at_k.BLOCK for texts in batch.candidates):
            self._record_inline_precision(batch, true)
        return true

    def _among_fixed(self, batch: Batch) -> Tensor | None:
        if batch.labels is None:
            return None
        places = [self._pool_index.get(label, -1) for label in batch.labels]
        return None if min(places) < 0 else torch.tensor(places, device=batch.text_vec.device)

    def _record_inline_precision(self, batch: Batch, true: Tensor) -> None:
        scores = self.score_candidates(batch, self._inline_encodings(batch.candidates))
        ranks = precision_at_k.true_ranks(scores, true).tolist()
        for k in precision_at_k.CUTOFFS:
            hits = [InlinePrecision(rank <= k, 1, batch.candidates_source, batch.split) for rank in ranks]
            self.record_local_metric(precision_at_k.key(k, "inline"), hits)

    def _record_block_precision(self, batch: Batch) -> None:
        count = len(batch.text_vec)
        # Each process evaluates every num_workers()-th example: this is where they stand in the fold.
        positions = torch.arange(self._seen, self._seen + count) * num_workers() + get_rank()
        self._seen += count
        contexts = self._contexts(batch).float().cpu()
        replies = self.encode_candidates(batch.label_vec).float().cpu()
        examples = (EncodedExamples(positions, contexts, replies),)
        for protocol in ("shuffled", "ordered"):
            for k in precision_at_k.CUTOFFS:
                metric = BlockPrecision(k, protocol, examples, batch.split)
                self.global_metrics.add(precision_at_k.key(k, protocol), metric)

    def _record_avg_bleu(self, batch: Batch) -> None:
        """AVG BLEU needs the whole pool encoded: only for final weights, not at each validation in a training."""
        if self._trained or self._no_pool or self.opt.get("model_file") is None:
            return
        try:
            pool = self.pool()
        except EmpathyError as error:
            self._no_pool = True
            logging.warning(f"no AVG BLEU, because there is no pool of replies: {error}")
            return
        tokenise = self.dict.tokenizer_fun  # the dictionary's own, before it lower-cases
        replies = pool.best(self._contexts(batch))
        metrics = [
            AvgBleu(bleu_statistics(tokenise(reply), tokenise(label)), self.dict.tokenizer, 1, pool.name, batch.split)
            for reply, label in zip(replies, batch.labels, strict=True)
        ]
        self.record_local_metric("avg_bleu", metrics)

    def reset_metrics(self) -> None:
        """Forget the examples seen, with ParlAI's metrics."""
        super().reset_metrics()
        self._seen = 0

    # --- pool --------------------------------------------------------------------------------------------------------

    def pool(self) -> Pool:
        """The replies to choose from: stored beside the model, or built now and stored for the next time."""
        if self._pool is None:
            path = f"{self.opt['model_file']}.pool" if self.opt.get("model_file") else None
            fingerprint = model_fingerprint(self._bare_model) + (self.fixed_candidates_path or "")
            pool, is_new = stored_or_new(path, fingerprint, self._pool_texts, lambda texts: self._encode_replies(texts, True))
            if is_new and path and is_primary_worker():
                pool.save(path)
                logging.info(f"stored a pool of {len(pool.texts):,} replies in {path}")
            device = next(self.model.parameters()).device
            self._pool = Pool(pool.texts, pool.encodings.to(device), pool.fingerprint)
        return self._pool

    def _pool_texts(self) -> list[str]:
        """``--fixed-candidates-path``'s lines, or the training replies that are short and of known words alone."""
        if self.fixed_candidates_path:
            return _lines(self.fixed_candidates_path)
        most = self.opt["pool_max_tokens"]
        replies = dict.fromkeys(training_replies(self.opt))
        return [text for text in replies if self._is_known(text) and (most < 0 or len(self._tokens(text)) <= most)]

    def _is_known(self, text: str) -> bool:
        tokens = self.dict.tokenize(text)
        return bool(tokens) and all(token in self.dict.tok2ind for token in tokens)

    def get_task_candidates_path(self) -> None:
        """ParlAI would write a text file of candidates here; :meth:`pool` holds them instead."""
        return None

    def set_fixed_candidates(self, shared: dict[str, Any] | None) -> None:
        """Give ParlAI's ranking the pool where it is to choose from fixed candidates (as in a chat)."""
        wanted = "fixed" in (self.candidates, self.eval_candidates)
        pool = self.pool() if wanted else None
        self.fixed_candidates = pool.texts if pool else None
        self.fixed_candidate_encs = pool.encodings if pool else None
        # ParlAI asks of the token ids only how many dimensions they have: the encodings have as many.
        self.fixed_candidate_vecs = self.fixed_candidate_encs
        self.num_fixed_candidates = len(pool.texts) if pool else 0
        self._pool_index = {text: i for i, text in enumerate(pool.texts)} if pool else {}

    def block_repeats(self, cand_preds: list[list[str]]) -> list[list[str]]:
        """ParlAI's: do not repeat a line of the conversation, unless there is nothing else to say."""
        return [blocked or all_ for blocked, all_ in zip(super().block_repeats(cand_preds), cand_preds, strict=True)]

    def share(self) -> dict[str, Any]:
        """Also share the pool, with the copies of this agent that a batch or a self-chat needs."""
        return {**super().share(), "pool": self._pool}


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return list(dict.fromkeys(line.strip() for line in file if line.strip()))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFileError(f"--fixed-candidates-path {path} cannot be read: {error}") from error
