"""``parlai rate_crowd`` end to end, with a test double of Mechanical Turk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mturk_double import MturkDouble
from processes import parlai_command, succeeded

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.names import OWN_STUDIES
from parlai_empathy.scripts.rate_crowd import RateCrowd
from parlai_empathy.scripts.runs import rate_crowd

Run = Callable[..., str]


@pytest.fixture
def mturk(monkeypatch: pytest.MonkeyPatch) -> MturkDouble:
    mturk = MturkDouble()
    monkeypatch.setattr(rate_crowd, "client", lambda is_live: mturk)
    return mturk


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> str:
        RateCrowd.main(*arguments, "--store", str(tmp_path / "ratings.db"))
        return capsys.readouterr().out

    return run


def publish(run: Run, *more: str) -> str:
    terms = ["--study", "ed", "--url", "https://r.example.org/", "--reward", "1.20", "--raters", "10"]
    return run("publish", *terms, *more)


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> list[str]:
    asked: list[str] = []

    def read(prompt: str) -> str:
        asked.append(prompt)
        return text

    monkeypatch.setattr("builtins.input", read)
    return asked


def test_sandbox_batch_from_publish_to_close(run: Run, mturk: MturkDouble) -> None:
    # 10 x 1.20 plus 20 %.
    out = publish(run)
    assert "altogether $14.40" in out
    assert "Batch ed: 2 HIT(s) at https://workersandbox.mturk.com" in out
    assert mturk.hits["HIT1"]["MaxAssignments"] == 9
    mturk.submit("HIT1", "V", "A1", 1)
    mturk.submit("HIT1", "W", "A2", 2)
    mturk.submit("HIT2", "V", "A3", 3)
    out = run("status", "--batch", "ed")
    assert "HIT1  Assignable: 9 wanted, 9 available, 0 in progress, 0 reviewed" in out
    assert "A1  V  Submitted: unknown to the store" in out
    assert "A3  V  Submitted: unknown to the store; not this worker's first" in out
    assert "1 rejected" in run("reject", "--batch", "ed", "--workers", "W", "--reason", "Nothing was judged.")
    assert "1 approved" in run("approve", "--batch", "ed")
    assert "0 approved" in run("approve", "--batch", "ed")
    assert "1 approved" in run("approve", "--batch", "ed", "--workers", "W")
    bonus = ["bonus", "--batch", "ed", "--amount", "0.50", "--reason", "Great care.", "--workers", "V"]
    assert "1 paid; 0 already had it" in run(*bonus)
    assert "0 paid; 1 already had it" in run(*bonus)
    assert len(mturk.bonuses) == 1
    assert "2 HIT(s) closed" in run("close", "--batch", "ed")
    assert all("ExpireAt" in hit for hit in mturk.hits.values())


def test_live_publish_asks_for_the_amount_to_be_typed(
    run: Run, mturk: MturkDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = typed(monkeypatch, "14.40")
    assert "at https://worker.mturk.com" in publish(run, "--live", "true")
    assert asked == ["This spends money. Type 14.40 to continue: "]


@pytest.mark.parametrize("text", ["", "yes", "14.4", "144.0"])
def test_wrong_confirmation_spends_nothing(
    run: Run, mturk: MturkDouble, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    typed(monkeypatch, text)
    with pytest.raises(OptionError, match="nothing was spent"):
        publish(run, "--live", "true")
    assert mturk.calls == []


def test_end_of_input_at_confirmation_spends_nothing(
    run: Run, mturk: MturkDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", read)
    with pytest.raises(OptionError, match="nothing was spent"):
        publish(run, "--live", "true")


def test_yes_option_skips_confirmation(run: Run, mturk: MturkDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = typed(monkeypatch, "")
    publish(run, "--live", "true", "--yes", "true")
    mturk.submit("HIT1", "V", "A1")
    run("approve", "--batch", "ed", "--live", "true", "--yes", "true")
    assert asked == []


def test_rejected_worker_gets_bonus_only_when_named(run: Run, mturk: MturkDouble) -> None:
    publish(run)
    mturk.submit("HIT1", "V", "A1", 1)
    mturk.submit("HIT1", "W", "A2", 2)
    run("reject", "--batch", "ed", "--workers", "W", "--reason", "Nothing was judged.")
    bonus = ["bonus", "--batch", "ed", "--amount", "0.50", "--reason", "Great care."]
    assert "1 paid; 0 already had it" in run(*bonus)
    assert "1 paid; 0 already had it" in run(*bonus, "--workers", "W")
    assert len(mturk.bonuses) == 2


def test_fee_depends_on_raters_of_the_hit(run: Run, mturk: MturkDouble) -> None:
    publish(run, "--per-hit", "20")  # there are ten raters, from which on the fee is 40 %
    mturk.submit("HIT1", "V", "A1")
    assert "1 assignment(s), $1.20 each: $1.68 with" in run("approve", "--batch", "ed")  # 1.20 plus 40 %
    publish(run, "--batch", "few", "--raters", "5", "--per-hit", "20")
    mturk.submit("HIT2", "V", "A2")
    assert "1 assignment(s), $1.20 each: $1.44 with" in run("approve", "--batch", "few")  # 1.20 plus 20 %


def test_live_bonus_requires_confirmation(run: Run, mturk: MturkDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(run, "--live", "true", "--yes", "true")
    mturk.submit("HIT1", "V", "A1")
    typed(monkeypatch, "no")
    with pytest.raises(OptionError, match="nothing was spent"):
        run("bonus", "--batch", "ed", "--live", "true", "--amount", "0.50", "--reason", "Great care.")
    assert mturk.bonuses == []


@pytest.mark.parametrize("nobody", [[], [""]])
def test_empty_list_of_workers_pays_nobody(run: Run, mturk: MturkDouble, nobody: list[str]) -> None:
    """Such as that of a script whose list of workers is empty."""
    publish(run)
    mturk.submit("HIT1", "V", "A1")
    for action in (["approve"], ["bonus", "--amount", "0.50", "--reason", "Great care."]):
        with pytest.raises((SystemExit, OptionError)):
            run(*action, "--batch", "ed", "--workers", *nobody)
    assert mturk.assignments["A1"]["AssignmentStatus"] == "Submitted"
    assert mturk.bonuses == []


def test_link_includes_the_rater_parameter(run: Run) -> None:
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in run("link", "--url", "https://r.example.org/")
    link = run("link", "--url", "https://r.example.org/", "--id-parameter", "who")
    assert link == "https://r.example.org/?who={RATER}\n"


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["publish"], "--study is needed to publish"),
        (["publish", "--study", "ed"], "--url is needed to publish"),
        (["publish", "--study", "ed", "--url", "https://r.example.org"], "--reward is needed to publish"),
        (["link"], "--url is needed to link"),
    ],
)
def test_missing_options_raise_option_error(run: Run, mturk: MturkDouble, arguments: list[str], wrong: str) -> None:
    with pytest.raises(OptionError, match=wrong):
        run(*arguments)


@pytest.mark.parametrize(
    ("action", "option", "value", "users"),
    [
        ("close", "--workers", "V", "approve, reject, bonus"),
        ("approve", "--amount", "0.50", "bonus"),
        ("status", "--countries", "US", "publish"),
        ("publish", "--id-parameter", "PROLIFIC_PID", "link"),
        ("link", "--reward", "1.20", "publish"),
    ],
)
def test_option_of_another_action_is_refused(
    run: Run, mturk: MturkDouble, action: str, option: str, value: str, users: str
) -> None:
    publish(run)
    with pytest.raises(OptionError, match=f"^{option}: {action} does not use it, only {users}: leave it out$"):
        run(action, "--batch", "ed", option, value)
    assert not any("ExpireAt" in hit for hit in mturk.hits.values())


@pytest.mark.parametrize("study", ["chat", "collect_ed"])
def test_study_that_the_rating_site_cannot_serve_is_not_published(run: Run, mturk: MturkDouble, study: str) -> None:
    """The other sites cannot be shown in Mechanical Turk's frames, so nobody could submit the work."""
    with pytest.raises(OptionError, match=f"kind is {study.partition('_')[0]}: the rating site serves"):
        publish(run, "--study", study)
    assert mturk.calls == []


def test_work_is_reviewed_after_the_studys_logs_are_gone(run: Run, mturk: MturkDouble, tmp_path: Path) -> None:
    log, study = tmp_path / "a.jsonl", tmp_path / "own.yaml"
    log.write_text('{"context": ["Hello."], "reply": "Hi!"}\n', encoding="utf-8")
    study.write_text(f"extends: ed\nsystems: {{A: {log}}}\nratings_per_system: any\n", encoding="utf-8")
    publish(run, "--study", str(study))
    log.unlink()
    mturk.submit("HIT1", "V", "A1")
    assert "1 approved" in run("approve", "--study", str(study))


def test_unknown_batch_error_lists_batches(run: Run, mturk: MturkDouble) -> None:
    publish(run)
    with pytest.raises(OptionError, match=r"^--batch x: there is no such batch; the batches are: ed$"):
        run("status", "--batch", "x")


def test_batch_of_a_study_file_is_found_by_the_file(run: Run, mturk: MturkDouble, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text((OWN_STUDIES / "ed.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert "Batch mine: " in publish(run, "--study", str(file))
    assert "HIT1  Assignable" in run("status", "--study", str(file))
    with pytest.raises(OptionError, match=r"^--batch: name a batch; the batches are: mine$"):
        run("status")


def test_only_publishing_makes_a_store(run: Run, mturk: MturkDouble, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"ratings\.db: there is no such file"):
        run("status", "--batch", "ed")
    assert list(tmp_path.iterdir()) == []


def test_reject_requires_workers(run: Run, mturk: MturkDouble) -> None:
    publish(run)
    with pytest.raises(OptionError, match="--workers: name the workers"):
        run("reject", "--batch", "ed", "--reason", "Nothing was judged.")


def test_action_follows_the_command_name(tmp_path: Path) -> None:
    done = parlai_command("rate_crowd", "link", "--url", "https://ratings.example.org/", cwd=tmp_path)
    assert succeeded(done).stdout.startswith("https://ratings.example.org/?PROLIFIC_PID=")


@pytest.mark.parametrize("action", [[], ["pay"]])
def test_missing_or_unknown_action_error_lists_actions(tmp_path: Path, action: list[str]) -> None:
    done = parlai_command("rate_crowd", *action, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "name an action, one of publish, status, approve, reject, bonus, close, link"
    )
