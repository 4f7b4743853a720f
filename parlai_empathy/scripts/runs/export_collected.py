"""The export of a collection, for ``parlai rate`` and ``parlai collect_site``."""

from __future__ import annotations

from parlai_empathy.rating.collecting.collected_file import write_collected
from parlai_empathy.rating.collecting.judgements_file import judgements, judgements_path
from parlai_empathy.rating.export import write_rows
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.wording import counted


def export_collected(store: Store, study: Study, path: str, silent_since: float) -> None:
    """Write the conversations and what people said of each other, and print where they are."""
    print(f"{counted(write_collected(store, study, path, silent_since), 'conversation')}: {path}")
    rows = judgements(store, study, silent_since)
    if study.questions or rows:  # the study may have asked before what it no longer asks
        beside = judgements_path(path)
        print(f"{counted(write_rows(beside, rows), 'judgement')}: {beside}")
