"""Take the pictures in docs/pictures, of pages that people see: ``make pictures``. It needs Chromium.

The model is the demo's, and every text is from the sample or written here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).with_name("pictures")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = {"width": 760, "height": 620}
PORT = 8765

TALK = (
    "My dog died last week and the house feels so empty.",
    "I still look for him at the door every evening.",
)
# Replies to the sample's kind of conversations, by two systems.
ITEMS = {
    "A": [
        ("I finally passed my driving test after failing it twice!", "Well done! Were you as nervous the third time?"),
        ("My sister moved abroad and we hardly talk any more.", "That sounds lonely. What do you miss most?"),
    ],
    "B": [
        ("I finally passed my driving test after failing it twice!", "I have a car too."),
        ("My sister moved abroad and we hardly talk any more.", "Abroad is far away."),
    ],
}
STUDY = "extends: ed\ngold: false\nitems_per_rater: 2\nratings_per_system: any\n"


def main() -> None:
    """Train the demo's model, and take all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        program = next(filter(None, map(shutil.which, BROWSERS)), None) or sys.exit("install Chromium first")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE)
        parlai(folder, "empathy_demo")
        _chat(page, folder)
        _rating(page, folder)
        _report(page, folder)
        browser.close()


def parlai(folder: Path, *arguments: str) -> None:
    """Run a command until it ends."""
    subprocess.run(["parlai", *arguments], cwd=folder, check=True)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[str]:
    """Serve a site while the context lasts; yield its address."""
    command = ["parlai", *arguments, "--port", str(PORT)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    address = next(part for line in process.stdout for part in line.split() if part.startswith("http://"))
    yield address
    process.terminate()
    process.communicate()


def _agree(page: Page, address: str) -> None:
    page.goto(address)
    page.check("#agree")
    page.click("button[type=submit]")
    page.wait_for_load_state("networkidle")


def _chat(page: Page, folder: Path) -> None:
    with serving(folder, "chat_site", "-mf", "empathy_demo/model") as address:
        _agree(page, address)
        for number, text in enumerate(TALK, start=1):
            page.fill("#text", text)
            page.press("#text", "Enter")
            page.wait_for_selector(f"#turn-{2 * number}")
            page.wait_for_selector("#typing", state="hidden")
        _take(page, "chat_site")


def _rating(page: Page, folder: Path) -> None:
    for system, items in ITEMS.items():
        _write_log(folder / f"{system}.jsonl", items)
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    logs = [f"{system}={system}.jsonl" for system in ITEMS]
    with serving(folder, "rate_site", "--study", "study.yaml", "--logs", *logs) as address:
        _agree(page, address)
        page.click("main button, main a.button")  # past the instructions
        page.wait_for_load_state("networkidle")
        _take(page, "rating_site")


def _write_log(path: Path, items: Sequence[tuple[str, str]]) -> None:
    rows: list[dict[str, Any]] = [{"context": [before], "reply": reply} for before, reply in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _report(page: Page, folder: Path) -> None:
    models = ["demo=empathy_demo/model"]
    parlai(folder, "leaderboard", "--suite", "ed", "--edition", "sample", "--models", *models, "--out", "report")
    page.goto(f"file://{folder}/report/report.html")
    page.locator("figure").first.screenshot(path=PICTURES / "leaderboard.png")


def _take(page: Page, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


if __name__ == "__main__":
    main()
