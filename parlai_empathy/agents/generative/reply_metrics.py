"""Metrics of generated replies: AVG BLEU, and diversity (Dist-n)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from parlai.core.metrics import Metric

from parlai_empathy.metrics.avg_bleu import AvgBleu, bleu_statistics
from parlai_empathy.metrics.distinct import ORDERS, Distinct
from parlai_empathy.metrics.evaluation_batches import evaluation_batchsize

# Options that, besides the model, determine the replies of each search. Greedy search does not depend on the
# temperature.
_SEARCHES: dict[str, tuple[str, ...]] = {
    "greedy": (),
    "beam": ("beam_size", "beam_length_penalty", "temperature"),
    "diversebeam": ("beam_size", "beam_groups", "diversity_strength", "beam_length_penalty", "temperature"),
    "topk": ("topk", "temperature", "beam_size"),
    "nucleus": ("topp", "temperature", "beam_size"),
    "delayedbeam": ("topk", "beam_delay", "temperature", "beam_size"),
    "delayednucleusbeam": ("topp", "beam_delay", "temperature", "beam_size"),
    "factual_nucleus": ("topp", "lambda_decay", "omega_bound", "temperature", "beam_size"),
}
# Sampling searches: all examples of a batch share one random stream, so replies also depend on the batch size.
_DRAWING = ("topk", "nucleus", "delayedbeam", "delayednucleusbeam", "factual_nucleus")
_BLOCKING = ("beam_block_ngram", "beam_context_block_ngram")


def decoding_name(opt: Mapping[str, Any], bfloat16: bool = False, blocked: Collection[str] = ()) -> str:
    """Describe the decoding, for signatures: ``greedy,min_length=1,max_length=100,block_ngram=3``.

    :param bfloat16: whether the model computes in bfloat16, which can change the choice between near-equal scores.
    :param blocked: phrases that replies must not contain, from ``--beam-block-list-filename``.
    """
    search = opt["inference"]
    names = [*_SEARCHES.get(search, ())]
    if search in _DRAWING and opt["beam_size"] > 1:
        names.append("beam_length_penalty")  # decides which of the drawn replies is chosen
    names.append("beam_min_length")
    parts = [search, *(f"{name.removeprefix('beam_')}={opt[name]}" for name in names)]
    parts.append(f"max_length={opt['label_truncate']}")
    parts += [f"{name.removeprefix('beam_')}={opt[name]}" for name in _BLOCKING if (opt.get(name) or 0) > 0]
    if blocked:
        digest = hashlib.sha256("\n".join(sorted(blocked)).encode()).hexdigest()
        parts.append(f"block_list={digest[:8]}")
    if search in _DRAWING:
        parts.append(f"batchsize={evaluation_batchsize(opt)}")
    return ",".join([*parts, "bfloat16"] if bfloat16 else parts)


def reply_metrics(
    replies: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    tokens: str,
    case: str,
    decoding: str,
    split: str | None,
) -> dict[str, list[Metric]]:
    """Return the metrics of a batch by their names in reports, one value per reply.

    :param replies: tokenised.
    :param references: the true replies, tokenised in the same way.
    :param tokens: the tokeniser's name.
    :param case: ``kept`` or ``lower``.
    """
    metrics: dict[str, list[Metric]] = {
        "avg_bleu": [
            AvgBleu(bleu_statistics(reply, reference), tokens, split=split, case=case, decoding=decoding)
            for reply, reference in zip(replies, references, strict=True)
        ]
    }
    for order in ORDERS:
        metrics[f"dist_{order}"] = [Distinct(order, [tuple(reply)], tokens, decoding, split) for reply in replies]
    return metrics
