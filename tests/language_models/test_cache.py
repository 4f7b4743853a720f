"""The cache of answers on disk."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.language_models.cache import Cache, cache_key
from parlai_empathy.language_models.completion import Completion
from parlai_empathy.language_models.prompt import Message, Sampling

ANSWER = Completion("Oh dear 🙂\n", "stop", 7, 3)


def test_stored_answers_are_found_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "cache"
    cache = Cache(path)
    assert cache.find("a") is None
    cache.keep("a", ANSWER)
    cache.keep("a", replace(ANSWER, text="later"))
    cache.keep("b", ANSWER)
    cache.close()
    again = Cache(path)
    assert again.find("a") == Completion("later", "stop", 7, 3, cached=True)
    assert again.find("b") == replace(ANSWER, cached=True)
    assert len(again) == 2


def test_key_depends_on_every_part_of_the_request() -> None:
    text, chat = "hello", (Message("user", "hello"),)
    sampling = Sampling(seed=1)
    questions: list[Any] = [
        ("m", "", text, sampling),
        ("n", "", text, sampling),
        ("m", "http://a", text, sampling),
        ("m", "", "hello ", sampling),
        ("m", "", chat, sampling),
        ("m", "", (*chat, *chat), sampling),
        ("m", "", (Message("system", "hello"),), sampling),
        *(
            ("m", "", text, replace(sampling, **{name: value}))
            for name, value in {
                **{"temperature": 0.7, "top_p": 0.9, "max_tokens": 5, "frequency_penalty": 0.1},
                **{"presence_penalty": 0.1, "stop": ("x",), "seed": None},
            }.items()
        ),
    ]
    keys = [cache_key(*question) for question in questions]
    assert len(set(keys)) == len(keys)
    assert keys == [cache_key(*question) for question in questions]


@given(st.text(), st.text())
def test_keys_are_equal_only_for_equal_prompts(one: str, other: str) -> None:
    keys = cache_key("m", "", one, Sampling()), cache_key("m", "", other, Sampling())
    assert (keys[0] == keys[1]) == (one == other)


def test_key_is_stable_across_releases() -> None:
    # Paid answers must be found again: a different key means a new cache format.
    assert cache_key("m", "i", "hello", Sampling()) == (
        "9be346af2a22a61a938f34099d06aa06e30c01ffe002c1583adfe5376ef614ab"
    )


KILLED = """
import os, signal, sys
from parlai_empathy.language_models.cache import Cache
from parlai_empathy.language_models.completion import Completion
cache = Cache(sys.argv[1])
for number in range(100000):
    cache.keep(str(number), Completion("x" * 2000, "stop", 1, 1))
    print(number, flush=True)
"""


def test_stored_answers_survive_sigkill(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "cache")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) < 20:
            pass
        os.kill(process.pid, signal.SIGKILL)
        said = [int(line) for line in process.stdout.read().split("\n")[:-1]]
    cache = Cache(tmp_path / "cache")
    last = max([20, *said])
    assert all(cache.find(str(number)) for number in range(last + 1))
    assert len(cache) in (last + 1, last + 2), "the one that was being written may be there"
    cache.keep("more", ANSWER)


SHARING = """
import sys
from parlai_empathy.language_models.cache import Cache
from parlai_empathy.language_models.completion import Completion
cache = Cache(sys.argv[1])
for number in range(20):
    cache.keep(f"{sys.argv[2]}{number}", Completion(sys.argv[2], "stop", 1, 1))
    cache.keep("both", Completion("both", "stop", 1, 1))
"""


def test_concurrent_processes_share_a_cache(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    processes = [subprocess.Popen([sys.executable, "-c", SHARING, path, name]) for name in "abc"]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    cache = Cache(path)
    assert len(cache) == 3 * 20 + 1
    assert all(cache.find(f"{name}{number}") for name in "abc" for number in range(20))


def refused(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        Cache(path).find("0")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_non_database_file_is_rejected_and_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes, and no database at all. " * 20)
    said = refused(path)
    assert "cannot be used as a cache of answers (file is not a database): move it away" in said
    assert said.endswith("name another file with --lm-cache")
    assert path.read_text().startswith("These are my notes")


def test_foreign_database_is_rejected_and_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    with sqlite3.connect(path) as other:
        other.execute("create table completions (key, text)")
    before = path.read_bytes()
    assert "is the database of another program" in refused(path)
    assert path.read_bytes() == before


def test_corrupt_cache_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    cache = Cache(path)
    for number in range(5):
        cache.keep(str(number), Completion("x" * 5000, "stop", 1, 1))
    cache.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)  # all but the first page
    path.write_bytes(bytes(content))
    assert "cannot be used as a cache of answers (database disk image is malformed)" in refused(path)


def test_cache_that_cannot_be_written_is_rejected_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(tmp_path / "cache.db").close()
    connect = sqlite3.connect  # the superuser may write any file
    monkeypatch.setattr(sqlite3, "connect", lambda path, **how: connect(f"file:{path}?mode=ro", uri=True, **how))
    with pytest.raises(
        DataError, match=r"cache\.db cannot be used .*readonly database\): move it away, or name another"
    ):
        Cache(tmp_path / "cache.db")


def test_folder_as_cache_raises_data_error(tmp_path: Path) -> None:
    assert "unable to open database file" in refused(tmp_path)


def test_path_below_a_file_raises_data_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be used as a cache of answers" in refused(tmp_path / "file" / "cache")
