"""What raters of each crowd get when they have finished: a form, a link or a code."""

from __future__ import annotations

from collections.abc import Callable

from tiny_studies import LIKERT

from parlai_empathy.rating.crowd.completion import Completion, completion
from parlai_empathy.rating.study.study import Study

MTURK = {"crowd": "mturk", "ticket": "3A", "submit_to": "https://www.mturk.com/mturk/externalSubmit"}


def test_mturk_completion_is_a_form(study_of: Callable[..., Study]) -> None:
    # Mechanical Turk rejects a form that has only the assignment's id.
    assert completion(MTURK, study_of(LIKERT), done=3) == Completion(
        form="https://www.mturk.com/mturk/externalSubmit", fields={"assignmentId": "3A", "items": "3"}
    )


def test_prolific_completion_is_code_and_link(study_of: Callable[..., Study]) -> None:
    study = study_of(LIKERT, completion={"code": "C1&X"})
    assert completion({"crowd": "prolific"}, study) == Completion(
        "C1&X", "https://app.prolific.com/submissions/complete?cc=C1%26X"
    )
    assert completion({"crowd": "prolific"}, study_of(LIKERT)) == Completion()


def test_other_crowds_get_the_code(study_of: Callable[..., Study]) -> None:
    study = study_of(LIKERT, completion={"code": "C1"})
    assert completion({"crowd": "link"}, study) == Completion("C1")
    assert completion({}, study) == Completion("C1")
