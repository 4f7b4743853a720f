"""Options of the rating commands: the study, the store of ratings, and the address and links of a site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.names import STORE

if TYPE_CHECKING:
    from parlai_empathy.rating.web.serving import Address

_LEAST_MINUTES, _MOST_MINUTES = 0.5, 120.0


def add_study(group: Any, names: Sequence[str]) -> None:
    """Add ``--study``, ``--logs``, ``--store`` and ``--new-version``.

    :param names: the included studies that the command serves.
    """
    group.add_argument("--study", default=None, metavar="STUDY", help=f"A study's file, or one of: {', '.join(names)}.")
    group.add_argument(
        "--logs",
        nargs="*",
        default=[],
        metavar="[NAME=]FILE",
        help="Logs of the replies to rate, in the formats of parlai score_responses; instead of the study's own.",
    )
    group.add_argument(
        "--store",
        default=STORE,
        metavar="URL",
        help="Where ratings are kept: a file, or postgresql://user@host/name.",
    )
    group.add_argument(
        "--new-version",
        type="bool",
        default=False,
        help="Accept a study whose text or items have changed since the store's ratings were made.",
    )


def add_turn_minutes(group: Any, text: str) -> None:
    """Add ``--turn-minutes``.

    :param text: its help.
    """
    group.add_argument("--turn-minutes", type=float, default=5.0, help=text)


def patience_of(opt: Opt) -> float:
    """Return ``--turn-minutes`` in seconds.

    :raises OptionError: if it is too small or too large.
    """
    minutes = opt["turn_minutes"]
    if not _LEAST_MINUTES <= minutes <= _MOST_MINUTES:
        raise OptionError(f"--turn-minutes {minutes:g}: expected a number from {_LEAST_MINUTES:g} to {_MOST_MINUTES:g}")
    return 60.0 * float(minutes)


def add_address(group: Any) -> None:
    """Add ``--host``, ``--port``, ``--proxies`` and ``--log-requests``."""
    group.add_argument(
        "--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 for all addresses of the machine."
    )
    group.add_argument("--port", type=int, default=8000, help="Port to listen on; 0 for any free one.")
    group.add_argument(
        "--proxies",
        nargs="*",
        default=[],
        metavar="ADDRESS",
        help="Addresses of trusted proxies in front of the site, which report visitors' addresses and https.",
    )
    group.add_argument(
        "--log-requests",
        type="bool",
        default=False,
        help="Log the method, path and status of each request, without addresses or names.",
    )


def add_id_parameter(group: Any, known: str = "Prolific") -> None:
    """Add ``--id-parameter``.

    :param known: the marketplaces whose links the site knows.
    """
    group.add_argument(
        "--id-parameter",
        default=None,
        metavar="NAME",
        help=f"Name of the link parameter that identifies people, for marketplaces other than {known}.",
    )


def id_parameter_of(opt: Opt) -> str | None:
    """Return the value of ``--id-parameter``.

    :raises OptionError: if it is not a valid name, or a marketplace uses it already.
    """
    from parlai_empathy.rating.crowd.entry import check_id_parameter

    return check_id_parameter(opt["id_parameter"]) if opt["id_parameter"] else None


def address_of(opt: Opt) -> Address:
    """Return the address on which a site listens."""
    from parlai_empathy.rating.web.serving import Address

    return Address(opt["host"], opt["port"], tuple(opt["proxies"]), opt["log_requests"])


def announce(what: str, url: str, has_admin: bool) -> None:
    """Print a site's addresses.

    :param what: label of the site's address.
    :param has_admin: whether the site has an administrator's page.
    """
    from parlai_empathy.rating.site.admin_access import VARIABLE as ADMIN_TOKEN

    print(f"{what}: {url}", flush=True)
    print(f"Administration: {f'{url}admin' if has_admin else f'disabled; set {ADMIN_TOKEN} to enable it'}", flush=True)
