"""Files written at the end of an evaluation or chat: ParlAI fails there if their folder is missing, and loses them."""

from __future__ import annotations

import errno
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
        if opt["report_filename"] and eval_model.is_primary_worker():
            file = _report_file(opt)
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            save({**opt, "report_filename": file}, report)

    eval_model._save_eval_stats = save_in_folder


def check_report(eval_model: Any) -> None:
    """Check before an evaluation that the file of ``--report-filename`` can be written.

    It may be a suffix of the model's name: then there must be a model file.
    """
    evaluate = eval_model.eval_model

    @functools.wraps(evaluate)
    def evaluate_with_report(opt: Any) -> Any:
        file = opt["report_filename"]
        if _is_suffix(file) and not opt.get("model_file"):
            raise OptionError(
                f"--report-filename {file}: it would be appended to the name of --model-file, which is not given: "
                "begin it with ./ to name a file in this folder"
            )
        if file:
            check_folder("--report-filename", _report_file(opt))
        return evaluate(opt)

    eval_model.eval_model = evaluate_with_report


def _is_suffix(file: str) -> bool:
    """Whether ParlAI appends it to the model's name; a path may also begin with ``./`` or ``../``."""
    return file.startswith(".") and not file.startswith(("./", "../"))


def _report_file(opt: Any) -> str:
    """Return the report's path, absolute: ParlAI takes one that begins with a point for a suffix."""
    file: str = opt["report_filename"]
    return os.path.abspath(opt["model_file"] + file if _is_suffix(file) else file)


def check_for_logs(world_logging: Any) -> None:
    """Check before an evaluation or chat that the file of ``--world-logs`` or ``--outfile`` can be written."""
    logger = world_logging.WorldLogger
    begin = logger.__init__

    @functools.wraps(begin)
    def begin_in_folder(self: Any, opt: Any) -> None:
        begin(self, opt)
        option = "outfile" if "outfile" in opt else "world_logs"  # a chat has only the former
        if opt.get(option):
            check_folder("--" + option.replace("_", "-"), opt[option])

    logger.__init__ = begin_in_folder


def check_folder(option: str, file: str) -> None:
    """Make a file's folder, and raise :class:`OptionError` if the file cannot be written there."""
    path = Path(file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise OptionError(
            f"{option} {file} cannot be written ({error.strerror}): name a file in another folder"
        ) from error


def make_for_logs(world_logging: Any) -> None:
    """Make the folder of ``--world-logs`` and ``--outfile`` in ParlAI's own format too."""
    logger = world_logging.WorldLogger
    write = logger.write_parlai_format

    @functools.wraps(write)
    def write_in_folder(self: Any, outfile: str) -> None:
        Path(outfile).parent.mkdir(parents=True, exist_ok=True)
        write(self, outfile)

    logger.write_parlai_format = write_in_folder


def keep_numbers(conversations: Any) -> None:
    """Keep the end of a log's name if it has a digit: ParlAI takes ``.7`` of ``t0.7`` for a file type to replace.

    So the logs ``t0.7`` and ``t0.9`` would be one file, ``t0.jsonl``.
    """
    path_of = conversations.Conversations._get_path

    @functools.wraps(path_of)
    def _get_path(datapath: str) -> str:
        ending = os.path.splitext(datapath)[1]
        has_digit = any(map(str.isdigit, ending))
        return str(path_of(f"{datapath}.jsonl" if has_digit else datapath))

    conversations.Conversations._get_path = staticmethod(_get_path)
