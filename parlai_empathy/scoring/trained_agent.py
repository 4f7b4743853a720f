"""Finding a trained agent by its file, and seeing that it can do what is asked of it before anything is loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai.core.agents import create_agent_from_model_file
from parlai.core.build_data import modelzoo_path
from parlai.core.loader import load_agent_module

from parlai_empathy.agents.retrieval.pool import model_fingerprint
from parlai_empathy.errors import EmpathyError, ModelFileError, OptionError


def check_agent(model_file: str, method: str, otherwise: str, datapath: str | None = None) -> Path:
    """The path of a trained agent that has a method.

    :param model_file: a path, or a name in the zoo if there is a ``datapath``.
    :param otherwise: what is wrong with an agent that lacks it, and what to name instead, in words.
    :raises ModelFileError: if there is no model.
    :raises OptionError: if its agent lacks the method.
    """
    path = Path(modelzoo_path(datapath, model_file) if datapath else model_file).expanduser()
    options = path.with_name(f"{path.name}.opt") if path.name else path
    if not (path.is_file() and options.is_file()):
        raise ModelFileError(f"{path} is no trained model: {path.name} and {path.name}.opt should be there")
    try:
        opt = json.loads(options.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{options} names no agent ({_reason(error)}): train the model again") from error
    if not hasattr(agent_class(opt, options), method):
        raise OptionError(f"{path}: {opt['model']} {otherwise}")
    return path


def agent_class(opt: Mapping[str, Any], where: str | Path) -> Any:
    """The class of the agent that a model's options name.

    :param where: the file that the options came from, for errors.
    :raises ModelFileError: if they name none that is to be found.
    """
    try:
        return load_agent_module(opt["model"])
    except EmpathyError:
        raise
    except Exception as error:  # ParlAI's loader ends in a different kind for each way in which a name can be wrong
        raise ModelFileError(f"{where} names no agent ({_reason(error)}): train the model again") from error


def load_agent(path: Path) -> Any:
    """The agent.

    :raises ModelFileError: if it cannot be loaded.
    """
    try:
        return create_agent_from_model_file(str(path))
    except EmpathyError:
        raise
    except Exception as error:  # options that another program wrote can be wrong in any way
        raise ModelFileError(f"{path} cannot be loaded ({_reason(error)}): train it again, or name another") from error


def weights_of(agent: Any) -> str:
    """A digest of an agent's weights, for signatures: another training of the same agent gives other numbers."""
    return model_fingerprint(getattr(agent, "bare_model", agent.model))[:8]


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
