"""One evaluation in a process of its own: ``python -m parlai_empathy.reports.evaluate ANSWER ARGUMENT...``.

It runs ParlAI's ``eval_model`` with the arguments, and writes to the file ANSWER, as JSON, what came out: either
``report`` (each metric's value, and its signature if it has one) with ``parameters``, or ``error``, one line. A process
of its own gives each model what it has on the command line: a fresh random state, all of the memory, and a death that
takes nobody along.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from pathlib import Path
from typing import Any

import torch
from torch import nn

from parlai_empathy.errors import EmpathyError, one_line
from parlai_empathy.files.whole_file import write_whole


def evaluate(arguments: list[str]) -> dict[str, Any]:
    """Run ``eval_model``, and say what came out."""
    eval_model: Any = importlib.import_module("parlai.scripts.eval_model")
    create, agents = eval_model.create_agent, []

    def create_and_keep(*given: Any, **named: Any) -> Any:
        agents.append(create(*given, **named))
        return agents[-1]

    eval_model.create_agent = create_and_keep  # eval_model returns its report alone
    try:
        report = eval_model.EvalModel.main(*arguments)
    finally:
        eval_model.create_agent = create
    model = getattr(agents[0], "model", None)
    return {
        "report": {key: _number(metric) for key, metric in report.items()},
        "parameters": sum(p.numel() for p in model.parameters()) if isinstance(model, nn.Module) else None,
    }


def _number(metric: Any) -> dict[str, Any]:
    number: dict[str, Any] = {"value": float(metric)}
    if text := getattr(metric, "signature", None):
        number["signature"] = text
    return number


def main(answer: str, *arguments: str) -> None:
    """Evaluate, and write the answer whole or not at all."""
    torch.manual_seed(0)  # for models that draw their replies; eval_model seeds Python's own numbers
    try:
        found = evaluate(list(arguments))
    except EmpathyError as error:
        found = {"error": str(error)}
    except Exception as error:  # whatever a stranger's model file makes ParlAI or torch do
        traceback.print_exc()
        found = {"error": f"{type(error).__name__}: {one_line(error)}"}
    write_whole(Path(answer), json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
