"""Calls to Mechanical Turk through Amazon's library boto3, which also finds the credentials; they are not read here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from parlai_empathy.errors import CrowdError, MissingDependencyError, OptionError, one_line

REGION = "us-east-1"
"""The only region of Mechanical Turk."""
ENDPOINTS = {
    False: "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    True: "https://mturk-requester.us-east-1.amazonaws.com",
}
"""The addresses of the API, by ``is_live``."""

_PAGE = 100  # the maximum for each of the calls used here
_PATIENCE = {"connect_timeout": 10, "read_timeout": 60, "retries": {"mode": "standard", "max_attempts": 8}}
_KEY = re.compile(r"\b(?:A[KS]IA[A-Z0-9]{16}|[A-Za-z0-9/+]{40,})\b")

_T = TypeVar("_T")


def client(is_live: bool = False) -> Any:
    """Create boto3's client.

    :param is_live: whether to use the live marketplace, which costs money, instead of the sandbox.
    :raises MissingDependencyError: without boto3.
    :raises OptionError: if the settings of Amazon's library cannot be read, such as an unknown ``AWS_PROFILE``.
    """
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise MissingDependencyError('Mechanical Turk needs boto3: pip install "parlai-empathy[crowd]"') from error
    try:
        return boto3.client(
            "mturk",
            region_name=REGION,
            endpoint_url=ENDPOINTS[is_live],
            # Retries are safe: calls that create or pay have a token by which repetitions are recognised.
            config=Config(**_PATIENCE),
        )
    except BotoCoreError as error:
        raise OptionError(
            f"Mechanical Turk: Amazon's settings cannot be used ({one_line(error)}): check AWS_PROFILE and ~/.aws"
        ) from error


def asked(call: Callable[..., _T], **arguments: Any) -> _T:
    """Make a call and return its result.

    :raises OptionError: if there are no credentials, or Mechanical Turk rejects them.
    :raises CrowdError: if Mechanical Turk refuses the call, or cannot be reached.
    """
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

    try:
        return call(**arguments)
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise OptionError(
            "Mechanical Turk: no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        ) from error
    except ClientError as error:
        said = error.response.get("Error", {})
        code = str(said.get("Code", "no code"))
        if code in ("AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException"):
            raise OptionError(f"Mechanical Turk rejects these credentials ({code}): check AWS_PROFILE") from error
        reason = _KEY.sub("...", " ".join(str(said.get("Message", "")).split()))[:200]
        raise CrowdError(f"Mechanical Turk refuses ({code}: {reason}): fix this, then run the command again") from error
    except BotoCoreError as error:
        raise CrowdError(
            f"Mechanical Turk cannot be reached ({type(error).__name__}): run the command again; nothing is done twice"
        ) from error


def every(call: Callable[..., Any], key: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Yield all entries of a paginated list.

    :param key: the key of the list in each page.
    """
    more: dict[str, str] = {}
    while True:
        page = asked(call, MaxResults=_PAGE, **arguments, **more)
        yield from page.get(key, [])
        if not page.get("NextToken"):
            return
        more = {"NextToken": page["NextToken"]}
