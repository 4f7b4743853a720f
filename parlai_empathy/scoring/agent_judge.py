"""A trained agent as a judge: one of those that this package trains to score replies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import parlai.utils.logging as logging
from numpy.typing import NDArray
from parlai.core.agents import create_agent_from_model_file

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.metrics.signature import signature
from parlai_empathy.scoring.judge import Texts, check_lengths


class AgentJudge:
    """Scores replies with a trained agent, in batches.

    :param model_file: what ``parlai train_model -mf`` wrote.
    :param name: what tables call it; by default the file's folder and name.
    :raises ModelFileError: if there is no model, or it cannot be loaded.
    :raises OptionError: if its agent is no judge of replies.
    """

    def __init__(self, model_file: str, name: str | None = None) -> None:
        path = Path(model_file)
        if not (path.is_file() and path.with_name(path.name + ".opt").is_file()):
            raise ModelFileError(f"{model_file} is no trained model: {path.name} and {path.name}.opt should be there")
        self.name = name or str(Path(*path.parts[-2:]))
        self._agent: Any = create_agent_from_model_file(model_file)
        if not hasattr(self._agent, "score_pairs"):
            raise OptionError(
                f"{model_file}: {self._agent.opt['model']} answers and does not score replies; name a model of "
                "empathy:text_classifier or empathy:han"
            )

    @property
    def signature(self) -> str:
        """What decides the numbers."""
        opt = self._agent.opt
        return signature(
            self.name, agent=opt["model"].removeprefix("empathy:"), trained=opt.get("task"), loss=opt.get("loss")
        )

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        """Score each reply in its context.

        :param contexts: ``(n,)``, the turns before each reply, oldest first.
        :param replies: ``(n,)``
        :param references: not looked at.
        :returns: ``(n,)``, on the scale that the agent was trained on; 0..1 for one that tells replies apart.
        """
        check_lengths(contexts, replies)
        logging.debug(f"{self.name} scores {len(replies)} replies")
        scores: NDArray[np.float64] = self._agent.score_pairs(contexts, replies)
        return scores
