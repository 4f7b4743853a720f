"""Where somebody in distress finds people who listen, by country: read from ``help_lines.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from parlai_empathy.errors import OptionError, one_line

_FILE = Path(__file__).with_name("help_lines.yaml")


@dataclass(frozen=True)
class Service:
    """People who listen.

    :param how: they are reached, in words.
    :param link: their page; empty if there is none.
    """

    name: str
    how: str
    link: str = ""

    @property
    def site(self) -> str:
        """Their page's host, as people know it."""
        return (urlsplit(self.link).hostname or "").removeprefix("www.")


@dataclass(frozen=True)
class Notice:
    """What is shown before the model's reply to somebody who may be in distress.

    :param services: that their country has.
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
        """The last sentence."""
        return f"If somebody is in danger right now, call {self.emergency}."


def notice_for(country: str | None = None, file: Path = _FILE) -> Notice:
    """The notice for a country; without one, for all of the world.

    :param country: two letters (ISO 3166-1), or ``EU``; ``UK`` is taken for ``GB``.
    :param file: another file of the same kind.
    :raises OptionError: if the file has no such country, or cannot be read.
    """
    raw = _read(file)
    if not country:
        return _notice(raw["international"], file)
    code = {"UK": "GB"}.get(country.upper(), country.upper())
    countries = {name.upper(): services for name, services in raw["countries"].items()}
    if code not in countries:
        there = ", ".join(sorted(countries))
        raise OptionError(
            f"--country {country}: {file.name} has no services for it; it has {there}; left out, a directory "
            "of all countries' is shown"
        )
    return _notice(countries[code], file)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        # All is text: YAML itself would take Norway's NO for false, and the number 000 for zero.
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
    return Notice(services, emergency)
