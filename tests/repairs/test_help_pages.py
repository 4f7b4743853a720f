"""A command's help page lists each option once, in the group in which it was declared."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from parlai.core import script
from parlai_as_it_comes import unrepaired


def page(module: Any, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that prints and exits, and return what it prints."""
    module.SCRIPT_REGISTRY.update(script.SCRIPT_REGISTRY)
    with pytest.raises(SystemExit, match=r"^0$"):
        module.superscript_main([*arguments])
    return capsys.readouterr().out


def listed(text: str) -> Counter[str]:
    """Count how often each option is listed."""
    return Counter(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE))


def group_of(option: str, text: str) -> str:
    """Return the title of an option's group."""
    above = text[: text.index(f"\n  {option}")]
    return re.findall(r"^(\S.*):$", above, re.MULTILINE)[-1]


@pytest.mark.parametrize("command", ["ratings_power", "eval_model", "rate_crowd"])
def test_each_option_is_listed_once(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(page(script, capsys, command, "--help"))
    assert len(found) > 20
    assert set(found.values()) == {1}


def test_options_are_listed_in_their_groups(capsys: pytest.CaptureFixture[str]) -> None:
    text = page(script, capsys, "ratings_power", "--help")
    assert group_of("--power", text) == "Power"
    assert group_of("--datapath", text) == "Main ParlAI Arguments"
    assert group_of("--helpall", text) == "options"


def test_helpall_lists_hidden_options_once(capsys: pytest.CaptureFixture[str]) -> None:
    short = listed(page(script, capsys, "eval_model", "--help"))
    long = listed(page(script, capsys, "eval_model", "--helpall"))
    assert short.keys() < long.keys()
    assert "--hide-labels" in long
    assert set(long.values()) == {1}


def test_help_page_is_the_same_when_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    first = page(script, capsys, "emotion", "--help")
    assert page(script, capsys, "emotion", "--help") == first
    assert re.search(r"^  texts?\b", first, re.MULTILINE | re.IGNORECASE)


def test_unrepaired_parlai_lists_each_option_twice(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(page(unrepaired("parlai.core.script"), capsys, "eval_model", "--help"))
    assert set(found.values()) == {2}
