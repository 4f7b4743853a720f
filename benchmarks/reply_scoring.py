"""Speed of scoring replies in batches, against one at a time: the same metrics, models, replies and process.

    python benchmarks/reply_scoring.py [--edition sample] [--replies 1000] [--alone 40] [--gpu]
    python benchmarks/reply_scoring.py --log FILE --epitome-model M --emotion-model M [--judge relevance=M]

Without a log the replies are the human ones of EmpatheticDialogues' valid and test folds, and the models (EPITOME,
EnDex, relevance and emotion, on MiniLM) are newly created: their speed does not depend on their quality. The loop
scores ``--alone`` replies, evenly spaced, and replies per second are compared; loading the models is not counted.

The baseline is the loop that one would write over the same models: one reply at a time, in float32. The same loop in
the precision that the models choose themselves is printed beside it. Both are compared with ``parlai score_responses``,
which scores batches of texts of similar length and encodes each distinct text once. So the ratio depends on how often a
system repeats itself; ``--different`` uses each distinct reply once.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel
from small_model import add_gpu, parser_of
from timing import ROUNDS, Comparison, seconds

from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.names import MODELS
from parlai_empathy.scoring.reply_metrics import Needs, reply_metrics
from parlai_empathy.scoring.systems import ReplyMetric
from parlai_empathy.scoring.word_metrics import Words
from parlai_empathy.tasks.empathetic_dialogues.build import build
from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues
from parlai_empathy.tasks.humod.build import SAMPLE as RATED
from parlai_empathy.tasks.red.build import SAMPLE as REACTIONS

# Tasks and agents of the new models; the tasks' samples only provide the classes.
_NEW = {
    "epitome": {"task": "empathy:epitome", "model": "empathy:epitome"},
    "endex": {"task": "empathy:red", "model": "empathy:text_classifier", "red_file": str(REACTIONS)},
    "relevance": {"task": "empathy:humod:Relevance", "model": "empathy:text_classifier", "humod_file": str(RATED)},
    "emotion": {"task": "empathy:empathetic_dialogues:SituationEmotion", "model": "empathy:text_classifier"},
}

_TOLERANCE = 0.02
"""Mean absolute difference of the two variants' scores that rounding may cause: they compute in other precisions."""


def main() -> None:
    """Measure, and print replies per second and their ratio, for each metric and for all of them."""
    parser = parser_of(__doc__)
    parser.add_argument("--log", help="a log that parlai score_responses reads")
    parser.add_argument("--replies", type=int, default=1_000, help="replies of the log's first system, evenly spaced")
    parser.add_argument("--alone", type=int, default=40, help="how many of them the loop scores")
    parser.add_argument("--different", action="store_true", help="use each distinct reply once")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    add_gpu(parser)
    for name in MODELS:
        parser.add_argument(f"--{name}-model")
    parser.add_argument("--judge", nargs="*", default=[], metavar="NAME=FILE")
    arguments = parser.parse_args()
    models = {name: file for name in MODELS if (file := vars(arguments)[f"{name}_model"])}
    judges = dict(judge.split("=", 1) for judge in arguments.judge)
    with tempfile.TemporaryDirectory() as folder:
        if not models and not judges:
            made = {name: _made(Path(folder), name, options, arguments.gpu) for name, options in _NEW.items()}
            judges = {"relevance": made.pop("relevance")}
            models = made
        log = read_replies_log(arguments.log) if arguments.log else _said(folder, arguments.edition)
        replies = chosen(log, arguments.replies, arguments.different)
        metrics = _metrics(models, judges)
        plain = _metrics(
            *({name: _plain(Path(folder), name, file) for name, file in each.items()} for each in (models, judges))
        )
        different = len({one.reply for one in replies})
        print(f"{len(replies)} replies, {different} of them distinct; {torch.get_num_threads()} thread(s)")
        alone = chosen(replies, arguments.alone, different=False)
        times = [report(name, plain[name], metrics[name], replies, alone, arguments.rounds) for name in metrics]
    print(_line("all together", [[sum(ways) for ways in zip(*each, strict=True)] for each in zip(*times, strict=True)]))


def _metrics(models: dict[str, str], judges: dict[str, str]) -> dict[str, ReplyMetric]:
    return reply_metrics(list(models), Needs(Words(), models, judges))[0]


def _plain(folder: Path, name: str, file: str) -> str:
    """Copy a model, with float32 as its precision; return the file of the copy."""
    path = Path(file)
    if name == "fluency":  # a language model, which is read in float32 anyway
        return file
    copy = folder / "plain" / name / path.name
    copy.parent.mkdir(parents=True)
    for ending in ("", ".opt", ".dict"):
        if Path(f"{path}{ending}").is_file():
            shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
    shutil.copytree(f"{path}.encoder", f"{copy}.encoder")
    Opt({**Opt.load(f"{path}.opt"), "precision": "float32"}).save(f"{copy}.opt")
    return str(copy)


def _made(folder: Path, name: str, options: dict[str, str], gpu: bool) -> str:
    """Create an untrained model; return its file."""
    (folder / name).mkdir()
    places = {"model_file": str(folder / name / name), "datapath": str(folder), "edition": "sample"}
    opt = TrainModel.setup_args().parse_kwargs(**options, **places, no_cuda=not gpu, loglevel="error", seed=1)
    create_agent(opt).save()
    return places["model_file"]


def _said(folder: str, edition: str) -> list[LoggedReply]:
    """Return the human replies of the valid and test folds, as if a system had written them."""
    data = build({"datapath": folder, "edition": edition})
    return [
        LoggedReply(
            turn.text, tuple(before.text for before in conversation.turns[:place][-4:]), emotion=conversation.emotion
        )
        for fold in ("valid", "test")
        for conversation in read_empathetic_dialogues(data / f"{fold}.csv")
        for place, turn in enumerate(conversation.turns)
        if place % 2
    ]


def chosen(log: Sequence[LoggedReply], number: int, different: bool) -> list[LoggedReply]:
    """Return up to ``number`` replies of the log's first system, evenly spaced."""
    replies = [one for one in log if one.system == log[0].system and one.reply.strip()]
    if different:
        replies = list({one.reply: one for one in replies}.values())
    number = min(number, len(replies))
    return [replies[place * len(replies) // number] for place in range(number)]


def report(
    name: str,
    plain: ReplyMetric,
    metric: ReplyMetric,
    replies: Sequence[LoggedReply],
    alone: Sequence[LoggedReply],
    rounds: int,
) -> list[list[float]]:
    """Measure one metric and print the result.

    :param plain: the same metric in float32.
    :returns: seconds per reply in each round, as three lists: one by one in float32, one by one, and in batches.
    """

    def one_by_one(way: ReplyMetric) -> NDArray[np.float64]:
        return np.concatenate([items(way, [one]) for one in alone])

    differences = np.abs(one_by_one(plain) - items(metric, alone))
    apart = np.nanmax(differences)
    # Levels and hits are whole numbers: at a near tie one may differ by 1.
    assert np.nanmean(differences) <= _TOLERANCE, f"{name}: the scores differ"
    one_by_one(metric)  # warm-up
    ways = [(partial(one_by_one, plain), alone), (partial(one_by_one, metric), alone)]
    ways.append((partial(items, metric, replies), replies))
    times = [[seconds(way) / len(read) for way, read in ways] for _ in range(rounds)]
    by_way = [list(each) for each in zip(*times, strict=True)]
    print(f"{_line(name, by_way)}; largest difference {apart:.4f}", flush=True)
    return by_way


def _line(name: str, by_way: Sequence[Sequence[float]]) -> str:
    """Format the rates and ratios of the three variants."""
    plain, own, together = (list(each) for each in by_way)
    beside = Comparison(own, together)
    return (
        f"{Comparison(plain, together).line(name, 1, 'replies')}; one at a time in its own precision "
        f"{1 / statistics.median(own):.1f}, {statistics.median(beside.ratios):.1f} times"
    )


def items(metric: ReplyMetric, replies: Sequence[LoggedReply]) -> NDArray[np.float64]:
    """Return a metric's values, one row per reply; NaN where it has none."""
    return np.stack([np.array(score.items, dtype=np.float64) for score in metric.score(replies)], axis=1)


if __name__ == "__main__":
    main()
