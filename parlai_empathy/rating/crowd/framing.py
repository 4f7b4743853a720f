"""Mechanical Turk's own addresses: who may show a rating site in a frame, and where its last form may go.

Workers see an ``ExternalQuestion`` in a frame of Mechanical Turk's page, and the form behind the last item goes to it.
Both are fixed here, whatever a link says: a link comes from the reader's browser and can say anything.
"""

from __future__ import annotations

from urllib.parse import urlsplit

SUBMIT_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
"""Where work is handed in: for money, and for trying out."""
SUBMIT_PATH = "/mturk/externalSubmit"

_FRAMES = (
    *("https://worker.mturk.com", "https://workersandbox.mturk.com", "https://www.mturk.com"),
    *("https://requester.mturk.com", "https://requestersandbox.mturk.com"),  # the requester's preview
)


def frame_ancestors() -> str:
    """The sources of ``frame-ancestors`` for a site that Mechanical Turk shows; leave ``X-Frame-Options`` out then."""
    return " ".join(_FRAMES)


def form_targets() -> str:
    """The sources that ``form-action`` needs beside ``'self'``."""
    return " ".join(SUBMIT_HOSTS)


def submit_url(turk_submit_to: str) -> str | None:
    """Where the last form goes; None if a link names a place that is not Mechanical Turk's.

    :param turk_submit_to: the link's ``turkSubmitTo``.
    """
    try:
        parts = urlsplit(turk_submit_to.strip())
        is_plain = parts.port is None and parts.username is None and parts.password is None
    except ValueError:
        return None
    origin = f"{parts.scheme}://{parts.hostname}"
    # What is returned is put together from our own constants: nothing of the link goes into the page.
    return next((host + SUBMIT_PATH for host in SUBMIT_HOSTS if is_plain and origin == host), None)
