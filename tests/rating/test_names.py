"""The names that options of studies and ratings show. Names of countries are tested with the help lines."""

from __future__ import annotations

from parlai_empathy.rating.names import OWN_STUDIES, STUDIES
from parlai_empathy.rating.site.pages import KINDS
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.scripts.rate import Rate
from parlai_empathy.scripts.rate_crowd import RateCrowd
from parlai_empathy.scripts.rate_site import RateSite


def test_builtin_study_names_match_files() -> None:
    assert STUDIES == ("acute", "chat", "collect_ed", "ed", "empgpt3_ab", "empgpt3_likert", "endex", "humod")
    assert {path.name for path in OWN_STUDIES.iterdir()} == {f"{name}.yaml" for name in STUDIES}


def test_commands_offer_the_studies_that_they_serve() -> None:
    offered = {command: offered_by(command) for command in (Rate, RateSite, RateCrowd)}
    on_site = [name for name in STUDIES if read_study(name).kind in KINDS]
    assert offered == {Rate: list(STUDIES), RateSite: on_site, RateCrowd: on_site}


def offered_by(command: type[Rate] | type[RateSite] | type[RateCrowd]) -> list[str]:
    helps = {action.dest: str(action.help) for action in command.setup_args()._actions}
    return helps["study"].partition("one of: ")[2].removesuffix(".").split(", ")
