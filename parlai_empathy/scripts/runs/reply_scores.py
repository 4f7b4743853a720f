"""Report on scored replies, shared by ``parlai score_responses`` and ``parlai leaderboard --suite empgpt3``."""

from __future__ import annotations

from collections.abc import Sequence

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.analysis.exclusions import included
from parlai_empathy.rating.ratings_file import by_question, ratings_of
from parlai_empathy.reports import responses
from parlai_empathy.reports.report import Report, check_folder
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.names import ENDEX, MODELS, REPLY_METRICS, TITLES
from parlai_empathy.scoring.reply_metrics import Needs, reply_metrics
from parlai_empathy.scoring.systems import System, score_systems
from parlai_empathy.scoring.word_metrics import Words
from parlai_empathy.scripts.parts.named_files import by_name


def read_logs(opt: Opt) -> dict[str, list[LoggedReply]]:
    """Read the logs of ``--logs``; return their replies by name."""
    return {name: read_replies_log(file) for name, file in by_name("--logs", opt["logs"]).items()}


def response_report(
    title: str, systems: Sequence[System], opt: Opt, failed: Sequence[str] = (), notes: Sequence[str] = ()
) -> Report:
    """Score systems and return the report.

    :param failed: one line for each system that is left out.
    :param notes: on how the replies came about.
    """
    ratings = _ratings(opt, systems) if opt.get("ratings") else None
    if ratings is not None:
        responses.check_rated(systems, ratings)  # fail before scoring, not after
    metrics, left_out = reply_metrics(opt["metrics"], _needs(opt))
    for text in left_out:
        logging.info(f"left out: {text}")
    check_folder(opt.get("out"))  # a language model may take hours for what follows
    scores = score_systems(systems, metrics)
    if not any(one.scores for one in scores):
        raise OptionError(
            f"--metrics: nothing could be measured: {next(text for one in scores for text in one.missing)}"
        )
    intervals, plots = responses.intervals_table(scores, opt["resamples"], opt["seed"])
    tables = [responses.numbers_table(scores, [*failed, *left_out], notes), intervals]
    if differences := responses.differences_table(scores, opt["resamples"], opt["seed"]):
        tables.append(differences)
    by_turn = responses.turns_table(scores)
    by_rating = None if ratings is None else responses.ratings_table(scores, ratings)
    for table, drawn in filter(None, (by_turn, by_rating)):
        tables.append(table)
        plots += drawn
    return Report(title, tables, plots, responses.records(scores))


def _ratings(opt: Opt, systems: Sequence[System]) -> dict[str, dict[str, list[float]]]:
    names = {name for one in systems for name in responses.item_names(one)}
    return by_question(included(ratings_of(opt["ratings"], skip_bad_rows=opt["skip_bad_rows"])), names)


def _needs(opt: Opt) -> Needs:
    # Two columns of the same name would collide.
    taken = [*REPLY_METRICS, *TITLES, *([ENDEX] if opt.get("endex_model") else [])]
    return Needs(
        Words(opt["tokens"], opt["lower_case"]),
        {name: opt[f"{name}_model"] for name in MODELS if opt.get(f"{name}_model")},
        by_name("--judges", opt["judges"], taken),
        {name: opt[name] for name in ("datapath", "edition")},
        opt["nidf"],
        {"with_context": opt["endex_context"], "output": opt["endex_score"]},
    )
