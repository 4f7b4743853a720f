"""Folders for the files that an evaluation writes: without them ParlAI fails at its end, and loses the results."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any


def make_for_reports(eval_model: Any) -> None:
    """Make the folder of ``--report-filename``; a name that begins with ``./`` or ``../`` is a path, not a suffix."""
    save = eval_model._save_eval_stats

    @functools.wraps(save)
    def save_in_folder(opt: Any, report: Any) -> None:
        file = opt["report_filename"]
        if file.startswith(("./", "../")):  # ParlAI would append it to the model's name
            file = os.path.abspath(file)
        if file:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
        save({**opt, "report_filename": file}, report)

    eval_model._save_eval_stats = save_in_folder


def make_for_logs(world_logging: Any) -> None:
    """Make the folder of ``--world-logs`` and ``--outfile`` in ParlAI's own format too."""
    logger = world_logging.WorldLogger
    write = logger.write_parlai_format

    @functools.wraps(write)
    def write_in_folder(self: Any, outfile: str) -> None:
        Path(outfile).parent.mkdir(parents=True, exist_ok=True)
        write(self, outfile)

    logger.write_parlai_format = write_in_folder
