"""Sessions in signed cookies."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tiny_studies import Clock

from parlai_empathy.rating.web.session import DAYS, Session, Sessions, cookies_of
from parlai_empathy.rating.web.signing import Signer

SIGNER = Signer(b"0123456789abcdef")


def scope_with(cookie: str = "", scheme: str = "http") -> dict[str, Any]:
    return {"scheme": scheme, "headers": [(b"cookie", cookie.encode("latin-1"))]}


def back(sessions: Sessions, session: Session, scheme: str = "http") -> Session:
    """Return the session of a browser that sends this session's cookie back."""
    header = sessions.cookie(scope_with(scheme=scheme), session)
    return sessions.of(scope_with(f"other=1; {header.split(';')[0]}; third", scheme))


def test_session_values_round_trip() -> None:
    sessions = Sessions(SIGNER)
    session = sessions.of(scope_with())
    assert (session.is_known, session.must_be_sent) == (False, True)
    session.put("rater", "ann; é")
    again = back(sessions, session)
    assert (again.id, again.get("rater"), again.get("other")) == (session.id, "ann; é", None)
    assert (again.is_known, again.must_be_sent) == (True, False)
    assert again.form_token == session.form_token


def test_cookie_is_resent_only_after_changes() -> None:
    sessions = Sessions(SIGNER)
    session = sessions.of(scope_with())
    session.put("rater", "ann")
    for rater, expected in (("ann", False), ("bob", True)):
        again = back(sessions, session)
        again.put("rater", rater)
        assert again.must_be_sent is expected
    again.put("rater", "bob")  # a call without an effect does not undo the first one's
    assert again.must_be_sent


def test_sessions_expire() -> None:
    clock = Clock()
    sessions = Sessions(SIGNER, clock=clock)
    session = sessions.of(scope_with())
    clock.now += DAYS * 24 * 60 * 60
    assert back(sessions, session).id == session.id
    clock.now += 1
    assert back(sessions, session).id != session.id


def test_sessions_have_distinct_ids_and_form_tokens() -> None:
    sessions = Sessions(SIGNER)
    one, two = sessions.of(scope_with()), sessions.of(scope_with())
    assert one.id != two.id
    assert not one.is_own(two.form_token)
    assert one.is_own(one.form_token)


def test_http_cookie_is_ignored_over_https() -> None:
    sessions = Sessions(SIGNER)
    session = sessions.of(scope_with())
    header = sessions.cookie(scope_with(), session)
    assert not sessions.of(scope_with(header.split(";")[0], "https")).is_known
    assert back(sessions, session, "https").is_known


@given(st.text(st.characters(codec="latin-1")))
def test_arbitrary_cookies_give_an_unknown_session(text: str) -> None:
    assert not Sessions(SIGNER).of(scope_with(text)).is_known
    assert not Sessions(SIGNER).of(scope_with(f"empathy_session_{SIGNER.name}={text}")).is_known
    assert isinstance(cookies_of(scope_with(text)), dict)
