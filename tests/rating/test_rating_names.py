"""The names that options of studies and ratings show. Names of countries are tested with the help lines."""

from __future__ import annotations

from parlai_empathy.rating.names import OWN_STUDIES, STUDIES


def test_builtin_study_names_match_files() -> None:
    assert STUDIES == ("acute", "chat", "collect_ed", "ed", "empgpt3_ab", "empgpt3_likert", "endex", "humod")
    assert {path.name for path in OWN_STUDIES.iterdir()} == {f"{name}.yaml" for name in STUDIES}
