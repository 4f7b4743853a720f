"""Shared fixtures of the rating site's tests: studies with invented replies, and a site without a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rating_site_lab import EVIL, Lab
from tiny_studies import Clock

MakeStudy = Callable[..., Path]


@pytest.fixture
def make_study(tmp_path: Path) -> MakeStudy:
    """Writes a study that extends a built-in one, and its logs: ``make_study("ed", "ABC", gold=False)``."""

    def make(base: str, systems: str = "AB", items: int = 12, **keys: Any) -> Path:
        for name in systems:
            records = [
                {
                    "context": [f"I saw heron {number}.", "Where was that?", f"By the pond. {EVIL}"][: 1 + number % 3],
                    "reply": f"{name} is glad of heron {number}. {EVIL}",
                    "reference": f"Lovely, all {number} of them.",
                }
                for number in range(1, items + 1)
            ]
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        path = tmp_path / "herons.yaml"
        logs = {name: f"{name}.jsonl" for name in systems}
        path.write_text(yaml.safe_dump({"extends": base, "systems": logs, **keys}))
        return path

    return make


@pytest.fixture
def lab(make_study: MakeStudy, tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    """Makes a lab: ``lab("ed", systems="ABC", minutes=1)``; a second one shares its store, as after a restart."""
    labs: list[Lab] = []

    def make(base: str = "humod", options: dict[str, Any] | None = None, **keys: Any) -> Lab:
        study = make_study(base, **keys)
        labs.append(Lab(study, tmp_path / "ratings.db", labs[0].clock if labs else Clock(), **(options or {})))
        return labs[-1]

    yield make
    for one in labs:
        one.store.close()
