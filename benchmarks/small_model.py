"""A barely trained model for benchmarks: its speed does not depend on its quality.

EmpatheticDialogues is read from ``EMPATHY_MIRROR``, or downloaded; ``--edition sample`` uses the sample that ships with
the package.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.opt import Opt
from parlai.core.worlds import World, create_task
from parlai.scripts.build_dict import build_dict
from parlai.scripts.train_model import TrainModel

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent

TASK = "empathy:empathetic_dialogues"


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that these benchmarks share; also silence ParlAI's log."""
    logging.logger.setLevel("ERROR")
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edition", choices=["full", "sample"], default="full")
    return parser


def add_gpu(parser: argparse.ArgumentParser) -> None:
    """Add ``--gpu``, for a benchmark that supports it."""
    parser.add_argument("--gpu", action="store_true", help="run both on the GPU")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add ``--workers``, for a benchmark of training."""
    parser.add_argument(
        "--workers",
        type=int,
        default=0,
        help="processes that prepare our batches (--num-workers); with ParlAI's own a training is slower than without",
    )


def untrained(folder: str | Path, edition: str, model: str = "empathy:retrieval", **options: Any) -> Any:
    """Return an agent with a randomly initialised Transformer and the dictionary of the training fold.

    By default it computes on the CPU in float32, as ParlAI does, so that results can be compared.

    :param model: ``empathy:retrieval`` or ``empathy:generative``.
    :param options: options that override the defaults.
    """
    arguments = {"task": TASK, "model": model, "edition": edition, "precision": "float32", "seed": 1}
    arguments |= {"datapath": str(folder), "model_file": str(Path(folder) / "model")}
    arguments |= {"no_cuda": True, "loglevel": "error"}
    opt = TrainModel.setup_args().parse_kwargs(**(arguments | options))
    opt["dict_file"] = f"{opt['model_file']}.dict"
    build_dict(opt)
    return create_agent(opt)


def trained(folder: str | Path, edition: str, steps: int, **options: Any) -> str:
    """Train such an agent for some steps, reproducibly; return its model file."""
    agent = untrained(folder, edition, **options)
    random.seed(agent.opt["seed"])  # determines the order of the examples
    world = create_task(agent.opt, agent)
    for _ in range(steps):
        world.parley()
    agent.save()
    return str(agent.opt["model_file"])


def training_world(agent: Any, like: Any, batch: int, workers: int = 0) -> World:
    """Return a world in which the agent learns from the examples of training in their order.

    :param like: the agent whose options the task has: an alternative of ParlAI's does not know ours.
    :param workers: processes that prepare batches; with any, the examples are in random order.
    """
    datatype = "train" if workers else "train:ordered"
    options = {"task": TASK, "datatype": datatype, "batchsize": batch, "num_workers": workers}
    return create_task(Opt({**like.opt, **options}), agent)


def steps(world: World, count: int) -> Callable[[], object]:
    """Return a call that takes ``count`` training steps."""
    return lambda: [world.parley() for _ in range(count)]


def load(model_file: str, **options: Any) -> RetrievalAgent:
    """Load a trained model, overriding some of its options."""
    agent: RetrievalAgent = create_agent_from_model_file(model_file, {"loglevel": "error", **options})
    return agent
