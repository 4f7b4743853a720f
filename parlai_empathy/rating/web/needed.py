"""The libraries of web pages, which not everybody has installed."""

from __future__ import annotations

from importlib import import_module

from parlai_empathy.errors import MissingDependencyError


def check_installed() -> None:
    """See that there is what pages need.

    :raises MissingDependencyError: if there is not.
    """
    for name in ("starlette", "uvicorn", "jinja2"):
        try:
            import_module(name)
        except ImportError as error:
            raise MissingDependencyError(
                f'web pages need {name}, which is not installed: pip install "parlai-empathy[site]"'
            ) from error
