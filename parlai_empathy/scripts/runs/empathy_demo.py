"""Implementation of ``parlai empathy_demo``: trains on sample dialogues, answers three messages, and evaluates."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.agents import create_agent_from_model_file
from parlai.core.opt import Opt
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainLoop, TrainModel, set_seed
from tqdm import tqdm

from parlai_empathy.errors import ModelFileError
from parlai_empathy.metrics.names import METRIC_NAMES
from parlai_empathy.metrics.precision_at_k import key
from parlai_empathy.scripts.parts.stopping import stopped
from parlai_empathy.signature import signature_lines
from parlai_empathy.zoo.model_list import MODELS

RECIPE = MODELS["retrieval_sample"].recipe or ""
SHOWN = (*(key(1, protocol) for protocol in ("shuffled", "ordered", "inline")), "avg_bleu")
MESSAGES = (
    "I finally passed my driving test after failing it twice!",
    "My dog died last week and the house feels so empty.",
    "I have a job interview tomorrow and I can't sleep, I'm so nervous.",
)


def run(opt: Opt) -> None:
    """Train (resume interrupted training, skip it if complete), answer, evaluate."""
    model_file = opt["demo_model"]
    Path(model_file).absolute().parent.mkdir(parents=True, exist_ok=True)
    if is_trained(model_file):
        print(f"1. Already trained: {model_file} (delete {model_file}* to train again)")
    else:
        print(f"1. Training on 288 sample dialogues; the model goes to {model_file}")
        try:
            train(model_file)
        except KeyboardInterrupt:
            raise stopped("Run the same command again to resume from the last checkpoint.") from None
    print("\n2. Three messages that it has never seen")
    answer(model_file)
    print("\n3. Evaluating on 64 other dialogues")
    report = evaluate(model_file)
    print(table({name: report[name] for name in SHOWN}))
    print(next_steps(model_file))


def is_trained(model_file: str) -> bool:
    """Whether training has finished, including the final validation, and not only saved some checkpoint."""
    try:
        stats = json.loads(Path(f"{model_file}.checkpoint.trainstats").read_bytes())
        opt = Opt.load(f"{model_file}.checkpoint.opt")
    except (OSError, ValueError, ModelFileError):  # training will report what is wrong with them
        return False
    is_over = stats["total_epochs"] >= opt["num_epochs"] or stats["impatience"] >= opt["validation_patience"]
    validated = [report["train_steps"] for report in stats["valid_reports"]]
    return is_over and validated[-1:] == [stats["train_steps"]] and Path(model_file).exists()


def train(model_file: str) -> None:
    """Train with the zoo's recipe for the sample, with a progress bar instead of ParlAI's log."""
    arguments = [*shlex.split(RECIPE), "--model-file", model_file, "--log-every-n-steps", "5", "--loglevel", "error"]
    opt = TrainModel.setup_args().parse_args(arguments)
    logging.set_log_level("ERROR")
    loop = TrainLoop(opt)
    set_seed(opt["seed"])  # as train_model does at this point; it determines the order of examples
    layout = "{l_bar}{bar}| {n:.1f}/{total} epochs, {elapsed}"
    with tqdm(total=opt["num_epochs"], bar_format=layout) as bar:
        for _ in loop.train_steps():
            bar.update(min(loop._total_epochs, opt["num_epochs"]) - bar.n)


def evaluate(model_file: str) -> dict[str, Any]:
    """Return the report on the test fold; ParlAI's own printout is suppressed."""
    with contextlib.redirect_stdout(io.StringIO()):
        report = EvalModel.main(
            model_file=model_file,
            task="empathy:empathetic_dialogues",
            edition="sample",
            datatype="test",
            loglevel="error",
        )
    return dict(report)


def table(report: dict[str, Any]) -> str:
    """Return the paper's metrics as a small table, followed by their signatures."""
    rows = [f"   {'metric':<22}{'value':>8}   (chance)"]
    ours = {name: report[name] for name in METRIC_NAMES if name in report}
    for name, metric in ours.items():
        is_share = name.startswith("p_at")
        value = float(metric) * (100 if is_share else 1)
        chance = f" %  ({name.split('_')[2]} %)" if is_share else ""
        rows.append(f"   {METRIC_NAMES[name][0]:<22}{value:>8.1f}{chance}")
    signatures = [line.split(": ", 1)[1] for line in signature_lines(ours)]
    return "\n".join([*rows, "   How they were made:", *(f"   {text}" for text in signatures)])


def answer(model_file: str) -> None:
    """Print the model's answers to :data:`MESSAGES`, each in a new conversation."""
    agent = create_agent_from_model_file(model_file, Opt(interactive_mode=True))
    for message in MESSAGES:
        print(f"   Speaker:  {message}\n   Listener: {agent.respond(message)}")
        agent.reset()


def next_steps(model_file: str) -> str:
    """Return the commands to try next."""
    parlai = _called()
    return f"""
Chat with it:
   {parlai} interactive -mf {shlex.quote(model_file)}
Train on the real data (25,000 conversations, downloaded once):
   {parlai} train_model -t empathy:empathetic_dialogues -m empathy:retrieval -mf model/retrieval"""


def _called() -> str:
    """Return ``parlai``, or its path if the environment in which it is installed is not active."""
    called, found = Path(sys.argv[0]), shutil.which("parlai")
    is_known = called.name != "parlai" or (found is not None and called.exists() and called.samefile(found))
    return "parlai" if is_known else shlex.quote(str(called))
