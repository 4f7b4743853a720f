"""How frequent levels are in the training fold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.agents.epitome.level_shares import level_shares
from parlai_empathy.tasks.training_fold import training_teachers

TASK = "empathy:epitome"


def opt_of(folder: Path, task: str) -> Opt:
    return Opt(task=task, edition="sample", datapath=str(folder))


def words(task: str, opt: Opt) -> list[str]:
    """Return the labels of the training fold, such as ``ER 1, IP 0, EX 2``, or ``1`` for a single mechanism."""
    (teacher,) = training_teachers(task, opt)
    return [teacher.act()["labels"][0] for _ in range(teacher.num_examples())]


def test_shares_count_each_level_once_more_than_the_training_fold_has_it(tmp_path: Path) -> None:
    opt = opt_of(tmp_path, TASK)
    labels = words(TASK, opt)
    shares = level_shares(opt, ["explorations", "emotional_reactions"])
    for row, short in zip(shares.tolist(), ("EX", "ER"), strict=True):
        counts = Counter(part.split()[1] for label in labels for part in label.split(", ") if part.startswith(short))
        assert row == pytest.approx([(counts[level] + 1) / (len(labels) + 3) for level in "012"])


def test_each_mechanism_counts_the_examples_that_have_its_level(tmp_path: Path) -> None:
    tasks = [f"{TASK}:EmotionalReactions", f"{TASK}:Explorations"]
    opt = opt_of(tmp_path, ", ".join(tasks))
    shares = level_shares(opt, ["emotional_reactions", "explorations"])
    for row, task in zip(shares.tolist(), tasks, strict=True):
        counts = Counter(words(task, opt))
        assert row == pytest.approx([(counts[level] + 1) / (counts.total() + 3) for level in "012"])
