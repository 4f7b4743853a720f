"""A rater's way through the site, page by page, without a browser."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from rating_site_lab import SECRET, answers_of, item_of

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.site.pages import check_kind, rating_site
from parlai_empathy.rating.study.study_file import read_study

Make = Callable[..., Any]


def rows(lab: Any) -> list[dict[str, Any]]:
    return list(rating_rows(lab.store, lab.desk.study.name))


def test_rater_completes_study_and_gets_completion_code(lab: Make) -> None:
    site = lab("ed", systems="ABC", ratings_per_system=5, completion={"text": "Done.", "code": "HERON-7"})
    ann = site.visitor()
    page = ann.get("/")
    assert "Taking part is voluntary" in page.words
    assert "People tell of sad and frightening things here" in page.words
    page = ann.post("/consent", {"agree": "yes"})
    assert "What to do" in page.words
    assert "It names the feeling, and asks about it." in page.words
    assert "5, very much" in page.words
    page = ann.get("/rate")
    for number in range(1, 11):
        assert f"{number} of 10" in page.words
        page = ann.post(item_of(page), answers_of(page))
    assert "Done." in page.words
    assert "HERON-7" in page.words
    assert len(rows(site)) == 30
    assert {row["rating"] for row in rows(site)} == {5}
    assert site.desk.raters()[0].consented


def test_items_are_hidden_without_consent(lab: Make) -> None:
    site = lab()
    ann = site.visitor()
    for address in ("/rate", "/instructions", "/item/0123"):
        assert "I have read this, and I agree" in ann.get(address).words
    page = ann.post("/consent")
    assert page.status == 422
    assert "Tick this box to take part." in page.words
    assert site.desk.raters() == []


def test_study_without_consent_text_asks_for_no_consent(lab: Make) -> None:
    site = lab(consent="", content_warning="")
    ann = site.visitor()
    assert "I agree" not in ann.get("/").words
    assert "What to do" in ann.post("/consent").words
    assert "1 of 12" in ann.get("/rate").words


def test_invalid_answers_are_listed_and_linked(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    item = item_of(ann.page)
    page = ann.post(item, {"q-relevance": "4"})
    assert page.status == 422
    assert '<a href="#q-own_reply">What would you say here?</a> Write an answer.' in page.text
    assert 'aria-describedby="q-own_reply-hint q-own_reply-problem" aria-invalid="true"' in page.text
    assert 'value="4" data-key="4" checked' in page.text  # given answers are kept
    page = ann.post(item, {"q-relevance": "4", "q-own_reply": "Oh"})
    assert "Write at least 3 characters; this is 2." in page.words
    page = ann.post(item, {"q-relevance": "9", "q-own_reply": "a" * 501})
    assert "Write at most 500 characters; this is 501." in page.words
    assert "Choose one of the answers." in page.words
    page = ann.post(item, {"q-relevance": "4", "q-own_reply": "Oh\0no"})
    assert "This contains a character that cannot be stored." in page.words
    assert rows(site) == []


def test_free_text_is_stored_stripped_and_unescaped(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    ann.post(item_of(ann.page), {"q-relevance": "4", "q-own_reply": "  Käme ich,\r\n<b>gern</b> 🐦\r\n"})
    assert [row["text"] for row in rows(site) if row["text"]] == ["Käme ich,\n<b>gern</b> 🐦"]


def test_crlf_counts_as_one_character(lab: Make) -> None:
    # 250 letters and 249 line breaks are 499 characters; with two characters per break they would be 748, above 500.
    site = lab()
    ann = site.rater()
    ann.post(item_of(ann.page), {"q-relevance": "4", "q-own_reply": "\r\n".join("a" * 250)})
    assert len(rows(site)) == 2


def test_reload_shows_the_same_item(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    item = item_of(ann.page)
    assert item_of(ann.get(item)) == item
    assert item_of(ann.get("/rate")) == item
    assert item_of(ann.get("/")) == item


def test_restart_keeps_session_and_answers(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    ann.post(item_of(ann.page), answers_of(ann.page))
    second = item_of(ann.page)
    ann.app = lab().app  # the same store and secret
    assert item_of(ann.get("/")) == second
    assert "2 of 12" in ann.page.words
    assert ann.post(second, answers_of(ann.page)).status == 200
    assert len(rows(site)) == 4


def test_answers_can_be_revised(lab: Make) -> None:
    site = lab(items=3)
    ann = site.rater()
    first = item_of(ann.page)
    ann.post(first, answers_of(ann.page, "Before."))
    second = item_of(ann.page)
    assert f'<a class="button quiet" href="{first}">Back</a>' in ann.page.text
    page = ann.get(first)
    assert "You have answered this one." in page.words
    assert "Before.</textarea>" in page.text
    assert 'value="5" data-key="5" checked' in page.text
    page = ann.post(first, {**answers_of(page, "After."), "q-relevance": "2", "revise": "yes"})
    assert item_of(page) == second
    assert {(row["rating"], row["text"]) for row in rows(site)} == {(2, ""), (None, "After.")}


def test_revision_adds_to_rating_time(lab: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    site = lab()
    now = [1000.0]
    monkeypatch.setattr("parlai_empathy.rating.site.item.time.time", lambda: now[0])
    ann = site.rater()
    item = item_of(ann.page)
    now[0] += 20
    ann.post(item, answers_of(ann.page))
    assert {row["seconds"] for row in rows(site)} == {20}
    page = ann.get(item)
    now[0] += 3
    ann.post(item, {**answers_of(page, "Otherwise."), "revise": "yes"})
    assert {row["seconds"] for row in rows(site)} == {23}


def test_forged_display_time_is_ignored(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    site.clock.now += 9
    ann.post(item_of(ann.page), {**answers_of(ann.page), "shown": "1000000.0"})
    assert {row["seconds"] for row in rows(site)} == {9}  # since the item was handed out


def test_double_click_on_begin_creates_one_rater(lab: Make) -> None:
    site = lab()
    visitor = site.visitor()
    visitor.get("/")
    cookies, token = dict(visitor.cookies), visitor.page.hidden("token")
    names = set()
    for _ in range(2):
        visitor.cookies = dict(cookies)  # the browser sent both before it received the rater's cookie
        visitor.post("/consent", {"agree": "yes"}, token=token)
        names.add(visitor.get("/rate") and item_of(visitor.page))
    assert len(names) == 1
    assert len(site.desk.raters()) == 1
    other = site.rater()
    assert len(site.desk.raters()) == 2
    assert item_of(other.page) not in names


def test_double_submission_stores_answers_once(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    item, said, token = item_of(ann.page), answers_of(ann.page), ann.page.hidden("token")
    with ThreadPoolExecutor(2) as pool:
        clicks = [pool.submit(ann.post, item, said, token, False) for _ in range(2)]
    assert [one.result().status for one in clicks] == [303, 303]
    assert len({one.result().location for one in clicks}) == 1
    assert len(rows(site)) == 2


def test_changed_answers_from_cached_page_need_confirmation(lab: Make) -> None:
    """Answers changed in the browser's cached copy of an answered page are neither lost nor stored without asking."""
    site = lab()
    ann = site.rater()
    item, old = item_of(ann.page), ann.page
    ann.post(item, answers_of(old, "First."))
    page = ann.post(item, answers_of(old, "Second."), old.hidden("token"))
    assert page.status == 409
    assert "You have answered this one before, and those answers are kept." in page.words
    assert "Second.</textarea>" in page.text
    assert [row["text"] for row in rows(site) if row["text"]] == ["First."]
    assert page.hidden("revise") == "yes"
    ann.post(item, {**answers_of(page, "Second."), "revise": "yes"})
    assert [row["text"] for row in rows(site) if row["text"]] == ["Second."]


def test_answer_is_one_write_and_viewing_pages_writes_nothing(lab: Make) -> None:
    def writes() -> int:
        with site.store.reading() as t:
            return int(t.rows("SELECT turn FROM rating_studies")[0]["turn"])

    site = lab()
    ann = site.rater()
    first, before = item_of(ann.page), writes()
    ann.post(first, answers_of(ann.page))  # also loads the page of the next item, to which it redirects
    assert item_of(ann.page) != first
    assert writes() == before + 1
    for address in (first, item_of(ann.page), "/rate", "/"):
        assert ann.get(address).status == 200
    assert writes() == before + 1


def test_two_tabs_show_the_same_item(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    item, tab = item_of(ann.page), ann.page
    assert item_of(ann.get("/rate")) == item
    ann.post(item, answers_of(ann.page, "One."))
    assert ann.post(item, answers_of(tab, "One."), tab.hidden("token")).status == 200  # the same: no change
    assert len(rows(site)) == 2


def test_late_answer_is_accepted_while_item_is_unassigned(lab: Make) -> None:
    site = lab(minutes=1)
    ann = site.rater()
    site.clock.now += 61
    assert ann.post(item_of(ann.page), answers_of(ann.page)).status == 200
    assert len(rows(site)) == 2


def test_expired_item_is_shown_again_while_still_free(lab: Make) -> None:
    site = lab(minutes=1, ratings_per_item=3)
    one = site.rater()
    address = item_of(one.page)
    site.clock.now += 61
    site.rater()  # reclaims late items
    assert one.get(address).status == 200
    assert item_of(one.page) == address
    assert item_of(one.get("/rate")) == address


def test_item_reassigned_after_expiry_shows_conflict_page(lab: Make) -> None:
    site = lab(systems="A", items=1, minutes=1, ratings_per_item=1)
    ann = site.rater()
    item, said = item_of(ann.page), answers_of(ann.page)
    site.clock.now += 61
    site.rater(address="192.0.2.2")
    page = ann.post(item, said)
    assert page.status == 409
    assert "This one is no longer open" in page.words
    assert ann.get(item).status == 409
    assert "This study is full" in ann.get("/rate").words


def test_items_of_an_earlier_version_show_conflict_page(lab: Make) -> None:
    site = lab()
    ann, bob = site.rater(), site.rater()
    done, said = item_of(ann.page), answers_of(ann.page)
    ann.post(done, said)
    current, token = item_of(ann.page), ann.page.hidden("token")
    study = dataclasses.replace(site.desk.study, title="Other herons")
    desk = Desk(site.store, study, site.clock, new_version=True)
    ann.app = bob.app = rating_site(desk, SECRET).app()
    for page in (
        *(ann.get(done), ann.get(current), ann.post(current, {}, token), ann.post(current, said, token)),
        *(ann.post(done, {**said, "revise": "yes"}, token), ann.post(done, {}, token)),
    ):
        assert page.status == 409
        assert "the study has changed meanwhile" in page.words
    assert bob.get(done).status == 404
    assert item_of(ann.get("/")) != current


def test_full_study_shows_message(lab: Make) -> None:
    site = lab(systems="A", items=1, ratings_per_item=1)
    ann, bob = site.rater(), site.rater()
    assert "Nothing to do at the moment" in bob.page.words
    assert "Thank you" in ann.post(item_of(ann.page), answers_of(ann.page)).words
    assert "This study is full" in bob.get("/rate").words


def test_excluded_rater_cannot_continue_or_revise(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    first = item_of(ann.page)
    ann.post(first, answers_of(ann.page))
    second, said, token = item_of(ann.page), answers_of(ann.page), ann.page.hidden("token")
    site.desk.exclude(site.desk.raters()[0].id, "all the same")
    page = ann.get(second)
    assert page.status == 403
    assert "You cannot continue here" in page.words
    page = ann.post(second, said, token)
    assert page.status == 403
    assert "You cannot continue here" in page.words
    assert "What you have sent is kept." in page.words
    page = ann.get(first)
    assert ann.post(first, {**answers_of(page, "Other."), "revise": "yes"}).status == 403
    assert len(list(rating_rows(site.store, "herons", excluded=True))) == 2


def test_pairwise_answers_map_from_sides_to_systems(lab: Make) -> None:
    site = lab("empgpt3_ab", items_per_rater=4)
    ann = site.rater()
    for _ in range(4):
        page = ann.page
        left, right = page.words.index("Reply 1 (left)"), page.words.index("Reply 2 (right)")
        assert left < right
        a_is_left = page.words.index("A is glad") < page.words.index("B is glad")
        before = len(rows(site))
        said = {**answers_of(page), **{f"q-{name}": "left" for name in ("empathy", "relevance", "fluency")}}
        ann.post(item_of(page), said)
        assert {row["rating"] for row in rows(site)[before:]} == {1 if a_is_left else -1}
    assert "Thank you" in ann.page.words


def test_acute_page_labels_conversations_and_offers_no_tie(lab: Make) -> None:
    page = lab("acute").rater().page
    assert page.words.count("Conversation 1 (left)") >= 2  # heading and answers
    assert "No difference" not in page.words  # this study has no ties
    assert "(optional)" in page.words


@pytest.mark.parametrize("kind", ["chat", "collect_ed"])
def test_unsupported_study_kinds_raise_one_line_error(kind: str) -> None:
    with pytest.raises(OptionError, match="the rating site serves likert and pairwise") as caught:
        check_kind(read_study(kind))
    assert "\n" not in str(caught.value)
