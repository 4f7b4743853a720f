"""The signatures of a table's numbers as notes below it, each once."""

from __future__ import annotations

from collections.abc import Mapping

from parlai_empathy.metrics.number import Number


def signature_notes(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """One note for each different signature, with the names of the rows whose numbers have it, unless all have it.

    :param rows: each row's values by column; those that are no :class:`Number` have no signature.
    """
    found: dict[str, dict[str, None]] = {}
    for name, values in rows.items():
        for value in values.values():
            if isinstance(value, Number):
                found.setdefault(value.signature, {})[name] = None
    return [
        f"- {text}" if len(names) == len(rows) else f"- {text}: {', '.join(names)}" for text, names in found.items()
    ]
