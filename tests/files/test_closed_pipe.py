"""Printing into a pipe that its reader closes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from parlai_empathy.files.closed_pipe import pipe_may_close

CODE = """
import sys
from parlai_empathy.files.closed_pipe import pipe_may_close
sys.stdin.readline()  # until the reader has gone
with pipe_may_close():
    print("first")
    print("second" * {times})
print("third", flush=True)
print("done", file=sys.stderr)
"""


@pytest.mark.parametrize("times", [1, 100_000])  # fails at the flush; already in print
def test_command_goes_on_silently_after_its_reader_has_gone(times: int) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", CODE.format(times=times)], stdin=pipe, stdout=pipe, stderr=pipe) as it:
        assert it.stdout
        it.stdout.close()
        it.stdout = None
        _, errors = it.communicate(b"\n")
    assert (errors, it.returncode) == (b"done\n", 0)


def test_output_is_printed_while_there_is_a_reader(capsys: pytest.CaptureFixture[str]) -> None:
    with pipe_may_close():
        print("first")
    print("second")
    assert capsys.readouterr().out == "first\nsecond\n"


def test_other_errors_are_raised() -> None:
    with pytest.raises(OSError, match="disk"), pipe_may_close():
        raise OSError("disk")
