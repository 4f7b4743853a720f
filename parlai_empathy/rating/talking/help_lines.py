"""Services for people in distress, by country, read from ``help_lines.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from parlai_empathy.errors import OptionError, one_line
from parlai_empathy.rating.talking.notices import Notice, Service

_ADDRESS = re.compile(r"https?://[\w.-]+(?:[/:?#]\S*)?")
_FILE = Path(__file__).with_name("help_lines.yaml")


def notice_for(country: str | None = None, file: Path = _FILE) -> Notice:
    """Return the notice for a country, or the international one if no country is given.

    :param country: two letters (ISO 3166-1), or ``EU``; ``UK`` is read as ``GB``.
    :param file: another file in the same format.
    :raises OptionError: if the file has no such country or cannot be read.
    """
    raw = _read(file)
    if not country:
        return _notice(raw["international"], file)
    code = {"UK": "GB"}.get(country.upper(), country.upper())
    countries = {name.upper(): services for name, services in raw["countries"].items()}
    if code not in countries:
        there = ", ".join(sorted(countries))
        raise OptionError(
            f"--country {country}: {file.name} has no services for it, only for {there}; without --country, a "
            "directory of all countries is shown"
        )
    return _notice(countries[code], file)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        # BaseLoader reads everything as text: otherwise Norway's NO would be false, and the number 000 zero.
        raw = yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise OptionError(
            f"--help-lines {file} cannot be read ({one_line(error)}): name a YAML file such as {_FILE}"
        ) from error
    if not isinstance(raw, dict) or not isinstance(raw.get("countries"), dict) or "international" not in raw:
        raise OptionError(f"--help-lines {file}: expected international: and countries:, as in {_FILE}")
    return raw


def _notice(raw: Any, file: Path) -> Notice:
    try:
        services = tuple(Service(**{key: str(value) for key, value in one.items()}) for one in raw["services"])
        emergency = str(raw["emergency"])
    except (TypeError, KeyError, AttributeError) as error:
        raise OptionError(f"--help-lines {file}: expected services: with name, how, link, and emergency:") from error
    if not services:
        raise OptionError(f"--help-lines {file}: services is empty: name at least one")
    for one in services:
        if one.link and not _ADDRESS.fullmatch(one.link):
            raise OptionError(f"--help-lines {file}: link {one.link}: expected an address that begins with https://")
    return Notice(services, emergency)
