"""Services for people in distress, by country, read from ``help_lines.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from parlai_empathy.errors import OptionError, one_line

_ADDRESS = re.compile(r"https?://[\w.-]+(?:[/:?#]\S*)?")
_FILE = Path(__file__).with_name("help_lines.yaml")


@dataclass(frozen=True)
class Service:
    """A service that listens to people in distress.

    :param how: how to reach it, in words.
    :param link: its web page; empty if there is none.
    """

    name: str
    how: str
    link: str = ""

    @property
    def site(self) -> str:
        """The host of its web page, without ``www.``."""
        return (urlsplit(self.link).hostname or "").removeprefix("www.")


@dataclass(frozen=True)
class Notice:
    """What somebody who may be in distress is shown before the model's reply.

    :param services: those of their country.
    :param emergency: the number to call in danger, in words.
    """

    services: tuple[Service, ...]
    emergency: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The notice as plain sentences, without the services."""
        return (
            "What you wrote sounds as if you, or somebody you know, may be thinking of suicide or of self-harm.",
            "You are talking with a program, not with a person. It cannot understand how you are, and it cannot get "
            "help for you. These people will listen:",
        )

    @property
    def danger(self) -> str:
        """The notice's last sentence, which follows the services."""
        return f"If somebody is in danger right now, call {self.emergency}."


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
        raise OptionError(f"--help-lines {file} cannot be read ({one_line(error)})") from error
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
