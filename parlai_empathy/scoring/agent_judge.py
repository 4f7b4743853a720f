"""A trained agent as a judge: one of those that this package trains to score replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import parlai.utils.logging as logging
from numpy.typing import NDArray
from parlai.core.agents import create_agent_from_model_file
from parlai.core.loader import load_agent_module

from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError
from parlai_empathy.metrics.signature import signature
from parlai_empathy.scoring.judge import Texts, check_lengths


class AgentJudge:
    """Scores replies with a trained agent, in batches.

    :param model_file: what ``parlai train_model -mf`` wrote.
    :param name: what tables call it; by default :func:`judge_name`.
    :raises ModelFileError: if there is no model, or it cannot be loaded.
    :raises OptionError: if its agent is no judge of replies.
    """

    def __init__(self, model_file: str, name: str | None = None) -> None:
        path = Path(model_file).expanduser()
        self.name = name or judge_name(model_file)
        _check_kind(path)
        self._agent: Any = _load(path)
        try:
            self._agent.score_pairs([["hello"]], ["hello"])  # better now than when other judges have scored for long
        except OptionError as error:
            raise OptionError(
                f"{model_file}: {error}: name a model that was trained on ratings or on replies"
            ) from error

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


def judge_name(model_file: str) -> str:
    """What tables call a model that has no other name: its folder and file."""
    return str(Path(*Path(model_file).parts[-2:]))


def _check_kind(path: Path) -> None:
    """See that there is a model of an agent that scores replies, before anything of it is loaded."""
    options = path.with_name(f"{path.name}.opt") if path.name else path
    if not (path.is_file() and options.is_file()):
        raise ModelFileError(f"{path} is no trained model: {path.name} and {path.name}.opt should be there")
    try:
        model = json.loads(options.read_text(encoding="utf-8"))["model"]
        kind = load_agent_module(model)
    except EmpathyError:
        raise
    except Exception as error:  # ParlAI's loader ends in a different kind for each way in which a name can be wrong
        raise ModelFileError(f"{options} names no agent ({_reason(error)}): train the model again") from error
    if not hasattr(kind, "score_pairs"):
        raise OptionError(
            f"{path}: {model} answers and does not score replies: name a model of an agent that judges, such as "
            "empathy:text_classifier"
        )


def _load(path: Path) -> Any:
    try:
        return create_agent_from_model_file(str(path))
    except EmpathyError:
        raise
    except Exception as error:  # options that another program wrote can be wrong in any way
        raise ModelFileError(f"{path} cannot be loaded ({_reason(error)}): train it again, or name another") from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
