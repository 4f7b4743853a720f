"""Titles and descriptions of our metrics in ParlAI's reports, by key."""

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
    "avg_bleu": ("AVG BLEU", "Mean of corpus BLEU-1 to BLEU-4, unsmoothed, of the replies"),
    "emotion_accuracy": ("Emotion acc.", "Share of contexts whose emotion the model's emotion head predicts correctly"),
    "pearson": ("Pearson", "Pearson's correlation of the judge's scores with people's mean ratings"),
    "spearman": ("Spearman", "Spearman's rank correlation of the judge's scores with people's mean ratings"),
    "ppl": ("PPL", "Perplexity of the true replies: the mean over tokens"),
    "ppl_peers": ("PPL peers", "Perplexity as the papers from MoEL to CASE compute it: the mean over examples"),
    "dist_1": ("Dist-1", "Share of distinct words among all words of the replies"),
    "dist_2": ("Dist-2", "Share of distinct word pairs among all pairs in the replies"),
    "macro_f1": ("Macro-F1", "Mean of the classes' F1; if several things are predicted, the mean over them"),
    **{
        f"{short}_{key}": (f"{short.upper()} {title}", f"{text} of {mechanism}")
        for short, mechanism in (
            ("er", "emotional reactions"),
            ("ip", "interpretations"),
            ("ex", "explorations"),
        )
        for key, title, text in (
            ("accuracy", "accuracy", "Share of correct predictions of the level"),
            ("f1", "macro-F1", "Macro-F1 over the levels"),
            ("rationale_f1", "rationale F1", "F1 (over replies with a rationale) of the words in the rationale"),
            (
                "rationale_iou",
                "rationale IOU",
                "F1 (over replies with a rationale) of the spans, matched at half overlap, in the rationale",
            ),
        )
    },
    "no_answer": ("No answer", "Share of prompts to which the language model gave no usable answer"),
    "examples": ("Examples", "Examples in a prompt, on average"),
    "shortened": ("Shortened", "Share of prompts that lost examples or turns because they were too long"),
    "prompt_tokens": ("Prompt tokens", "Tokens in a prompt that was answered, on average"),
    "completion_tokens": ("Answer tokens", "Tokens in an answer, on average"),
}
