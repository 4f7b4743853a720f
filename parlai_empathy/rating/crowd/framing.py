"""Mechanical Turk's addresses: which pages may show a rating site in a frame, and where its last form may go.

Workers see an ``ExternalQuestion`` in a frame of Mechanical Turk's page, and the form after the last item is posted to
it. Both addresses are constants here, since a link comes from the visitor's browser and cannot be trusted.
"""

from __future__ import annotations

from urllib.parse import urlsplit

SUBMIT_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
"""Where work is submitted: live, and in the sandbox."""
SUBMIT_PATH = "/mturk/externalSubmit"

_FRAMES = (
    *("https://worker.mturk.com", "https://workersandbox.mturk.com", "https://www.mturk.com"),
    *("https://requester.mturk.com", "https://requestersandbox.mturk.com"),  # the requester's preview
)


def frame_ancestors() -> str:
    """The sources of ``frame-ancestors`` for a site shown by Mechanical Turk; omit ``X-Frame-Options`` then."""
    return " ".join(_FRAMES)


def form_targets() -> str:
    """The sources that ``form-action`` needs in addition to ``'self'``."""
    return " ".join(SUBMIT_HOSTS)


def submit_url(turk_submit_to: str) -> str | None:
    """The address of the last form; None if the link's is not one of Mechanical Turk's.

    :param turk_submit_to: the link's ``turkSubmitTo``.
    """
    try:
        parts = urlsplit(turk_submit_to.strip())
        is_plain = parts.port is None and parts.username is None and parts.password is None
    except ValueError:
        return None
    origin = f"{parts.scheme}://{parts.hostname}"
    # The result is built from our own constants only: no part of the link gets into the page.
    return next((host + SUBMIT_PATH for host in SUBMIT_HOSTS if is_plain and origin == host), None)
