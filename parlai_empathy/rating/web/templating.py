"""Page templates: Jinja2 with autoescaping; undefined names raise an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from parlai_empathy.rating.web.session import Session
from parlai_empathy.rating.web.visit import TOKEN


class Templates:
    """The templates of a site.

    :param folders: searched in order; the first that has the template wins.
    :param shared: values that every template can use.
    """

    def __init__(self, folders: Sequence[Path], shared: Mapping[str, Any]) -> None:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        self._environment = Environment(
            loader=FileSystemLoader([str(folder) for folder in folders]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(shared)
        self._environment.filters["moment"] = moment

    def rendered(self, name: str, session: Session | None, values: Mapping[str, Any]) -> str:
        """Return a page's text.

        :param session: the visitor's; ``token()`` inserts its CSRF token into forms.
        """
        from markupsafe import Markup

        def token() -> Markup:
            assert session is not None, f"{name} has a form but no session"
            return Markup('<input type="hidden" name="{}" value="{}">').format(TOKEN, session.form_token)

        return self._environment.get_template(name).render(token=token, **values)


def moment(seconds: float) -> str:
    """Return a time as readable text, in UTC.

    :param seconds: since 1970.
    """
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
