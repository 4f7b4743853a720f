"""The administrator's pages of a collection: counts, excluding people, and the export of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.collecting.collected_file import write_collected
from parlai_empathy.rating.collecting.counts import counts_of
from parlai_empathy.rating.collecting.judgements_file import judgements
from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.export import write_rows
from parlai_empathy.rating.site.admin import attached
from parlai_empathy.rating.site.admin_access import AdminDoor
from parlai_empathy.rating.site.admin_pages import AdminRoom, leaf_of, written
from parlai_empathy.rating.web.app import Site
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response


class CollectAdminPages(AdminRoom):
    """Shows counts and people; exports the complete conversations.

    :param lobby: of the study.
    :param door: logs administrators in.
    """

    export_path = "/admin/conversations.csv"

    def add_to(self, site: Site) -> None:
        """Add the pages to a site."""
        super().add_to(site)
        site.add("/admin/judgements.csv", self.judgements)

    def __init__(self, lobby: Lobby, door: AdminDoor) -> None:
        super().__init__(lobby.collection.desk, door)
        self._lobby = lobby

    async def export(self, visit: Visit) -> Response:
        """Return all complete conversations as a file."""
        self._door.check(visit)
        try:
            content = await in_thread(self._exported)
        except NotComputableError:
            return await self.page(visit, "No conversation is complete yet: there is nothing to export.", status=404)
        return attached(content, f"{self._desk.study.name}_conversations", "csv")

    async def judgements(self, visit: Visit) -> Response:
        """Return what people said of each other, about the same conversations, as a file."""
        self._door.check(visit)
        return attached(await in_thread(self._judgements), f"{self._desk.study.name}_judgements", "csv")

    def _exported(self) -> bytes:
        store, study, since = self._desk.store, self._desk.study, self._lobby.silent_since
        return written(lambda path: write_collected(store, study, path, since), "conversations.csv")

    def _judgements(self) -> bytes:
        store, study, since = self._desk.store, self._desk.study, self._lobby.silent_since
        return written(lambda path: write_rows(path, judgements(store, study, since)), "judgements.csv")

    async def page(self, visit: Visit, problem: str = "", of: str = "", status: int = 200) -> Response:
        """Return the page with counts and people."""
        counts = await in_thread(counts_of, self._lobby)
        leaf = leaf_of(visit, counts.people)
        return visit.page(
            "collect_admin.html", status, study=self._desk.study, counts=counts, leaf=leaf, problem=problem, of=of
        )
