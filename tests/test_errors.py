"""The tree in the docstring of ``errors`` is the class hierarchy."""

from __future__ import annotations

import inspect
import re

import pytest

from parlai_empathy import errors


def classes() -> dict[str, type[Exception]]:
    """Return the exception classes that the module defines."""
    found = dict(inspect.getmembers(errors, inspect.isclass))
    return {name: kind for name, kind in found.items() if kind.__module__ == errors.__name__}


def drawn() -> dict[str, str]:
    """Return the entries of the tree, from name to description."""
    assert errors.__doc__ is not None
    return dict(re.findall(r"^ +[|`]-- (\w+) +(.+)$", errors.__doc__, re.MULTILINE))


def test_the_docstring_draws_each_class_and_no_other() -> None:
    assert drawn().keys() | {"EmpathyError"} == classes().keys()
    assert "\n    EmpathyError\n" in (errors.__doc__ or "")


@pytest.mark.parametrize("name", drawn())
def test_each_drawn_class_is_a_direct_child_of_the_root(name: str) -> None:
    assert classes()[name].__bases__[0] is errors.EmpathyError


@pytest.mark.parametrize("name", drawn())
def test_each_class_says_what_is_wrong(name: str) -> None:
    assert classes()[name].__doc__
    assert classes()[name].__doc__ != errors.EmpathyError.__doc__


def test_a_missing_library_can_be_caught_as_an_import_error_and_no_other_error_can() -> None:
    imports = {name for name, kind in classes().items() if issubclass(kind, ImportError)}
    assert imports == {"MissingDependencyError"}
    assert "ImportError" in drawn()["MissingDependencyError"]


@pytest.mark.parametrize("name", classes())
def test_an_error_shows_its_message_alone(name: str) -> None:
    assert str(classes()[name]("file.csv, line 3: no such column")) == "file.csv, line 3: no such column"


def test_what_another_library_says_becomes_one_short_line() -> None:
    assert errors.one_line(ValueError("two\n  lines\tand\r\n more ")) == "two lines and more"
    assert errors.one_line(ValueError("long " * 100)) == ("long " * 40)
    assert errors.one_line(ValueError()) == ""


def test_a_value_of_a_file_is_shown_in_one_short_line() -> None:
    assert errors.shown("two\nlines") == r"'two\nlines'"
    assert errors.shown({"a": 1}) == "{'a': 1}"
    assert errors.shown("x" * 100) == f"'{'x' * 27}...{'x' * 28}'"  # 60 characters in all
