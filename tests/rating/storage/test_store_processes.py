"""Several processes share a store, and one is killed midway."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_studies import LIKERT

from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Outcome
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study import Study

PATIENCE = 120

# Answers for raters until nothing is left, and prints each answer as soon as it is acknowledged. Every second rater
# submits the answer and gets the next item in one transaction.
RATE = """
import sys
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.storage.store import open_store
from parlai_empathy.rating.study.study_file import read_study

url, study, name = sys.argv[1:]
desk = Desk(open_store(url), read_study(study))
for number in range(1000):
    rater = f"{name}-{number}"
    found = desk.next_item(rater)
    while isinstance(found, Assignment):
        if number % 2:
            id, (outcome, found) = found.id, desk.answer_and_next(found.id, rater, {"liking": 4}, key=found.id)
        else:
            id, outcome, found = found.id, desk.answer(found.id, rater, {"liking": 4}, key=found.id), None
        print(id, rater, outcome.name, flush=True)
        found = found or desk.next_item(rater)
    if found.name == "COMPLETE":
        break
"""


@pytest.fixture
def study(study_of: Callable[..., Study], write_log: Callable[..., str]) -> Study:
    systems = {name: write_log(name, 20) for name in "AB"}
    return study_of(LIKERT, systems=systems, items_per_rater=10, ratings_per_item=3)


def start(url: str, study: Study, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RATE, url, study.where, name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(url: str) -> Counter[str]:
    """Return the number of answers of each assignment."""
    store = open_store(url)
    with store.reading() as t:
        return Counter(row["assignment"] for row in t.rows("SELECT assignment FROM rating_answers"))


def test_processes_share_a_study(store_url: str, study: Study) -> None:
    """All of them start at once, on a store that does not exist yet."""
    processes = [start(store_url, study, f"p{number}") for number in range(3)]
    acknowledged: list[list[str]] = []
    for process in processes:
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        acknowledged += [line.split() for line in out.splitlines()]
    assert {outcome for _, _, outcome in acknowledged} == {"STORED"}
    ids = [id for id, _, _ in acknowledged]
    assert stored(store_url) == Counter(ids) == dict.fromkeys(ids, 1)
    assert len(ids) == 2 * 20 * 3
    with open_store(store_url).reading() as t:
        assert {row["filled"] for row in t.rows("SELECT filled FROM rating_items")} == {3}
        assert not t.rows("SELECT 1 FROM rating_assignments GROUP BY rater, subject HAVING count(*) > 1")


def test_killed_process_neither_loses_nor_duplicates_answers(tmp_path: Path, study: Study) -> None:
    url = str(tmp_path / "ratings.db")
    acknowledged: dict[str, str] = {}
    for round_ in range(3):
        process = start(url, study, f"r{round_}")
        assert process.stdout
        for _ in range(15):
            id, rater, outcome = process.stdout.readline().split()
            assert outcome == "STORED"
            acknowledged[id] = rater
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate(timeout=PATIENCE)
        acknowledged.update((line.split()[0], line.split()[1]) for line in rest.splitlines() if line.endswith("STORED"))
        there = stored(url)
        assert set(there.values()) == {1}
        assert set(acknowledged) <= set(there)
        assert len(there) - len(acknowledged) <= round_ + 1  # each kill may come between storing and printing
    desk = Desk(open_store(url), study)
    for id, rater in acknowledged.items():  # all answers are sent again
        assert desk.answer(id, rater, {"liking": 4}, key=id) is Outcome.REPEATED
    assert stored(url) == there
