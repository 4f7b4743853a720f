"""``parlai emotion``, with a minimal trained classifier."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import run
from tiny_judge import train_judge

from parlai_empathy.errors import DataError, ModelFileError, OptionError
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scripts.emotion import Emotion
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

TEXTS = ["I passed my driving test!", "My dog died last week"]
Printed = Callable[..., list[str]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_judge(
        tmp_path_factory.mktemp("emotion"), task="empathy:empathetic_dialogues:SituationEmotion", max_train_steps=1
    )


@pytest.fixture
def printed(model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Printed:
    """Run the command; return the lines that it prints."""

    def run(*arguments: str, stdin: str | None = None) -> list[str]:
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        Emotion.main("-mf", str(model), *arguments)
        return capsys.readouterr().out.splitlines()

    return run


def line(found: list[tuple[str, float]], text: str) -> str:
    return "  ".join(f"{label} {probability:.3f}" for label, probability in found) + f"\t{text}"


def test_output_has_one_line_per_text_with_top_emotions(printed: Printed, model: Path) -> None:
    found = Classifier(str(model)).top(TEXTS, 3)
    assert printed(*TEXTS) == [line(one, text) for one, text in zip(found, TEXTS, strict=True)]


def test_text_of_several_lines_is_printed_on_one(printed: Printed, model: Path) -> None:
    (found,) = Classifier(str(model)).top(["My dog died.\nI miss\thim."], 3)
    assert printed("My dog died.\nI miss\thim.") == [line(found, "My dog died. I miss him.")]


def test_probabilities_are_sorted_and_sum_to_one(model: Path) -> None:
    (found,) = Classifier(str(model)).top(TEXTS[:1], 99)
    assert {label for label, _ in found} == set(EMOTIONS)
    assert [probability for _, probability in found] == sorted((p for _, p in found), reverse=True)
    assert sum(probability for _, probability in found) == pytest.approx(1)


def test_top_limits_the_number_of_emotions(printed: Printed) -> None:
    (only,) = printed(TEXTS[0], "--top", "1")
    label, _, rest = only.partition(" ")
    assert label in EMOTIONS
    assert rest.endswith(f"\t{TEXTS[0]}")


def test_texts_are_read_from_standard_input(printed: Printed) -> None:
    assert printed(stdin="\n".join([TEXTS[0], "", f"  {TEXTS[1]}  "])) == printed(*TEXTS)
    assert printed(stdin="\n\n") == []


def test_predictions_do_not_depend_on_other_texts(printed: Printed) -> None:
    many = [*TEXTS, "a longer text which goes on and on, and says nothing of any importance to anybody", *TEXTS]
    assert printed(*many)[:2] == printed(*many)[3:] == printed(TEXTS[0]) + printed(TEXTS[1])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((" ",), "TEXT: the text is empty: write at least one word"),
        ((TEXTS[0], "--top", "0"), "--top 0: must be at least 1"),
    ],
)
def test_empty_text_or_zero_top_raises_option_error(printed: Printed, arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        printed(*arguments)


def test_invalid_utf8_error_names_line_or_argument(printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"fine\n\ncaf\xe9\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(DataError, match=r"^standard input, line 3: not UTF-8: write the text as UTF-8$"):
        printed()
    with pytest.raises(DataError, match=r"^TEXT 2: not UTF-8: write the text as UTF-8$"):
        printed("fine", "caf\udce9")


def test_closed_output_pipe_causes_no_broken_pipe_error(model: Path, tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("I passed my test!\n" * 2000)
    command = f"{sys.executable} -m parlai emotion -mf {model} --top 1 < texts | head -1"
    result = run(["bash", "-c", command], tmp_path)
    assert len(result.stdout.splitlines()) == 1
    assert "BrokenPipe" not in result.stderr


def test_missing_or_non_classifier_model_raises(tmp_path: Path) -> None:
    options: dict[str, Any] = {"texts": TEXTS}
    with pytest.raises(ModelFileError, match="is not a trained model"):
        Emotion.main("-mf", str(tmp_path / "none"), *options["texts"])
    (tmp_path / "other").write_bytes(b"")
    (tmp_path / "other.opt").write_text('{"model": "repeat_label"}')
    with pytest.raises(OptionError, match="repeat_label does not predict classes: name a model of a classifier"):
        Emotion.main("-mf", str(tmp_path / "other"), *options["texts"])


def test_reply_judge_model_raises_option_error(tmp_path: Path) -> None:
    model = train_judge(tmp_path, task="empathy:humod:NextUtterance", max_train_steps=1)
    with pytest.raises(
        OptionError, match="was trained to tell true replies from others: name a model that was trained on classes"
    ):
        Emotion.main("-mf", str(model), *TEXTS)


def test_missing_zoo_model_error_names_training_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path))
    with pytest.raises(ModelFileError, match=r"train it with `parlai train_model .*SituationEmotion"):
        Emotion.main("--datapath", str(tmp_path / "data"), *TEXTS)
