"""What the administration pages of all sites have in common: logging in and out, and excluding raters."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.admin_access import AdminDoor
from parlai_empathy.rating.web.app import Site
from parlai_empathy.rating.web.error_pages import Refusal
from parlai_empathy.rating.web.form import whole_number
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_ON_A_LEAF = 100


class Leaf(NamedTuple):
    """One page of a long list.

    :param number: its number, from 1.
    :param last: the last page's number.
    """

    ones: Sequence[Any]
    number: int
    last: int


def leaf_of(visit: Visit, ones: Sequence[Any]) -> Leaf:
    """Return the requested page of a list.

    :raises Refusal: if there is no such page.
    """
    last, number = max(1, -(-len(ones) // _ON_A_LEAF)), _asked(visit)
    if not 1 <= number <= last:
        raise Refusal(404, "There is no such page", f"The pages of raters are 1 to {last}.")
    return Leaf(ones[(number - 1) * _ON_A_LEAF : number * _ON_A_LEAF], number, last)


def _asked(visit: Visit) -> int:
    """Return the requested page number; 0 if it is not a number."""
    return whole_number(visit.query.get("page", "1"))


def written(write: Callable[[Path], object], name: str) -> bytes:
    """Return what a function writes to the file whose path it gets.

    :param name: the file's; some functions write the format that its suffix names.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


class AdminRoom(ABC):
    """``/admin`` and the forms on it.

    :cvar export_path: the path of the exported file.
    :param desk: of the study.
    :param door: logs administrators in.
    """

    export_path: ClassVar[str]

    def __init__(self, desk: Desk, door: AdminDoor) -> None:
        self._desk = desk
        self._door = door

    @abstractmethod
    async def page(self, visit: Visit, problem: str = "", of: str = "", status: int = 200) -> Response:
        """Return the page.

        :param problem: what was wrong with a submitted form about the rater ``of``.
        """

    def add_to(self, site: Site) -> None:
        """Add the pages to a site."""
        site.add("/admin", self.show)
        site.add("/admin/login", self.login, method="POST")
        site.add("/admin/logout", self.logout, method="POST")
        site.add("/admin/raters", self.exclude, method="POST")
        site.add(self.export_path, self.export)

    async def show(self, visit: Visit) -> Response:
        """Show the page, or the login form."""
        if not self._door.is_open(visit):
            return visit.page("login.html", problem="")
        return await self.page(visit)

    @abstractmethod
    async def export(self, visit: Visit) -> Response:
        """Return the export as a file."""

    async def login(self, visit: Visit) -> Response:
        """Log somebody in."""
        form = await visit.form()
        response = visit.redirect("/admin")
        if self._door.try_token(visit, form.text("admin_token"), response):
            return response
        return visit.page("login.html", status=403, problem="This is not the right token.")

    async def logout(self, visit: Visit) -> Response:
        """Log the visitor out."""
        await visit.form()
        response = visit.redirect("/admin")
        self._door.close(visit, response)
        return response

    async def exclude(self, visit: Visit) -> Response:
        """Exclude a rater or include them again, and return to the same page of the list."""
        form = await visit.form()
        self._door.check(visit)
        rater, reason = form.id("rater"), form.text("reason")
        try:
            if form.text("what") == "include":
                await in_thread(self._desk.include, rater)
            else:
                await in_thread(self._desk.exclude, rater, reason)
        except OptionError as error:
            return await self.page(visit, f"{error}.", rater, 422)
        number = _asked(visit)
        return visit.redirect(f"/admin?page={number}#raters" if number > 1 else "/admin#raters")
