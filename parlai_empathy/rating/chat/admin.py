"""The administrator's pages of a chat: people, messages that mention self-harm, exports of marks and conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai_empathy.rating.chat.counts import chat_counts
from parlai_empathy.rating.chat.talks_file import write_talks
from parlai_empathy.rating.site.admin import AdminPages, attached
from parlai_empathy.rating.site.admin_pages import leaf_of, written
from parlai_empathy.rating.web.app import Site
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response


class ChatAdminPages(AdminPages):
    """Shows counts and people; exports marks and judgements as the rating site exports ratings, and conversations."""

    def add_to(self, site: Site) -> None:
        """Add the pages to a site."""
        super().add_to(site)
        site.add("/admin/talks.jsonl", self.talks)

    async def talks(self, visit: Visit) -> Response:
        """Return all conversations as a file."""
        self._door.check(visit)
        content = await in_thread(self._talks, visit.query.get("excluded") == "yes")
        return attached(content, f"{self._desk.study.name}_talks", "jsonl")

    def _talks(self, excluded: bool) -> bytes:
        store, study = self._desk.store, self._desk.study.name
        return written(lambda path: write_talks(store, study, path, excluded), "talks.jsonl")

    async def page(self, visit: Visit, problem: str = "", of: str = "", status: int = 200) -> Response:
        """Return the page with counts and people."""
        counts = await in_thread(chat_counts, self._desk)
        study = self._desk.study
        return visit.page(
            "chat_admin.html",
            status,
            study=study,
            questions=(*study.turn_questions, *study.page_questions),
            counts=counts,
            leaf=leaf_of(visit, counts.people),
            flagged=sum(one.flagged for one in counts.people),
            problem=problem,
            of=of,
        )
