"""Files that an evaluation writes: if their folder is missing ParlAI fails at its end, and loses the results."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from parlai_empathy.errors import OptionError


def make_for_reports(eval_model: Any) -> None:
    """Make the folder of ``--report-filename``; a name that begins with ``./`` or ``../`` is a path, not a suffix.

    Of several processes only the first writes the report: ParlAI lets all write to the same file.
    """
    save = eval_model._save_eval_stats

    @functools.wraps(save)
    def save_in_folder(opt: Any, report: Any) -> None:
        file = opt["report_filename"]
        if file.startswith(("./", "../")):  # ParlAI would append it to the model's name
            file = os.path.abspath(file)
        if file and eval_model.is_primary_worker():
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            save({**opt, "report_filename": file}, report)

    eval_model._save_eval_stats = save_in_folder


def report_missing_base(eval_model: Any) -> None:
    """Check before an evaluation that there is a model file to whose name ``--report-filename`` can be appended."""
    evaluate = eval_model.eval_model

    @functools.wraps(evaluate)
    def evaluate_with_base(opt: Any) -> Any:
        file = opt["report_filename"]
        if file.startswith(".") and not file.startswith(("./", "../")) and not opt.get("model_file"):
            raise OptionError(
                f"--report-filename {file}: it would be appended to the name of --model-file, which is not given: "
                "begin it with ./ to name a file in this folder"
            )
        return evaluate(opt)

    eval_model.eval_model = evaluate_with_base


def make_for_logs(world_logging: Any) -> None:
    """Make the folder of ``--world-logs`` and ``--outfile`` in ParlAI's own format too."""
    logger = world_logging.WorldLogger
    write = logger.write_parlai_format

    @functools.wraps(write)
    def write_in_folder(self: Any, outfile: str) -> None:
        Path(outfile).parent.mkdir(parents=True, exist_ok=True)
        write(self, outfile)

    logger.write_parlai_format = write_in_folder
