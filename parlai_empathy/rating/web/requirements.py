"""The libraries that web pages need, which are an optional dependency."""

from __future__ import annotations

from importlib import import_module

from parlai_empathy.errors import MissingDependencyError


def check_installed() -> None:
    """Check that the libraries for web pages are installed.

    :raises MissingDependencyError: if one of them is missing.
    """
    for name in ("starlette", "uvicorn", "jinja2"):
        try:
            import_module(name)
        except ImportError as error:
            raise MissingDependencyError(
                f'web pages need {name}, which is not installed: pip install "parlai-empathy[site]"'
            ) from error
