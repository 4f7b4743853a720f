"""Headless Chromium, for tests of pages as people see them; the tests are skipped if it is not installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a Playwright browser."""
    api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium here")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


# Contrast of an element's text with its background, by WCAG 2.2's formula; and the other checks.
_CHECKS = r"""
() => {
  const wrong = [];
  const seen = (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const name = (one) => one.outerHTML.slice(0, 90);
  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title) wrong.push("no title");
  if (document.querySelectorAll("main").length !== 1) wrong.push("not one main");
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  let level = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!seen(one)) continue;
    const now = Number(one.tagName[1]);
    if (now > level + 1) wrong.push(`h${now} after h${level}: ${name(one)}`);
    level = now;
  }
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`twice: ${id}`);
  for (const one of document.querySelectorAll("[aria-describedby], [aria-labelledby]"))
    for (const kind of ["aria-describedby", "aria-labelledby"])
      for (const id of (one.getAttribute(kind) || "").split(" ").filter(Boolean))
        if (!document.getElementById(id)) wrong.push(`${kind} of nothing: ${name(one)}`);
  for (const one of document.querySelectorAll("input:not([type=hidden]), textarea, select, progress"))
    if (!(one.labels && [...one.labels].some((label) => label.textContent.trim())) && !one.getAttribute("aria-label"))
      wrong.push(`no label: ${name(one)}`);
  for (const one of document.querySelectorAll("fieldset"))
    if (!one.querySelector("legend")?.textContent.trim()) wrong.push(`no legend: ${name(one)}`);
  for (const one of document.querySelectorAll("a[href], button"))
    if (!one.textContent.trim() && !one.getAttribute("aria-label")) wrong.push(`no name: ${name(one)}`);
  for (const one of document.querySelectorAll("a[href^='#']"))
    if (!document.getElementById(one.getAttribute("href").slice(1))) wrong.push(`leads nowhere: ${name(one)}`);

  const rgb = (text) => {
    const found = text.match(/[\d.]+/g).map(Number);
    return { c: found.slice(0, 3), a: found.length > 3 ? found[3] : 1 };
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found.a > 0) return found.c;
    }
    return [255, 255, 255];
  };
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !seen(one) || one.closest(".hidden, script")) continue;
    const [a, b] = [light(rgb(getComputedStyle(one).color).c), light(behind(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ${name(one)}`);
  }
  for (const one of document.querySelectorAll("label.option, .button, .tick")) {
    const box = one.getBoundingClientRect();
    if (seen(one) && box.height && (box.height < 24 || box.width < 24)) wrong.push(`too small: ${name(one)}`);
    if (seen(one) && box.left < 0) wrong.push(`out of reach: ${name(one)}`);
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) wrong.push(`${wide} pixels too wide`);
  return wrong;
}
"""


def accessibility_problems(page: Any) -> list[str]:
    """Return the accessibility problems of a page, one line each.

    Checked are labels, legends and names, the order of headings, broken references, the contrast of text (at least
    4.5), the size of click targets and whether they can be reached, language and title, and whether the page is wider
    than the window.
    """
    found: list[str] = page.evaluate(_CHECKS)
    return found
