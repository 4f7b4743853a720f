"""Links to paste into a marketplace's page."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.entry import entry_of
from parlai_empathy.rating.crowd.links import checked_url, prolific_link, rater_link


def test_prolific_link_keeps_placeholders() -> None:
    # As in Prolific's help: https://.../?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID=...
    assert prolific_link("https://r.example.org") == (
        "https://r.example.org/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )


def test_rater_link_appends_id_parameter() -> None:
    assert rater_link("https://r.example.org/study?x=1", "who") == "https://r.example.org/study?x=1&who={RATER}"


def test_link_with_its_marker_unreplaced_is_refused() -> None:
    """Otherwise all who follow it would be one rater."""
    query = dict(parse_qsl(urlsplit(rater_link("https://r.example.org/", "who")).query))
    with pytest.raises(OptionError, match="who of this link is missing or invalid"):
        entry_of(query, "who")


def test_own_parameters_stay_escaped() -> None:
    url = "https://r.example.org/?arm=50%25+%26&who=me"
    assert rater_link(url, "who") == "https://r.example.org/?arm=50%25+%26&who={RATER}"


@pytest.mark.parametrize(
    "url",
    [
        *("", "r.example.org", "http://r.example.org", "https://", "https://r.example.org/#top", "ftp://r.example.org"),
        *("https://me:secret@r.example.org", "https://r.example.org/a b", "https://[r", "https://r.example.org:x"),
    ],
)
def test_invalid_url_raises_option_error(url: str) -> None:
    with pytest.raises(OptionError, match="--url"):
        checked_url(url)
