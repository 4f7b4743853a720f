"""What all pages for raters share: the desk and the study's texts."""

from __future__ import annotations

from typing import Any

from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.template_values import example_shown, paragraphs


class Parts:
    """A study's desk, and its texts prepared for templates.

    :param desk: of the study.
    """

    def __init__(self, desk: Desk) -> None:
        study = desk.study
        self.desk = desk
        self.texts: dict[str, Any] = {
            "study": study,
            "consent": paragraphs(study.consent),
            "warning": paragraphs(study.content_warning),
            "instructions": paragraphs(study.instructions),
            "examples": [example_shown(study, one) for one in study.examples],
            "has_keys": any(question.kind != "text" for question in study.page_questions),
        }
