"""The XML of a question, checked against the structure of its schema."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.external_question import external_question

# From the published schema of this name: a sequence of one ExternalURL (anyURI) and one FrameHeight (integer).
NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
SEQUENCE = [f"{{{NAMESPACE}}}ExternalURL", f"{{{NAMESPACE}}}FrameHeight"]


def parts(xml: str) -> tuple[str, int]:
    root = ElementTree.fromstring(xml)
    assert root.tag == f"{{{NAMESPACE}}}ExternalQuestion"
    assert [child.tag for child in root] == SEQUENCE
    assert not root.attrib
    assert not any(child.attrib or len(child) for child in root)
    return root[0].text or "", int(root[1].text or "")


def test_external_question_matches_schema() -> None:
    assert parts(external_question("https://r.example.org/", 800)) == ("https://r.example.org/", 800)


@given(st.text("abc&<>\"'?=;", max_size=20), st.integers(0, 20_000))
def test_external_question_preserves_any_url(query: str, height: int) -> None:
    url = f"https://r.example.org/?{query}"
    assert parts(external_question(url, height)) == (url, height)


def test_non_https_url_raises_option_error() -> None:
    with pytest.raises(OptionError, match="https"):
        external_question("http://r.example.org/")
