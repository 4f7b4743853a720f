"""What tests look up in a page's HTML."""

from __future__ import annotations

import re


def landmarks(page: str) -> list[str]:
    """Return the accessible names of a page's sections and regions."""
    found = []
    for tag in re.findall(r'<section[^>]*>|<[a-z]+[^>]*role="region"[^>]*>', page):
        kind, name = re.findall(r'aria-(labelledby|label)="([^"]*)"', tag)[0]
        heading = re.search(rf'id="{name}">([^<]*)<', page) if kind == "labelledby" else None
        found.append(heading[1] if heading else name)
    return found


def text_boxes(page: str) -> list[str]:
    """Return the opening tags of a page's text boxes."""
    return re.findall(r"<textarea[^>]*>", page)
