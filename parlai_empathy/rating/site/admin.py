"""The administrator's pages of the rating site: counts, raters, excluding them, and the export of all ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from parlai_empathy.rating.desk.earlier_answers import question_counts
from parlai_empathy.rating.desk.outcomes import ArmCount, Rater
from parlai_empathy.rating.export import write_export
from parlai_empathy.rating.site.admin_pages import AdminRoom, leaf_of, written
from parlai_empathy.rating.web.error_pages import not_found
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_KINDS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}


class _State(NamedTuple):
    """What the page shows from the store.

    :param answers: number of answers, by system or pair and question.
    """

    counts: list[ArmCount]
    answers: dict[tuple[str, str], int]
    raters: list[Rater]


class AdminPages(AdminRoom):
    """Shows counts and raters; exports all ratings."""

    export_path = "/admin/ratings.{suffix}"

    async def export(self, visit: Visit) -> Response:
        """Return all ratings as a file."""
        self._door.check(visit)
        suffix = visit.part("suffix")
        if suffix not in _KINDS:
            raise not_found()
        content = await in_thread(self._exported, suffix, visit.query.get("excluded") == "yes")
        return attached(content, self._desk.study.name, suffix)

    def _exported(self, suffix: str, excluded: bool) -> bytes:
        store, study = self._desk.store, self._desk.study.name
        return written(lambda path: write_export(store, study, path, excluded), f"ratings.{suffix}")

    async def page(self, visit: Visit, problem: str = "", of: str = "", status: int = 200) -> Response:
        """Return the page with counts and raters."""
        state = await in_thread(self._state)
        return visit.page(
            "admin.html",
            status,
            study=self._desk.study,
            questions=self._desk.study.page_questions,
            counts=state.counts,
            answers=state.answers,
            total=len(state.raters),
            excluded=sum(rater.excluded is not None for rater in state.raters),
            leaf=leaf_of(visit, state.raters),
            progress_of=lambda rater: self._desk.progress_after(rater.id, rater.done),
            problem=problem,
            of=of,
        )

    def _state(self) -> _State:
        answers = {(one.arm, one.question): one.answers for one in question_counts(self._desk)}
        return _State(self._desk.counts(), answers, self._desk.raters())


def attached(content: bytes, study: str, suffix: str) -> Response:
    """Return a file to download, named after the study."""
    from starlette.responses import Response

    headers = {
        "Content-Type": _KINDS[suffix],
        "Content-Disposition": f'attachment; filename="{_file_name(study)}.{suffix}"',
    }
    return Response(content, headers=headers)


def _file_name(study: str) -> str:
    """Return a study's name without characters that a header or a file name must not contain."""
    kept = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "_" for letter in study)
    return kept.lstrip(".")[:60] or "ratings"
