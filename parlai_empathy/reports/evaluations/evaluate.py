"""Runs one evaluation in its own process: ``python -m parlai_empathy.reports.evaluations.evaluate ANSWER ARGUMENT...``.

It runs ParlAI's ``eval_model`` with the arguments, and writes the result to the file ANSWER as JSON: either ``report``
(each metric's value, and its signature if it has one) and ``parameters``, or ``error``, one line. In its own process
each model runs as it would on the command line: with a fresh random state and all of the memory, and without affecting
others if it crashes. It ends if the process that started it ends, even by SIGKILL.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from parlai_empathy.errors import EmpathyError, one_line
from parlai_empathy.files.whole_file import write_whole


def evaluate(arguments: list[str]) -> dict[str, Any]:
    """Run ``eval_model``, and return its report and the model's number of parameters."""
    from torch import nn

    eval_model: Any = importlib.import_module("parlai.scripts.eval_model")
    create, agents = eval_model.create_agent, []

    def create_and_keep(*given: Any, **named: Any) -> Any:
        agents.append(create(*given, **named))
        return agents[-1]

    eval_model.create_agent = create_and_keep  # eval_model returns only its report
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
    """Evaluate, and write the answer atomically."""
    import torch  # not above: it takes seconds, in which the starting process may end

    torch.manual_seed(0)  # for models that sample their replies; eval_model only seeds Python's random
    try:
        found = evaluate(list(arguments))
    except EmpathyError as error:
        found = {"error": str(error)}
    except Exception as error:  # a foreign model file may raise anything in ParlAI or torch
        traceback.print_exc()
        found = {"error": f"{type(error).__name__}: {one_line(error)}"}
    write_whole(Path(answer), json.dumps(found))


def _end_with(parent: int) -> None:
    """End this process when its parent process has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    main(*sys.argv[1:])
