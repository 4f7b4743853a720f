"""The administrator's pages."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markup import landmarks
from rating_site_lab import SECRET, TOKEN, answers_of, item_of

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.rating.site.admin_access import admin_token
from parlai_empathy.rating.site.pages import rating_site
from parlai_empathy.rating.study.study_file import read_study

Make = Callable[..., Any]


def test_admin_page_shows_live_counts(lab: Make) -> None:
    site = lab("ed", systems="AB", gold=False, ratings_per_system=4)
    boss = site.admin()
    assert "A 0 4 0 0 0 0 B 0 4 0 0 0 0" in boss.page.words
    ann = site.rater()
    ann.post(item_of(ann.page), answers_of(ann.page))
    # One system has been rated on all three questions, and Ann holds an item of the other one.
    words = boss.get("/admin").words
    assert "A 1 4 0 1 1 1 B 0 4 1 0 0 0" in words or "A 0 4 1 0 0 0 B 1 4 0 1 1 1" in words
    assert "1 in all, 0 excluded." in words
    assert "1 of 10" in words


def test_landmarks_have_names_of_their_own(lab: Make) -> None:
    site = lab(systems="A", items=2)
    site.rater()
    assert landmarks(site.admin().page.text) == ["Ratings", "Table of ratings", "Export", "Raters", "Table of raters"]


def test_progress_counts_items_of_earlier_versions(lab: Make, tmp_path: Path) -> None:
    site = lab(systems="A", items=2)
    ann = site.rater()
    for _ in range(2):
        ann.post(item_of(ann.page), answers_of(ann.page))
    assert "2 of 2" in site.admin().page.words
    log = tmp_path / "A.jsonl"
    log.write_text(log.read_text().replace("heron", "crane"))
    desk = Desk(site.store, read_study(tmp_path / "herons.yaml"), site.clock, new_version=True)
    ann.app = site.app = rating_site(desk, SECRET, TOKEN).app()
    assert "3 of 4" in ann.get("/rate").words
    assert "2 of 4" in site.admin().page.words


def test_admin_can_exclude_and_include_raters(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    ann.post(item_of(ann.page), answers_of(ann.page))
    rater = site.desk.raters()[0].id
    boss = site.admin()
    page = boss.post("/admin/raters", {"rater": rater, "reason": " ", "what": "exclude"})
    assert page.status == 422
    assert "the reason for excluding them is empty: write one." in page.words
    page = boss.post("/admin/raters", {"rater": rater, "reason": "all the same", "what": "exclude"})
    assert "1 in all, 1 excluded." in page.words
    assert "Excluded: all the same" in page.words
    assert site.desk.raters()[0].excluded == "all the same"
    assert "0 excluded." in boss.post("/admin/raters", {"rater": rater, "what": "include"}).words
    assert boss.post("/admin/raters", {"rater": "nobody", "reason": "x", "what": "exclude"}).status == 422


def test_excluding_a_rater_keeps_the_current_page(lab: Make) -> None:
    site = lab()
    for number in range(101):
        site.desk.enrol(f"rater-{number:03}")
        site.clock.now += 1
    boss = site.admin()
    assert 'action="/admin/raters"' in boss.page.text
    form = 'action="/admin/raters?page=2"'
    assert form in boss.get("/admin?page=2").text
    page = boss.post("/admin/raters?page=2", {"rater": "rater-100", "reason": " ", "what": "exclude"})
    assert page.status == 422
    assert form in page.text
    assert 'aria-label="Reason to exclude rater-100" required aria-invalid="true"' in page.text
    page = boss.post("/admin/raters?page=2", {"rater": "rater-100", "reason": "too fast", "what": "exclude"})
    assert "Excluded: too fast" in page.words
    assert "Page 2 of 2" in page.words
    assert boss.post("/admin/raters?page=9", {"rater": "rater-100", "what": "include"}).status == 404
    boss.get("/admin")
    assert "Page 1 of 2" in boss.post("/admin/raters?page=x", {"rater": "rater-100", "what": "include"}).words


def test_ratings_are_exported_as_csv_and_jsonl(lab: Make, tmp_path: Path) -> None:
    site = lab()
    ann, bob = site.rater(), site.rater()
    for one in (ann, bob):
        one.post(item_of(one.page), answers_of(one.page))
    site.desk.exclude(site.desk.raters()[1].id, "too fast")
    boss = site.admin()
    page = boss.get("/admin/ratings.csv")
    assert page.header("content-disposition") == 'attachment; filename="herons.csv"'
    assert page.header("content-type") == "text/csv; charset=utf-8"
    assert page.header("cache-control") == "no-store"
    assert len(list(csv.DictReader(io.StringIO(page.text)))) == 2
    assert len(list(csv.DictReader(io.StringIO(boss.get("/admin/ratings.csv?excluded=yes").text)))) == 4
    page = boss.get("/admin/ratings.jsonl")
    assert [json.loads(line)["question"] for line in page.text.splitlines()] == ["own_reply", "relevance"]
    (tmp_path / "ratings.jsonl").write_bytes(page.content)
    assert len(ratings_of(tmp_path / "ratings.jsonl")) == 2
    assert boss.get("/admin/ratings.xlsx").status == 404


def test_raters_are_paginated(lab: Make) -> None:
    site = lab()
    for number in range(101):
        site.desk.enrol(f"rater-{number:03}")
        site.clock.now += 1
    boss = site.admin()
    assert "rater-099" in boss.page.text
    assert "rater-100" not in boss.page.text
    assert "Page 1 of 2" in boss.page.words
    assert "rater-100" in boss.get("/admin?page=2").text
    for page in ("0", "3", "-1", "x", "", "000000001999", "000000001" + "9" * 5000, "²"):
        assert boss.get(f"/admin?page={page}" if page != "²" else "/admin?page=%C2%B2").status == 404


def test_gold_checks_are_labelled_in_counts(lab: Make) -> None:
    check = {"reply": "No.", "expected": {"relevance": 1}}
    words = lab(checks=[check]).admin().page.words
    assert "check gold check 0 \N{EN DASH} 0" in words


def test_admin_token_is_read_from_environment() -> None:
    assert admin_token({}) == ""
    assert admin_token({"EMPATHY_ADMIN_TOKEN": "  "}) == ""
    assert admin_token({"EMPATHY_ADMIN_TOKEN": "0123456789abcdef\n"}) == "0123456789abcdef"
    with pytest.raises(OptionError, match="EMPATHY_ADMIN_TOKEN has 5 characters: expected at least 16"):
        admin_token({"EMPATHY_ADMIN_TOKEN": "12345"})
    with pytest.raises(OptionError, match="EMPATHY_ADMIN_TOKEN is not a text in UTF-8"):
        admin_token({"EMPATHY_ADMIN_TOKEN": os.fsdecode(b"0123456789abcdef\xff")})
