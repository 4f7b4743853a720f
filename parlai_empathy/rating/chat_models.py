"""Models that people talk with."""

from __future__ import annotations

from typing import Any

from parlai.core.agents import create_agent_from_model_file
from parlai.core.opt import Opt

from parlai_empathy.errors import EmpathyError, ModelFileError
from parlai_empathy.scoring.trained_agent import check_agent


def load_chat_model(file: str, datapath: str | None = None) -> Any:
    """A trained agent, ready to talk.

    :param file: a path, or a name in the zoo if there is a ``datapath``.
    :raises ModelFileError: if there is none, or it cannot be loaded.
    """
    path = check_agent(file, "act", "cannot answer: name a model that replies", datapath)
    try:
        return create_agent_from_model_file(str(path), Opt(interactive_mode=True))
    except EmpathyError:
        raise
    except Exception as error:  # options that another program wrote can be wrong in any way
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        raise ModelFileError(f"{path} cannot be loaded ({reason}): train it again, or name another") from error
