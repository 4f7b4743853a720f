"""The addresses that are pasted into a marketplace's page."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.entry import check_id_parameter

# Prolific replaces these markers with its ids.
_PROLIFIC = {name: f"{{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")}
# No id looks like this, so the site refuses a link in which the marker still stands: all visitors would be one rater.
_RATER = "{RATER}"


def checked_url(url: str) -> str:
    """Return the address of a rating site, if a crowd can open it.

    :raises OptionError: unless it is an ``https`` address.
    """
    try:
        parts = urlsplit(url.strip())
        is_plain = parts.username is None and parts.password is None and parts.port != 0
    except ValueError:
        is_plain = False
    if not is_plain or parts.scheme != "https" or not parts.hostname or parts.fragment or " " in url.strip():
        raise OptionError(f"--url {url}: expected the address of the rating site, https://host/...")
    return url.strip()


def prolific_link(url: str) -> str:
    """The address for Prolific's page, under "I'll use URL parameters".

    :param url: of the rating site.
    :raises OptionError: unless it is an ``https`` address.
    """
    return _with(url, _PROLIFIC)


def rater_link(url: str, id_parameter: str) -> str:
    """The address for another marketplace, with a marker in place of the rater's id.

    :param id_parameter: the parameter for the rater's id.
    :raises OptionError: unless ``url`` is an ``https`` address.
    """
    return _with(url, {check_id_parameter(id_parameter): _RATER})


def _with(url: str, parameters: dict[str, str]) -> str:
    parts = urlsplit(checked_url(url))
    own = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in parameters]
    # The markers must not be escaped, or the marketplace does not recognise them.
    query = "&".join(filter(None, [urlencode(own), urlencode(parameters, safe="{}%")]))
    return urlunsplit(parts._replace(path=parts.path or "/", query=query))
