"""A judge that scores replies with a trained agent of this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import parlai.utils.logging as logging
from numpy.typing import NDArray

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent, weights_of
from parlai_empathy.errors import OptionError
from parlai_empathy.scoring.judge import Texts, check_lengths
from parlai_empathy.scoring.names import judge_name
from parlai_empathy.signature import signature

NO_JUDGE = "does not score replies: name a model of an agent that does, such as empathy:text_classifier"
"""The error message for an agent that is not a judge."""


class AgentJudge:
    """Scores replies with a trained agent, in batches.

    :param model_file: a model file of ``parlai train_model -mf``, or a name in the zoo.
    :param name: its name in tables; by default :func:`parlai_empathy.scoring.names.judge_name`.
    :param datapath: ParlAI's data folder, for models of the zoo.
    :raises ModelFileError: if the model does not exist, or cannot be loaded.
    :raises OptionError: if its agent cannot score replies.
    """

    def __init__(self, model_file: str, name: str | None = None, datapath: str | None = None) -> None:
        self.name = name or judge_name(model_file)
        path = check_agent(model_file, "score_pairs", NO_JUDGE, datapath)
        self._agent: Any = load_agent(path)
        self._weights = weights_of(self._agent)
        try:
            self._agent.score_pairs([["hello"]], ["hello"])  # fail now, not after other judges' long work
        except OptionError as error:
            raise OptionError(
                f"{model_file}: {error}: name a model that was trained on ratings or on replies"
            ) from error

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        opt = self._agent.opt
        return signature(
            self.name,
            agent=opt["model"].removeprefix("empathy:"),
            trained=opt.get("task"),
            loss=opt.get("loss"),
            weights=self._weights,
        )

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        """Score each reply in its context.

        :param contexts: ``(n,)``, the turns before each reply, oldest first.
        :param replies: ``(n,)``
        :param references: ignored.
        :returns: ``(n,)``, on the scale that the agent was trained on; 0..1 if it was trained to tell true replies from
            others.
        """
        check_lengths(contexts, replies)
        logging.debug(f"{self.name} scores {len(replies)} replies")
        scores: NDArray[np.float64] = self._agent.score_pairs(contexts, replies)
        return scores
