"""What ParlAI's reports call our numbers: key to title and description."""

from __future__ import annotations

_PROTOCOLS = {
    "shuffled": "the true replies of a block of the shuffled fold",
    "ordered": "the true replies of a block of the fold in its own order",
    "inline": "the candidates that come with each example",
}

METRIC_NAMES: dict[str, tuple[str, str]] = {
    f"p_at_{k}_100_{protocol}": (f"P@{k},100 {protocol}", f"True reply among the best {k} of 100: {candidates}")
    for protocol, candidates in _PROTOCOLS.items()
    for k in (1, 3, 10)
} | {
    "avg_bleu": ("AVG BLEU", "Mean of corpus BLEU-1 to BLEU-4, unsmoothed, of the reply from the pool"),
    "pearson": ("Pearson", "Pearson's correlation of the judge's scores with people's mean ratings"),
    "spearman": ("Spearman", "Spearman's rank correlation of the judge's scores with people's mean ratings"),
}
