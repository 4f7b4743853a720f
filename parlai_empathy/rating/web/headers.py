"""The headers of every response: what a page may load, who may show it in a frame, and that it is not cached."""

from __future__ import annotations

from collections.abc import Sequence

Headers = list[tuple[bytes, bytes]]


def headers_of(framed_by: Sequence[str] = (), forms_to: Sequence[str] = ()) -> dict[str, str]:
    """Return the headers that all responses of a site have.

    :param framed_by: origins whose pages may show the site in a frame; if empty, none may.
    :param forms_to: origins other than its own to which the site's forms may be sent.
    """
    policy = {
        "default-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": " ".join(["'self'", *forms_to]),
        "frame-ancestors": " ".join(framed_by) or "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{key} {value}" for key, value in policy.items()),
        **({} if framed_by else {"X-Frame-Options": "DENY"}),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cache-Control": "no-store",
    }


def completed(own: Headers, usual: dict[str, str]) -> Headers:
    """Return a response's own headers, plus the usual ones that it does not set itself."""
    there = {name.lower() for name, _ in own}
    added = [(name.lower().encode(), value.encode()) for name, value in usual.items()]
    return [*own, *((name, value) for name, value in added if name not in there)]
