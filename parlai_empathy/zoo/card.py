"""Model cards: ``python -m parlai_empathy.zoo.card`` writes a page for each model of the zoo."""

from __future__ import annotations

from pathlib import Path

from parlai_empathy.zoo.model import ZooModel
from parlai_empathy.zoo.model_list import MODELS

CARDS = Path(__file__).with_name("cards")

_ABOUT = """\
## Data and use

Trained on {data}: English only, and it knows nothing beyond its training texts. For research use. Its output may be \
wrong or hurtful, and is no help in an emergency.
"""


def card(model: ZooModel) -> str:
    """Return a model's card in Markdown."""
    parts = [f"# {model.title}", f"`{model.path}`", *([model.remark] if model.remark else []), _origin(model)]
    return "\n\n".join([*parts, _numbers(model), _ABOUT.format(data=model.data)])


def _origin(model: ZooModel) -> str:
    mirror = f"If `EMPATHY_MIRROR` names a mirror, the model is taken from there: `{model.source.on_mirror}`."
    if model.recipe is not None:
        command = model.training(f"data/models/empathy/{model.name}/{model.file}")
        data = "`data` stands for ParlAI's data folder: `data` beside its package, or `--datapath`."
        return f"There is no public download. Train it:\n\n```console\n$ {command}\n```\n\n{data} {mirror}"
    checksum = f"SHA-256 `{model.sha256}`" if model.sha256 else "no checksum is published; the file's is logged"
    return f"Downloaded from <{model.url}> when it is first used ({checksum}). {mirror}"


def _numbers(model: ZooModel) -> str:
    """Return the numbers: the paper's, and those measured here."""
    measured = model.measured or {}
    names = list(dict.fromkeys([*model.paper, *measured]))
    if not names:
        return "## Numbers\n\nNot measured, and no published figure is listed."
    rows = [f"| {name} | {_shown(model.paper.get(name))} | {_shown(measured.get(name))} |" for name in names]
    notes = [] if model.measured else ["", "Not measured yet."]
    return "\n".join(["## Numbers", "", "| test fold | the paper's | measured |", "|---|---|---|", *rows, *notes])


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def main() -> None:
    """Write all cards, and delete those of models that no longer exist."""
    CARDS.mkdir(exist_ok=True)
    for file in CARDS.glob("*.md"):
        if file.stem not in MODELS:
            file.unlink()
    for model in MODELS.values():
        (CARDS / f"{model.name}.md").write_text(card(model), encoding="utf-8")


if __name__ == "__main__":
    main()
