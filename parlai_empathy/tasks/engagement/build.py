"""Locate the training data of Predictive Engagement: from its repository, from ConvAI's URL, or in the sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.engagement.sets import PREDICTIVE_ENGAGEMENT, SAMPLE

SCORED = "50convs_AMT.txt"
RATED = "humanAMT_engscores_utt.csv"
FINETUNE = {"train": "DD_finetune_train.csv", "valid": "DD_finetune_valid.csv"}
CONVERSATIONS = "train_full.json"

# The authors publish no checksums: the SHA-256 of the downloads is logged.
REPOSITORY = Source(
    folder="engagement",
    version="1.0",
    archive=None,
    files=(SCORED, RATED, *FINETUNE.values()),
    url=f"{PREDICTIVE_ENGAGEMENT}8ad153655151e5c9d7713aa9050de66162efd6ef/data/",
    home="engagement/predictive_engagement",
)
CONVAI = Source(
    folder="engagement",
    version="1.0",
    archive=None,
    files=(CONVERSATIONS,),
    url="https://github.com/DeepPavlov/convai/raw/master/2017/data/train_full.json",
    home="engagement/convai",
)


def build_repository(opt: dict[str, Any]) -> Path:
    """Return the folder of the repository's tables for ``opt["edition"]`` (``full`` or ``sample``)."""
    return SAMPLE if is_sample(opt) else obtain(opt["datapath"], REPOSITORY)


def build_convai(opt: dict[str, Any]) -> Path:
    """Return the file of ConvAI's conversations for ``opt["edition"]``."""
    return (SAMPLE if is_sample(opt) else obtain(opt["datapath"], CONVAI)) / CONVERSATIONS
