"""How frequent each level is among a task's training examples."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from parlai.core.opt import Opt
from torch import Tensor

from parlai_empathy.agents.epitome.targets import UNKNOWN, true_levels
from parlai_empathy.tasks.epitome.mechanisms import LEVELS
from parlai_empathy.tasks.training_fold import training_teachers


def level_shares(opt: Opt, mechanisms: Sequence[str]) -> Tensor:
    """Return the share of each level in the training fold, ``(mechanisms, 3)``; each row adds up to 1.

    Each level counts once more than it occurs, so that no share is 0.
    """
    counts = torch.ones(len(mechanisms), len(LEVELS))
    for task in opt["task"].split(","):
        for teacher in training_teachers(task.strip(), opt):
            while not teacher.epoch_done():
                (levels,) = true_levels([teacher.act()], mechanisms)
                known = levels != UNKNOWN
                counts[torch.arange(len(mechanisms))[known], levels[known]] += 1
    return counts / counts.sum(dim=1, keepdim=True)
