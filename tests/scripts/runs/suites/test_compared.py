"""What the suites of replies share."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import ModelFileError
from parlai_empathy.scripts.runs.suites.compared import check_any


def test_if_all_fail_and_there_is_nothing_else_it_is_an_error() -> None:
    with pytest.raises(ModelFileError, match=r"^b: is broken; all 2 failed$"):
        check_any(False, ["b: is broken", "a: is gone"])
    with pytest.raises(ModelFileError, match=r"^a: is broken$"):
        check_any(False, ["a: is broken"])
    check_any(True, ["a: is broken"])
    check_any(False, [])
