"""Where the HUMOD file is: the one that an option names, the official one, or this package's sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.builder import Source, obtain

SOURCE = Source(
    folder="humod",
    version="1.0",
    archive=None,
    files=("HUMOD_Dataset.TXT",),
    url="https://raw.githubusercontent.com/erincmer/HUMOD/master/HUMOD_Dataset.TXT",
)
SAMPLE = Path(__file__).parent / "sample" / "HUMOD_Dataset.TXT"


def build(opt: dict[str, Any]) -> Path:
    """The file to read: ``opt["humod_file"]``, or that of ``opt["edition"]`` (``full`` or ``sample``)."""
    if opt.get("humod_file"):
        return Path(opt["humod_file"]).expanduser()
    edition = opt.get("edition", "full")
    if edition == "sample":
        return SAMPLE
    if edition != "full":  # behind a colon ParlAI takes any value
        raise OptionError(f"--edition {edition}: must be full or sample")
    return obtain(opt["datapath"], SOURCE) / SOURCE.files[0]
