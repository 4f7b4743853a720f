"""Run the benchmarks that need no trained model, one after another, and write docs/benchmarks.md: ``make bench``.

    python benchmarks/run_all.py [NAME ...] [--edition sample]

With NAMEs only those benchmarks are run, and the page keeps the sections of the others. If there is a GPU, benchmarks
that support it are also run on it.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

from parlai_empathy.modules.speed.precision import use_bfloat16

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
# By file name: the section's title, and whether the benchmark takes --edition.
BENCHMARKS = {
    "retrieval_pool": ("One reply from a pool of a million", True),
    "precision_at_k": ("P@1,100 over the test fold", True),
    "retrieval_training": ("Training the paper's retrieval Transformer", True),
    "hf_fine_tuning": ("Fine-tuning MiniLM to retrieve", True),
    "diverse_beam": ("Searching for replies", True),
    "generative_training": ("Training the generative Transformer", True),
    "ed_loading": ("Loading and serving EmpatheticDialogues", False),
    "reply_scoring": ("Scoring replies with EPITOME, EnDex, relevance and emotion", True),
    "curation": ("Curating RED", False),
    "help": ("`parlai --help`", False),
}

# Also run on a GPU, with larger batches, which it needs to be busy, and with processes that prepare them.
_WITH_WORKERS = ["--gpu", "--workers", "8"]
ON_A_GPU = {
    "retrieval_training": [*_WITH_WORKERS, "--steps", "5"],
    "hf_fine_tuning": [*_WITH_WORKERS, "--batch", "128", "--steps", "5"],
    "diverse_beam": ["--gpu"],
    "generative_training": [*_WITH_WORKERS, "--batch", "512", "--steps", "4"],
    "reply_scoring": ["--gpu"],
}


def main() -> None:
    """Run the benchmarks and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; by default, all")
    parser.add_argument("--edition", choices=["full", "sample"], default="full")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; available: {', '.join(BENCHMARKS)}")
    parts = _written() if arguments.names else {}
    for name in arguments.names or BENCHMARKS:
        parts[BENCHMARKS[name][0]] = _section(name, *BENCHMARKS[name], arguments.edition)
    sections = [parts[title] for title, _ in BENCHMARKS.values() if title in parts]
    PAGE.write_text("\n\n".join([_head(), *sections]) + "\n", encoding="utf-8")


def _written() -> dict[str, str]:
    """Return the page's present sections by title."""
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    return {section.partition("\n")[0]: f"## {section.strip()}" for section in sections}


def _head() -> str:
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    threads = os.environ.get("OMP_NUM_THREADS", os.cpu_count())
    precision = "bfloat16" if use_bfloat16("auto", torch.device("cpu")) else "float32"
    return (
        "# Benchmarks\n\n"
        "`make bench` writes this page. Each benchmark runs ours and the alternative on the same work, alternating, "
        "at least five times each. Before, it checks that both give the same answers (in other precisions, and at near "
        "ties, about the same); its file in `benchmarks/` says what is "
        "compared. Rates are medians; after the median ratio, the lowest and highest are given in parentheses.\n\n"
        f"Python {platform.python_version()}, {_processor()}, {os.cpu_count()} cores, {threads} threads per process, "
        f"{gpu}. On a CPU `--precision auto` means {precision} here."
    )


def _processor() -> str:
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # not in older releases
    return str(capabilities.get("cpu_name") or platform.machine())


def _section(name: str, title: str, has_editions: bool, edition: str) -> str:
    command = [f"benchmarks/{name}.py", *(["--edition", edition] if has_editions and edition != "full" else [])]
    commands = [command]
    if name in ON_A_GPU and torch.cuda.is_available():
        commands.append([*command, *ON_A_GPU[name]])
    return "\n\n".join([f"## {title}", *map(_said, commands)])


def _said(command: list[str]) -> str:
    """Run a benchmark; return the command, its output and its duration, as Markdown."""
    print(f"== {' '.join(command)}", flush=True)
    begin = time.monotonic()
    process = subprocess.run(
        [sys.executable, *command], cwd=HERE.parent, capture_output=True, text=True, encoding="utf-8"
    )
    if process.returncode:
        sys.exit(f"{command[0]} failed: {process.stderr[-2000:]}")
    took = time.monotonic() - begin
    print(process.stdout, flush=True)
    return f"```console\n$ python {' '.join(command)}\n{process.stdout.strip()}\n```\n\n{took:.0f} s."


if __name__ == "__main__":
    main()
