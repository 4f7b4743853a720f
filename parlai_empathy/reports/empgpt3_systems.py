"""Who is compared on EmpGPT-3's prompts: models that are asked for their replies, and the people who replied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.build_data import modelzoo_path
from tqdm import tqdm

from parlai_empathy.agent_kit.trained.agent import model_options
from parlai_empathy.errors import EmpathyError
from parlai_empathy.reports.data_fingerprint import data_fingerprint
from parlai_empathy.reports.evaluations import Evaluations, Job
from parlai_empathy.reports.fingerprint import model_fingerprint
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.systems import System, systems_of

TASK = "empathy:empathetic_dialogues:LastReply"
"""The last Listener turn of each conversation, given all before it (Lee et al. 2022, section 4)."""

PEOPLE = "people"
"""What tables call those who replied in the data."""


@dataclass(frozen=True)
class Asked:
    """What came of asking models.

    :param systems: those that replied.
    :param logs: all that they were asked, with what could not be answered.
    :param failures: one line for each of the others.
    """

    systems: list[System] = field(default_factory=list)
    logs: list[list[LoggedReply]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def asked(
    models: Mapping[str, str], fold: str, options: Sequence[str], evaluations: Evaluations, datapath: str
) -> Asked:
    """Ask each model for its reply to each prompt, with a progress bar. One that fails does not keep the others.

    :param models: name to file, which may be ``zoo:...``.
    :param options: more of ``eval_model``'s, as they are typed.
    """
    found = Asked()
    for name, file in tqdm(models.items(), desc="asking models", disable=not models):
        try:
            path = str(Path(modelzoo_path(datapath, file)).expanduser())
            choices = (*_from_the_pool(path), *options)
            data = data_fingerprint(TASK, options, datapath)
            job = Job(model_fingerprint(path, options), TASK, fold, choices, data)
            log = evaluations.replies(job, path, datapath)
            found.systems.extend(systems_of(name, log))
            found.logs.append(log)
        except EmpathyError as error:
            found.failures.append(f"{name}: {error}")
            logging.warning(f"left out: {found.failures[-1]}")
    return found


def _from_the_pool(path: str) -> list[str]:
    """What lets a model that chooses its replies do so as in a chat: the true one is among a message's candidates."""
    return ["--eval-candidates", "fixed"] if "eval_candidates" in model_options(path) else []


def people_of(logs: Iterable[Sequence[LoggedReply]]) -> System | None:
    """Those who replied to what systems were asked; None where no log says what they did.

    Each item stands once, or as often as one system was asked it, whether or not it could be answered. What compares
    replies with people's has no part here: these would be compared with themselves.
    """
    most: Counter[LoggedReply] = Counter()
    for log in logs:
        for system in dict.fromkeys(one.system for one in log):
            most |= Counter(_asked_of(one) for one in log if one.system == system and one.references)
    items = list(most.elements())
    if not items:
        return None
    replies = [replace(one, reply=one.references[0], references=()) for one in items]
    return System(PEOPLE, replies, items=[one.answers for one in items])


def _asked_of(one: LoggedReply) -> LoggedReply:
    """What a log says of a reply's item, and nothing of the reply."""
    return LoggedReply("", one.context, one.references, one.emotion)
