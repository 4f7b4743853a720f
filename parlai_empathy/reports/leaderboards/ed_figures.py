"""Published figures for EmpatheticDialogues with their sources, for comparison with what is measured here.

Only figures whose source is known are listed. A gap means that the figure has not been entered yet, not that the paper
lacks it. Shares are in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

RASHKIN = "Rashkin et al. 2019"
ZHOU = "Zhou et al. 2023"


@dataclass(frozen=True)
class Published:
    """A paper's figures for one system.

    :param source: the paper, and the table if it is certain.
    :param values: the figures by column name (:mod:`parlai_empathy.reports.leaderboards.ed_columns`).
    """

    system: str
    source: str
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The row's name in tables."""
        return f"{self.system} ({self.source})"


# Rashkin et al. 2019, ACL: pretrained on 1.7 billion Reddit conversations and fine-tuned on EmpatheticDialogues unless
# stated otherwise. For the models trained on Reddit alone, the figures are those with replies from EmpatheticDialogues.
# These two and 5.88 are quoted from summaries of the paper, which agree with it in all other figures. The paper does
# not state the protocol of its P@1,100. Perplexity is per word, with 250,006 words. Parameters are in millions, as
# printed in the paper.
_PAPER = (
    Published("retrieval Transformer", RASHKIN, {"p_at_1": 56.90, "avg_bleu": 5.88, "parameters": 84.3}),
    Published("retrieval Transformer, Reddit alone", RASHKIN, {"p_at_1": 43.25}),
    Published("retrieval Transformer, Large", RASHKIN, {"p_at_1": 60.44, "parameters": 86.5}),
    Published("retrieval BERT", RASHKIN, {"p_at_1": 65.92}),
    Published("retrieval BERT, EmoPrepend-1", RASHKIN, {"p_at_1": 66.04}),
    Published("generative Transformer", RASHKIN, {"avg_bleu": 6.27, "ppl": 21.24, "parameters": 85.1}),
    Published("generative Transformer, Reddit alone", RASHKIN, {"ppl": 27.96}),
    Published("generative Transformer, Large", RASHKIN, {"avg_bleu": 8.06, "ppl": 16.55, "parameters": 86.2}),
    Published("fastText", f"{RASHKIN}, Table 10", {"emotion_situation": 43.0}),
    Published("DeepMoji", f"{RASHKIN}, Table 10", {"emotion_situation": 48.0}),
)

# MoEL (Lin et al. 2019, EMNLP) and its successors, without Reddit, with MoEL's preprocessing, all as reported in one
# table by CASE (Zhou et al. 2023, ACL): perplexity by the peers' protocol, corpus-level Dist-n (x100), and emotion
# accuracy from the context.
_PEERS = (
    Published("Transformer", ZHOU, {"ppl_peers": 37.65}),
    Published("MoEL", ZHOU, {"ppl_peers": 38.35, "dist_1": 0.44, "dist_2": 2.10, "emotion_context": 32.2}),
    Published("MIME", ZHOU, {"ppl_peers": 37.33}),
    Published("EmpDG", ZHOU, {"ppl_peers": 37.77}),
    Published("CEM", ZHOU, {"ppl_peers": 36.86}),
    Published("CASE", ZHOU, {"ppl_peers": 35.37, "dist_1": 0.74, "dist_2": 4.01, "emotion_context": 40.2}),
)

PUBLISHED = (*_PAPER, *_PEERS)


def published(*columns: str) -> list[Published]:
    """Return the systems with a figure in at least one of the columns."""
    return [one for one in PUBLISHED if any(column in one.values for column in columns)]
