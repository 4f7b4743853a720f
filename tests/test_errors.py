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


def test_docstring_tree_lists_exactly_the_defined_classes() -> None:
    assert drawn().keys() | {"EmpathyError"} == classes().keys()
    assert "\n    EmpathyError\n" in (errors.__doc__ or "")


@pytest.mark.parametrize("name", drawn())
def test_classes_in_tree_derive_directly_from_empathy_error(name: str) -> None:
    assert classes()[name].__bases__[0] is errors.EmpathyError


@pytest.mark.parametrize("name", drawn())
def test_each_class_defines_a_docstring(name: str) -> None:
    assert classes()[name].__doc__
    assert classes()[name].__doc__ != errors.EmpathyError.__doc__


def test_only_missing_dependency_error_is_an_import_error() -> None:
    imports = {name for name, kind in classes().items() if issubclass(kind, ImportError)}
    assert imports == {"MissingDependencyError"}
    assert "ImportError" in drawn()["MissingDependencyError"]


@pytest.mark.parametrize("name", classes())
def test_str_of_error_is_its_message(name: str) -> None:
    assert str(classes()[name]("file.csv, line 3: no such column")) == "file.csv, line 3: no such column"


def test_one_line_collapses_whitespace_and_truncates() -> None:
    assert errors.one_line(ValueError("two\n  lines\tand\r\n more ")) == "two lines and more"
    assert errors.one_line(ValueError("x" * 200)) == "x" * 200
    assert errors.one_line(ValueError("x" * 201)) == "x" * 197 + "..."
    assert errors.one_line(ValueError()) == ""


def test_shown_escapes_newlines_and_truncates() -> None:
    assert errors.shown("two\nlines") == r"'two\nlines'"
    assert errors.shown({"a": 1}) == "{'a': 1}"
    assert errors.shown("x" * 100) == f"'{'x' * 27}...{'x' * 28}'"  # 60 characters in all
