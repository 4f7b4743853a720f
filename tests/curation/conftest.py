"""The shared fixture of the curation tests: a check of error messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def assert_one_line() -> Callable[..., None]:
    """A check that an error's message is one line and that it names each of the given parts."""

    def check(error: BaseException, *parts: object) -> None:
        message = str(error)
        assert len(message.splitlines()) == 1, message
        for part in parts:
            assert str(part) in message, f"{part!r} is not in {message!r}"

    return check
