"""Serving a site with uvicorn, in one process. Logged requests contain neither clients' addresses nor query strings."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.web.requirements import check_installed

if TYPE_CHECKING:
    from uvicorn import Config

_STOP_AFTER = 10  # seconds that running requests have to finish when the server is stopped
_KEEP_OPEN = 75  # seconds that an idle connection stays open: raters read between requests
_WAITING = 2048  # connections waiting to be accepted
_AT_ONCE = 8  # connections accepted in one go; without files left, asyncio logs an error for each, every second


@dataclass(frozen=True)
class Address:
    """Where a site is served.

    :param port: 0 for any free port.
    :param proxies: addresses or networks of trusted proxies, whose headers ``X-Forwarded-For`` and
        ``X-Forwarded-Proto`` tell the visitor's address and whether they came over https. From others these headers
        are ignored: anybody can set them.
    :param log_requests: whether to log each request, with its method, path and status only.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    proxies: Sequence[str] = ()
    log_requests: bool = False


def serve(app: Any, address: Address, on_start: Callable[[str], None] = lambda url: None) -> None:
    """Serve an app until the process is told to stop.

    :param on_start: called with the site's URL as soon as it accepts connections.
    :raises OptionError: if the address cannot be used, or a proxy is neither an IP address nor a network.
    :raises MissingDependencyError: if Starlette, uvicorn or Jinja2 is not installed.
    """
    check_installed()
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            for listener in sockets or ():
                listener.listen(_WAITING)  # asyncio has set it to the number accepted in one go

    _check_proxies(address.proxies)
    _allow_many_connections()
    with _listening(address) as listener:
        host, port = listener.getsockname()[:2]
        on_start(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
        with suppress(KeyboardInterrupt):  # uvicorn raises again the signal that stopped it
            Server(_config(app, address)).run(sockets=[listener])


def check_address(address: Address) -> None:
    """Check that a site can be served at an address, for callers that must do something slow before :func:`serve`.

    :raises OptionError: as :func:`serve`.
    """
    _check_proxies(address.proxies)
    _listening(address).close()


def _config(app: Any, address: Address) -> Config:
    import uvicorn

    logging.getLogger("uvicorn.access").addFilter(without_query)
    return uvicorn.Config(
        app,
        log_level="info" if address.log_requests else "warning",
        access_log=address.log_requests,
        server_header=False,
        proxy_headers=bool(address.proxies),
        forwarded_allow_ips=list(address.proxies),
        timeout_graceful_shutdown=_STOP_AFTER,
        timeout_keep_alive=_KEEP_OPEN,
        backlog=_AT_ONCE,
    )


def _allow_many_connections() -> None:
    """Let the process have as many open files, and so connections, as the system permits: often a thousand times more.

    A request that is never sent to its end holds its connection for good.
    """
    with suppress(ImportError, OSError, ValueError):  # not on Windows, nor if there is no upper limit
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def without_query(record: logging.LogRecord) -> bool:
    """Remove the client's address and the query string, which can hold raters' ids, from uvicorn's log record."""
    if isinstance(record.args, tuple) and len(record.args) == 5:
        _, method, path, version, status = record.args
        record.args = ("-", method, str(path).split("?")[0], version, status)
    return True


def _check_proxies(proxies: Sequence[str]) -> None:
    """Check that they are addresses or networks: uvicorn would accept anything else, and trust nobody."""
    if list(proxies) == ["*"]:
        return
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            expected = "expected an IP address, such as 127.0.0.1, or a network, such as 10.0.0.0/8"
            raise OptionError(f"--proxies {proxy}: {expected}") from error


def _listening(address: Address) -> socket.socket:
    where = f"--host {address.host} --port {address.port}"
    if not 0 <= address.port <= 65535:
        raise OptionError(f"{where}: ports are numbers from 0 to 65535")
    listener = None
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, _, _, place = found[0]
        # asyncio sets TCP_NODELAY only on sockets created with IPPROTO_TCP.
        listener = socket.socket(family, kind, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(_WAITING)
    except (OSError, UnicodeError) as error:
        if listener is not None:
            listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionError(f"{where} cannot be used ({reason}): choose another one") from error
    return listener
