"""Notes with the signatures of a table's numbers."""

from __future__ import annotations

from collections.abc import Mapping

from parlai_empathy.signature import Number


def signature_notes(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return one note per distinct signature, followed by the names of its rows unless all rows have it.

    :param rows: each row's values by column; only a :class:`Number` has a signature.
    """
    found: dict[str, dict[str, None]] = {}
    for name, values in rows.items():
        for value in values.values():
            if isinstance(value, Number):
                found.setdefault(value.signature, {})[name] = None
    return [
        f"- {text}" if len(names) == len(rows) else f"- {text}: {', '.join(names)}" for text, names in found.items()
    ]
