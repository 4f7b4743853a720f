"""Who is compared on EmpGPT-3's prompts: models that are asked for their replies, and the people who replied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.build_data import modelzoo_path
from tqdm import tqdm

from parlai_empathy.agent_kit.trained.agent import model_options
from parlai_empathy.errors import EmpathyError, ModelFileError
from parlai_empathy.reports.evaluations import Evaluations, Job
from parlai_empathy.reports.fingerprint import model_fingerprint
from parlai_empathy.scoring.systems import System, systems_of

TASK = "empathy:empathetic_dialogues:LastReply"
"""The last Listener turn of each conversation, given all before it (Lee et al. 2022, section 4)."""

PEOPLE = "people"
"""What tables call those who replied in the data."""


def asked(
    models: Mapping[str, str], fold: str, options: Sequence[str], evaluations: Evaluations, datapath: str
) -> list[System]:
    """Ask each model for its reply to each prompt, with a progress bar. One that fails does not keep the others.

    :param models: name to file, which may be ``zoo:...``.
    :param options: more of ``eval_model``'s, as they are typed.
    :raises ModelFileError: if all fail.
    """
    systems: list[System] = []
    failures = []
    for name, file in tqdm(models.items(), desc="asking models", disable=not models):
        try:
            path = str(Path(modelzoo_path(datapath, file)).expanduser())
            job = Job(model_fingerprint(path), TASK, fold, (*_from_the_pool(path), *options))
            systems += systems_of(name, evaluations.replies(job, path, datapath))
        except EmpathyError as error:
            failures.append(f"{name}: {error}")
            logging.warning(f"left out: {failures[-1]}")
    if failures and not systems:
        raise ModelFileError(failures[0] + (f"; all {len(failures)} failed" if failures[1:] else ""))
    return systems


def _from_the_pool(path: str) -> list[str]:
    """What lets a model that chooses its replies do so as in a chat: the true one is among a message's candidates."""
    return ["--eval-candidates", "fixed"] if "eval_candidates" in model_options(path) else []


def people_of(system: System) -> System | None:
    """Those who replied to the same prompts; None where a log does not say what they did."""
    replies = [
        replace(one, reply=one.references[0], system=PEOPLE, item="") for one in system.replies if one.references
    ]
    return System(PEOPLE, replies) if replies else None
