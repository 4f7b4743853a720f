"""The systems compared on EmpGPT-3's prompts: models, and the people whose replies are in the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import parlai.utils.logging as logging
from tqdm import tqdm

from parlai_empathy.agent_kit.trained.agent import model_options, model_path
from parlai_empathy.errors import EmpathyError
from parlai_empathy.reports.evaluations.data_fingerprint import data_fingerprint
from parlai_empathy.reports.evaluations.evaluations import Evaluations, Job
from parlai_empathy.reports.evaluations.model_fingerprint import model_fingerprint
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.systems import System, systems_of

TASK = "empathy:empathetic_dialogues:LastReply"
"""The last Listener turn of each conversation, given all before it (Lee et al. 2022, section 4)."""

PEOPLE = "people"
"""The name of the people's replies in tables."""


@dataclass(frozen=True)
class Asked:
    """The replies of models.

    :param systems: the models that replied.
    :param logs: their logs, including items without an answer.
    :param failures: one line for each model that failed.
    """

    systems: list[System] = field(default_factory=list)
    logs: list[list[LoggedReply]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def asked(
    models: Mapping[str, str], fold: str, options: Sequence[str], evaluations: Evaluations, datapath: str
) -> Asked:
    """Let each model reply to each prompt, with a progress bar. If one fails, the others still reply.

    :param models: model files by name; a file may be ``zoo:...``.
    :param options: further command-line options of ``eval_model``.
    """
    found = Asked()
    for name, file in tqdm(models.items(), desc="getting replies", disable=not models):
        try:
            path = str(model_path(file, datapath))
            choices = (*_from_the_pool(path), *options)
            data = data_fingerprint(TASK, options, datapath)
            job = Job(model_fingerprint(path, choices, datapath), TASK, fold, choices, data)
            log = evaluations.replies(job, path, datapath)
            found.systems.extend(systems_of(name, log))
            found.logs.append(log)
        except EmpathyError as error:
            found.failures.append(f"{name}: {error}")
            logging.warning(f"left out: {found.failures[-1]}")
    return found


def _from_the_pool(path: str) -> list[str]:
    """Return the options that let a retrieval model choose from its pool, as in a chat.

    By default it would choose from the message's candidates, which include the true reply.
    """
    return ["--eval-candidates", "fixed"] if "eval_candidates" in model_options(path) else []


def people_of(logs: Collection[Sequence[LoggedReply]]) -> System | None:
    """Return the people's replies to the logged items as a system; None if no log has references.

    An item occurs once, or as often as it occurs in one system's log, whether or not it was answered. The replies have
    no references, so metrics that need references skip them: they would be compared with themselves.
    """
    # Some logs may lack them.
    emotions = {one.answers: one.emotion for log in logs for one in log if one.emotion}
    turns = {one.answers: one.turn for log in logs for one in log if one.turn}
    most: Counter[LoggedReply] = Counter()
    for log in logs:
        for system in dict.fromkeys(one.system for one in log):
            referred = [one for one in log if one.system == system and one.references]
            most |= Counter(_item_of_reply(one, emotions, turns) for one in referred)
    items = list(most.elements())
    if not items:
        return None
    replies = [replace(one, reply=one.references[0], references=()) for one in items]
    return System(PEOPLE, replies, items=[one.answers for one in items])


def _item_of_reply(one: LoggedReply, emotions: Mapping[Any, str], turns: Mapping[Any, int]) -> LoggedReply:
    """Return the item of a logged reply, without the reply."""
    emotion, turn = one.emotion or emotions.get(one.answers), one.turn or turns.get(one.answers)
    return LoggedReply("", one.context, one.references, emotion, turn=turn)
