"""Error pages: exceptions that end a visit with a plain page."""

from __future__ import annotations

from parlai_empathy.rating.wording import counted


class Refusal(Exception):
    """Ends a visit with a plain page.

    :param status: the HTTP status.
    :param headline: what went wrong, in a few words.
    :param text: what the visitor can do now.
    :param headers: additional headers of the response.
    :param starts_over: whether the page leads to the beginning, where a visitor without a session is somebody new.
    """

    def __init__(
        self,
        status: int,
        headline: str,
        text: str,
        headers: dict[str, str] | None = None,
        starts_over: bool = True,
    ) -> None:
        super().__init__(f"{status} {headline}")
        self.status = status
        self.headline = headline
        self.text = text
        self.headers = headers or {}
        self.starts_over = starts_over


KEPT = "What you sent before is kept."


def not_found() -> Refusal:
    """There is no such page, or it belongs to another visitor; the two must look the same."""
    return Refusal(404, "There is no such page", "Check the address, or go back to the beginning.")


def method_not_allowed() -> Refusal:
    """The page exists, but not for this HTTP method."""
    return Refusal(405, "That does not work here", "Go back to the beginning and try again from there.")


def csrf_failed() -> Refusal:
    """A form without the CSRF token of the visitor's session."""
    return Refusal(
        403,
        "This form is too old",
        f"Go back, load the page again, and send the form again. {KEPT} If you see this message again, your browser "
        "does not accept cookies from this site, which are needed here.",
    )


def too_large() -> Refusal:
    """A body longer than the site accepts."""
    return Refusal(413, "That is too long", f"Go back and shorten it. {KEPT}")


def no_form() -> Refusal:
    """A body that is not a plain form, such as a file upload."""
    return Refusal(415, "That is not a form", "This site accepts only plain forms, no files.")


def unreadable() -> Refusal:
    """A form that cannot be decoded."""
    return Refusal(400, "That cannot be read", f"Go back and send the form again. {KEPT}")


def too_many(seconds: float) -> Refusal:
    """More requests than the limits allow.

    :param seconds: until the next request is allowed.
    """
    wait = max(1, round(seconds + 0.5))
    text = f"Wait for {counted(wait, 'second')}, then load the page again. {KEPT}"
    return Refusal(429, "Too fast", text, {"Retry-After": str(wait)})


def service_unavailable() -> Refusal:
    """An operation failed, probably because the store does not respond."""
    return Refusal(
        503,
        "The site is out of order",
        f"Wait a minute, then load the page again and send your last form again. {KEPT} Nothing is stored twice.",
        {"Retry-After": "60"},
    )


def broken() -> Refusal:
    """An unexpected error in the site's code."""
    return Refusal(500, "Something went wrong", f"Load the page again. {KEPT}")
