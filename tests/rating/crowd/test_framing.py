"""Which sites may frame the pages, and where the last form may be sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.crowd.framing import SUBMIT_HOSTS, SUBMIT_PATH, form_targets, frame_ancestors, submit_url


@pytest.mark.parametrize("host", SUBMIT_HOSTS)
@pytest.mark.parametrize("end", ["", "/", "/anything?x=1"])
def test_submit_url_accepts_mturk_hosts(host: str, end: str) -> None:
    assert submit_url(host + end) == f"{host}/mturk/externalSubmit"


@pytest.mark.parametrize(
    "target",
    [
        *("", "https://evil.example", "http://www.mturk.com", "https://www.mturk.com.evil.example", "//www.mturk.com"),
        *("https://www.mturk.com@evil.example", "https://evil.example/https://www.mturk.com", "javascript:alert(1)"),
        *("https://user:pass@www.mturk.com", "https://www.mturk.com:8443", "https://[", "https://www.mturk.com:x"),
        *("https://evil.example#https://www.mturk.com", "https://www.mturk.com\\@evil.example", "www.mturk.com"),
    ],
)
def test_submit_url_rejects_other_hosts(target: str) -> None:
    assert submit_url(target) is None


@given(st.text() | st.text().map(lambda end: f"https://www.mturk.com{end}"))
def test_submit_url_of_arbitrary_text_is_none_or_mturk(target: str) -> None:
    assert submit_url(target) in (None, *(host + SUBMIT_PATH for host in SUBMIT_HOSTS))


def test_only_mturk_may_frame_pages_and_receive_forms() -> None:
    for origin in [*frame_ancestors().split(), *form_targets().split()]:
        assert origin.startswith("https://")
        assert origin.endswith(".mturk.com")
        assert "*" not in origin
