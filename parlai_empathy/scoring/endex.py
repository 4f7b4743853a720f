"""EnDex: the probability that a reply is engaging, as predicted by a trained classifier (Xu et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import parlai.utils.logging as logging
from numpy.typing import NDArray

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent, model_options, task_option, weights_of
from parlai_empathy.errors import OptionError
from parlai_empathy.scoring.agent_judge import NO_JUDGE, AgentJudge
from parlai_empathy.scoring.judge import Judge, Texts, check_lengths
from parlai_empathy.scoring.names import OUTPUTS, few, judge_name
from parlai_empathy.signature import signature
from parlai_empathy.tasks.red.records import CLASSES

ENGAGING = CLASSES[1]
"""The class whose probability is the score."""

_REMEDY = "name a model that was trained on empathy:red"


class Endex:
    """Scores replies with a classifier that was trained on RED.

    :param model_file: a model file of ``parlai train_model -t empathy:red -mf``, or a name in the zoo.
    :param name: its name in tables; by default its folder and file.
    :param with_context: whether it reads the turns before a reply. None: if it did in training (``--red-context``).
    :param output: ``probability`` of the class "engaging"; or ``class``, 1 if no other class is more probable, else 0.
        The paper does not say for which of them it reports correlations.
    :param datapath: ParlAI's data folder, for models of the zoo.
    :raises ModelFileError: if the model does not exist, or cannot be loaded.
    :raises OptionError: for an unknown output, or a model without the class.
    """

    def __init__(
        self,
        model_file: str,
        name: str | None = None,
        with_context: bool | None = None,
        output: str = "probability",
        datapath: str | None = None,
    ) -> None:
        if output not in OUTPUTS:
            raise OptionError(f"output {output!r}: must be one of {', '.join(OUTPUTS)}")
        self.name = name or judge_name(model_file)
        path = check_agent(model_file, "class_probabilities", f"has no class {ENGAGING!r}: {_REMEDY}", datapath)
        classes = list(model_options(path).get("classes") or ())
        if ENGAGING not in classes:
            known = f"only {few(classes)}" if classes else "no classes"
            raise OptionError(f"{model_file} has no class {ENGAGING!r} ({known}): {_REMEDY}")
        self._agent: Any = load_agent(path)
        self._place = self._agent.classes.index(ENGAGING)
        self._weights = weights_of(self._agent)
        self._output = output
        self.with_context = trained_with_context(self._agent.opt) if with_context is None else with_context
        self._probabilities([["hello"]], ["hello"])  # fail now if its loss gives no probabilities

    @property
    def signature(self) -> str:
        """How the numbers are computed."""
        opt = self._agent.opt
        return signature(
            self.name,
            agent=opt["model"].removeprefix("empathy:"),
            trained=opt.get("task"),
            weights=self._weights,
            reads="context+reply" if self.with_context else "reply",
            output=self._output,
        )

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        """Score each reply.

        :param contexts: ``(n,)``, the turns before each reply, oldest first; empty for a reply without context.
        :param replies: ``(n,)``
        :param references: ignored.
        :returns: ``(n,)``, 0..1
        """
        check_lengths(contexts, replies)
        logging.debug(f"{self.name} scores {len(replies)} replies")
        found = self._probabilities(contexts if self.with_context else [[]] * len(replies), replies)
        if self._output == "class":
            best = found.max(axis=1)  # NaN if one is, as with a broken model: not the class 0
            return np.where(np.isfinite(best), found[:, self._place] >= best, np.nan)
        return np.asarray(found[:, self._place])

    def _probabilities(self, contexts: Texts, replies: Sequence[str]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._agent.class_probabilities(contexts, replies)
        return found


def engagement_judge(
    model_file: str,
    name: str | None = None,
    with_context: bool | None = None,
    output: str = "probability",
    datapath: str | None = None,
) -> Judge:
    """Return a judge of engagingness: :class:`Endex` for a model with its class, otherwise :class:`AgentJudge`.

    :param with_context: as for :class:`Endex`; so are ``output`` and ``datapath``.
    :raises ModelFileError: if the model does not exist, or cannot be loaded.
    :raises OptionError: if its agent cannot score replies.
    """
    path = check_engagement_judge(model_file, datapath)
    if ENGAGING in (model_options(path).get("classes") or ()):
        return Endex(model_file, name, with_context, output, datapath)
    return AgentJudge(model_file, name, datapath)


def check_engagement_judge(model_file: str, datapath: str | None = None) -> Path:
    """Return the path of a model for :func:`engagement_judge`, checked as far as possible without loading it.

    :raises ModelFileError: if the model does not exist.
    :raises OptionError: if its agent cannot score replies.
    """
    return check_agent(model_file, "score_pairs", NO_JUDGE, datapath)


def trained_with_context(opt: Mapping[str, Any]) -> bool:
    """Whether ``--red-context`` was true in training, given as an option or after the task's name and a colon."""
    return str(task_option(opt, "red_context")).lower() != "false"
