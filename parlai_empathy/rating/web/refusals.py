"""Plain pages for what cannot be done."""

from __future__ import annotations


class Refusal(Exception):
    """Ends a visit with a plain page.

    :param status: of HTTP.
    :param headline: what is the matter, in a few words.
    :param text: what the visitor can do now.
    :param headers: of the response, beside the usual ones.
    """

    def __init__(self, status: int, headline: str, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"{status} {headline}")
        self.status = status
        self.headline = headline
        self.text = text
        self.headers = headers or {}


KEPT = "What you had sent before is kept."


def not_found() -> Refusal:
    """There is no such page; or it is another visitor's, which is not to be told apart."""
    return Refusal(404, "There is no such page", "Check the address, or go back to the beginning.")


def wrong_method() -> Refusal:
    """The page is there, but not for this method."""
    return Refusal(405, "That does not work here", "Go back to the beginning, and try it from there.")


def forged() -> Refusal:
    """A form without the token that the visitor's session has."""
    return Refusal(
        403,
        "This form is too old",
        f"Go back, load the page again, and send the form once more. {KEPT} If this page comes again, your browser "
        "does not accept cookies from this site, and they are needed here.",
    )


def too_large() -> Refusal:
    """A body longer than any form of the site could be."""
    return Refusal(413, "That is too long", f"Go back, and send less. {KEPT}")


def no_form() -> Refusal:
    """A body that is no plain form: an upload, for instance."""
    return Refusal(415, "That is no form", "This site takes plain forms only, no files.")


def unreadable() -> Refusal:
    """A form that is not encoded as forms are."""
    return Refusal(400, "That cannot be read", f"Go back, and send the form once more. {KEPT}")


def too_many(seconds: float) -> Refusal:
    """More visits than the limits allow.

    :param seconds: after which another one is welcome.
    """
    wait = max(1, round(seconds + 0.5))
    text = f"Wait for {wait} second{'s' * (wait > 1)}, then load the page again. {KEPT}"
    return Refusal(429, "Too fast", text, {"Retry-After": str(wait)})


def out_of_order() -> Refusal:
    """The store does not answer."""
    return Refusal(
        503,
        "The site is out of order",
        f"Wait a minute, then load the page again and send what you sent once more. {KEPT} Nothing is stored twice.",
        {"Retry-After": "60"},
    )


def broken() -> Refusal:
    """A mistake of ours."""
    return Refusal(500, "Something went wrong", f"Load the page again. {KEPT}")
