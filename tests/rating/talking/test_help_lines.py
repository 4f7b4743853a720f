"""Help lines by country. The numbers are from the services' own pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.names import COUNTRIES
from parlai_empathy.rating.talking import help_lines
from parlai_empathy.rating.talking.help_lines import notice_for

NUMBERS = {
    "US": ("988", "911"),
    "CA": ("988", "911"),
    "GB": ("116 123", "999"),
    "UK": ("116 123", "999"),
    "IE": ("116 123", "112"),
    "AU": ("13 11 14", "000"),
    "NZ": ("1737", "111"),
    "IN": ("14416", "112"),
    "DE": ("0800 1110111", "112"),
    "AT": ("142", "112"),
    "CH": ("143", "112"),
    "FR": ("3114", "112"),
    "ES": ("024", "112"),
    "NL": ("113", "112"),
    "EU": ("116 123", "112"),
}
FILE = Path(help_lines.__file__).with_name("help_lines.yaml")


def raw() -> dict[str, Any]:
    """Return the parsed file."""
    return dict(yaml.safe_load(FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("country", NUMBERS)
def test_help_and_emergency_numbers_match_country(country: str) -> None:
    notice = notice_for(country)
    number, emergency = NUMBERS[country]
    assert number in notice.services[0].how
    assert emergency in notice.emergency
    assert notice == notice_for(country.lower())


def test_every_country_in_file_is_tested() -> None:
    assert set(raw()["countries"]) == set(NUMBERS) - {"UK"}


def test_country_option_lists_every_country() -> None:
    assert tuple(sorted(raw()["countries"])) == COUNTRIES


@pytest.mark.parametrize("country", [None, ""])
def test_notice_without_country_is_international(country: str | None) -> None:
    notice = notice_for(country)
    assert notice.services[0].link == "https://findahelpline.com/"
    assert "your local emergency number" in notice.danger


def test_service_links_are_https_and_sources_are_cited() -> None:
    lines = [line.strip() for line in FILE.read_text(encoding="utf-8").splitlines()]
    for block in raw()["countries"].values():
        for service in block["services"]:
            assert service.get("link", "https://").startswith("https://")
    services = [number for number, line in enumerate(lines) if line.startswith("- {name")]
    assert services
    assert [lines[number] for number in services if not lines[number - 1].startswith("# https://")] == []


def test_notice_says_it_is_a_program() -> None:
    assert any("program, not with a person" in line for line in notice_for().lines)


def test_unsupported_country_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"--country XX: help_lines\.yaml has no services for it, only for AT, AU"):
        notice_for("XX")


def test_custom_file_replaces_services(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        "international: {services: [{name: Our nurse, how: call 7}], emergency: '8'}\ncountries: {}\n", encoding="utf-8"
    )
    notice = notice_for(None, file)
    assert (notice.services[0].name, notice.services[0].how, notice.emergency) == ("Our nurse", "call 7", "8")


def test_unquoted_values_in_custom_file_are_text(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    block = "{services: [{name: Our nurse, how: 116123}], emergency: 000}"
    file.write_text(f"international: {block}\ncountries: {{NO: {block}, se: {block}}}\n", encoding="utf-8")
    for country in (None, "NO", "no", "SE", "se"):
        notice = notice_for(country, file)
        assert (notice.services[0].how, notice.emergency) == ("116123", "000")
    with pytest.raises(OptionError, match="only for NO, SE;"):
        notice_for("DK", file)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "countries: {}", "international: {}\ncountries: []", "international: {}\ncountries: {}", "{"),
        "international: {services: [], emergency: '1'}\ncountries: {}",
        "international: {services: [{nam: x}], emergency: '1'}\ncountries: {}",
        "international: {services: [x], emergency: '1'}\ncountries: {}",
        *(
            f"international: {{services: [{{name: x, how: y, link: '{link}'}}], emergency: '1'}}\ncountries: {{}}"
            for link in ("988lifeline.org", "https://", "https://[x", "javascript:alert(1)")
        ),
    ],
)
def test_invalid_custom_file_raises_option_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=r"--help-lines .*own\.yaml"):
        notice_for(None, file)


def test_missing_custom_file_raises_option_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot be read .*: name a YAML file such as .*help_lines\.yaml$"):
        notice_for(None, tmp_path / "none.yaml")
