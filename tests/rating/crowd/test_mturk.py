"""The Mechanical Turk client and its error messages."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError, NoCredentialsError
from botocore.stub import Stubber

from parlai_empathy.errors import CrowdError, MissingDependencyError, OptionError
from parlai_empathy.rating.crowd.mturk import asked, client, every

KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # Amazon's own examples


@pytest.fixture
def mturk(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    return client()


def test_client_uses_sandbox_unless_live(mturk: Any) -> None:
    assert mturk.meta.endpoint_url == "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
    assert client(is_live=True).meta.endpoint_url == "https://mturk-requester.us-east-1.amazonaws.com"


def test_refusal_is_one_line_without_credentials(mturk: Any) -> None:
    with Stubber(mturk) as stub:
        stub.add_client_error("get_hit", "RequestError", f"No\nsuch HIT, {KEY}")
        with pytest.raises(CrowdError, match=r"refuses \(RequestError: No such HIT, \.\.\.\)") as raised:
            asked(mturk.get_hit, HITId="H")
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("code", ["AccessDeniedException", "UnrecognizedClientException"])
def test_rejected_credentials_raise_option_error(mturk: Any, code: str) -> None:
    with Stubber(mturk) as stub:
        stub.add_client_error("get_hit", code, "The security token is invalid.")
        with pytest.raises(OptionError, match="rejects these credentials"):
            asked(mturk.get_hit, HITId="H")


def test_missing_credentials_raise_option_error() -> None:
    def call() -> None:
        raise NoCredentialsError

    with pytest.raises(OptionError, match="no credentials: set AWS_ACCESS_KEY_ID"):
        asked(call)


def test_unreachable_endpoint_raises_crowd_error() -> None:
    def call() -> None:
        raise EndpointConnectionError(endpoint_url="https://x")

    with pytest.raises(CrowdError, match=r"cannot be reached \(EndpointConnectionError\)"):
        asked(call)


def test_all_result_pages_are_fetched(mturk: Any) -> None:
    with Stubber(mturk) as stub:
        stub.add_response("list_hits", {"HITs": [{"HITId": "1"}], "NextToken": "t"}, {"MaxResults": 100})
        stub.add_response("list_hits", {"HITs": [{"HITId": "2"}]}, {"MaxResults": 100, "NextToken": "t"})
        assert [hit["HITId"] for hit in every(mturk.list_hits, "HITs")] == ["1", "2"]


def test_credentials_are_never_logged(mturk: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), Stubber(mturk) as stub:
        stub.add_response("list_hits", {"HITs": []})
        list(every(mturk.list_hits, "HITs"))
    assert SECRET not in caplog.text
    assert SECRET not in repr(mturk)


def test_unknown_profile_raises_option_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "heron")
    with pytest.raises(OptionError, match=r"\(The config profile \(heron\) could not be found\): check AWS_PROFILE"):
        client()


def test_missing_boto3_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(MissingDependencyError, match=r"parlai-empathy\[crowd\]"):
        client()
