"""The options of the notice for people who mention self-harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.talking.notices import Notice
from parlai_empathy.scripts.parts.distress_options import add_distress, notice_of


def notice(*arguments: str) -> Notice | None:
    parser = ParlaiParser(False, False)
    add_distress(parser, before="somebody answers")
    return notice_of(parser.parse_args(list(arguments)))


def test_notice_has_services_unless_turned_off() -> None:
    everywhere, there = notice(), notice("--country", "US")
    assert everywhere
    assert there
    assert "findahelpline.com" in {one.site for one in everywhere.services}
    assert there.services[0].name.startswith("988")
    assert notice("--distress-notice", "off", "--country", "US") is None


def test_help_lines_are_read_from_custom_file(tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(
        "international: {emergency: '112', services: [{name: Herons, how: call 1}]}\n"
        "countries: {DE: {emergency: '110', services: [{name: Reiher, how: call 2}]}}\n"
    )
    found = notice("--help-lines", str(path), "--country", "DE")
    assert found
    assert (found.services[0].name, found.emergency) == ("Reiher", "110")
    with pytest.raises(OptionError, match=r"--country FR: ours.yaml has no services for it"):
        notice("--help-lines", str(path), "--country", "FR")
