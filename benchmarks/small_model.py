"""A retrieval model to measure with, trained for a moment: how fast it is does not depend on how good it is.

EmpatheticDialogues is taken from ``EMPATHY_MIRROR``, or downloaded; ``--edition sample`` takes the package's own.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.worlds import create_task
from parlai.scripts.build_dict import build_dict
from parlai.scripts.train_model import TrainModel

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent

TASK = "empathy:empathetic_dialogues"


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """A parser with the options that these benchmarks share; ParlAI says nothing from here on."""
    logging.logger.setLevel("ERROR")
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edition", choices=["full", "sample"], default="full")
    return parser


def add_gpu(parser: argparse.ArgumentParser) -> None:
    """Add ``--gpu`` to a benchmark that can be run on one."""
    parser.add_argument("--gpu", action="store_true", help="let both compute on the GPU")


def untrained(folder: str | Path, edition: str, model: str = "empathy:retrieval", **options: Any) -> Any:
    """A Transformer with random weights, and the words of the training fold.

    It computes on the CPU in single precision, as ParlAI does, so that answers can be compared.

    :param model: ``empathy:retrieval`` or ``empathy:generative``.
    :param options: what shall differ from the agent's own defaults.
    """
    arguments = {"task": TASK, "model": model, "edition": edition, "precision": "float32", "seed": 1}
    arguments |= {"datapath": str(folder), "model_file": str(Path(folder) / "model")}
    arguments |= {"no_cuda": True, "loglevel": "error"}
    opt = TrainModel.setup_args().parse_kwargs(**(arguments | options))
    opt["dict_file"] = f"{opt['model_file']}.dict"
    build_dict(opt)
    return create_agent(opt)


def trained(folder: str | Path, edition: str, steps: int, **options: Any) -> str:
    """The file of the same, trained for some steps: the same model each time."""
    agent = untrained(folder, edition, **options)
    random.seed(agent.opt["seed"])  # which decides the order of the examples
    world = create_task(agent.opt, agent)
    for _ in range(steps):
        world.parley()
    agent.save()
    return str(agent.opt["model_file"])


def load(model_file: str, **options: Any) -> RetrievalAgent:
    """A trained model, with other options."""
    return create_agent_from_model_file(model_file, {"loglevel": "error", **options})
