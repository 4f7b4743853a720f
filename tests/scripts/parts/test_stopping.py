"""The message and the exit status of a command that is stopped."""

from __future__ import annotations

import pytest

from parlai_empathy.scripts.parts.stopping import stopped


@pytest.mark.parametrize(
    ("advice", "said"), [("", "\nStopped.\n"), ("It goes on tomorrow.", "\nStopped. It goes on tomorrow.\n")]
)
def test_stopped_command_prints_message_and_exits_130(
    capsys: pytest.CaptureFixture[str], advice: str, said: str
) -> None:
    assert stopped(advice).code == 130
    assert capsys.readouterr() == ("", said)
