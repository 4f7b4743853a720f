"""Options of the sites on which people write: the notice shown to somebody who mentions self-harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.files.user_path import user_path
from parlai_empathy.rating.names import COUNTRIES

if TYPE_CHECKING:
    from parlai_empathy.rating.talking.notices import Notice


def add_distress(parser: ParlaiParser, before: str) -> None:
    """Add ``--country``, ``--help-lines`` and ``--distress-notice``.

    :param before: what happens after the notice, as words for ``--help``: "the model answers".
    """
    group = parser.add_argument_group("People in distress")
    group.add_argument(
        "--country",
        default=None,
        metavar="XX",
        help=f"Country whose help lines are shown to people who mention self-harm: {', '.join(COUNTRIES)}; by default, "
        "a directory for all countries.",
    )
    group.add_argument(
        "--help-lines",
        default=None,
        metavar="FILE",
        help="YAML file with your own services, instead of the built-in list.",
    )
    group.add_argument(
        "--distress-notice",
        choices=["on", "off"],
        default="on",
        help=f"Show where to find help before {before}. Turn it off only if a person reads along.",
    )


def notice_of(opt: Opt) -> Notice | None:
    """Return the notice; None if it is turned off.

    :raises OptionError: if there are no services for the country, or the file cannot be read.
    """
    from parlai_empathy.rating.talking.help_lines import notice_for

    if opt["distress_notice"] == "off":
        return None
    return notice_for(opt["country"], user_path(opt["help_lines"])) if opt["help_lines"] else notice_for(opt["country"])
