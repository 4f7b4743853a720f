"""Signatures as notes."""

from __future__ import annotations

from parlai_empathy.reports.signature_notes import signature_notes
from parlai_empathy.signature import Number


def test_signatures_are_listed_once_with_their_rows() -> None:
    rows = {
        "a": {"x": Number(1, "X|n:3"), "y": Number(2, "Y"), "cost": 3.0},
        "b": {"x": Number(4, "X|n:3"), "z": Number(4, "Z")},
    }
    assert signature_notes(rows) == ["- X|n:3", "- Y: a", "- Z: b"]


def test_row_sharing_a_signature_twice_is_named_once() -> None:
    assert signature_notes({"a": {"x": Number(1, "S"), "y": Number(2, "S")}, "b": {}}) == ["- S: a"]


def test_numbers_without_signatures_have_no_notes() -> None:
    assert signature_notes({"a": {"x": 1.0}}) == []
