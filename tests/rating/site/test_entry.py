"""Raters who arrive by a crowd's link, and what they get at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rating_site_lab import SECRET, answers_of, item_of

from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.site.pages import rating_site

Make = Callable[..., Any]
PROLIFIC = "/?PROLIFIC_PID=5f00aa&STUDY_ID=61bb&SESSION_ID="
MTURK = "/?hitId=3HIT&workerId=A1HERON&turkSubmitTo=https%3A%2F%2Fworkersandbox.mturk.com&assignmentId="


def rate_all(visitor: Any, link: str) -> None:
    visitor.get(link)
    visitor.post("/consent", {"agree": "yes"})
    visitor.get("/rate")
    while "/item/" in visitor.page.text and "questions" in visitor.page.text:
        visitor.post(item_of(visitor.page), answers_of(visitor.page))


def test_prolific_rater_gets_the_completion_link(lab: Make) -> None:
    site = lab(items=2, completion={"code": "C0DE"})
    ann = site.visitor()
    assert ann.get(f"{PROLIFIC}60cc", follow=False).location == "/"  # a redirect removes the ids from the address bar
    rate_all(ann, f"{PROLIFIC}60cc")
    assert 'href="https://app.prolific.com/submissions/complete?cc=C0DE"' in ann.page.text
    rater = site.desk.raters()[0]
    assert (rater.id, rater.done) == ("prolific:5f00aa", 2)
    assert rater.details["ticket"] == "60cc"


def test_same_link_resumes_in_another_browser(lab: Make) -> None:
    site = lab()
    ann, again = site.visitor(), site.visitor()
    ann.get(f"{PROLIFIC}60cc")
    ann.post("/consent", {"agree": "yes"})
    item = item_of(ann.get("/rate"))
    again.get(f"{PROLIFIC}60cc")
    again.post("/consent", {"agree": "yes"})
    assert item_of(again.get("/rate")) == item


def test_known_rater_id_with_another_ticket_is_rejected(lab: Make) -> None:
    site = lab()
    ann, thief = site.visitor(), site.visitor()
    ann.get(f"{PROLIFIC}60cc")
    ann.post("/consent", {"agree": "yes"})
    item = item_of(ann.get("/rate"))
    page = thief.get(f"{PROLIFIC}60dd")
    assert page.status == 403
    assert "Somebody has already begun under this name" in page.words
    assert thief.get(item).status in (200, 404)
    assert "q-own_reply" not in thief.page.text


def test_same_browser_may_return_with_a_new_ticket(lab: Make) -> None:
    site = lab()
    ann = site.visitor()
    ann.get(f"{PROLIFIC}60cc")
    ann.post("/consent", {"agree": "yes"})
    assert ann.get(f"{PROLIFIC}60dd").status == 200
    assert site.desk.raters()[0].details["ticket"] == "60dd"


def test_mechanical_turk_rater_gets_the_submit_form(lab: Make) -> None:
    site = lab(items=2, options={"mturk": True})
    ann = site.visitor(scheme="https")
    rate_all(ann, f"{MTURK}3ASSIGNMENT")
    assert '<form method="post" action="https://workersandbox.mturk.com/mturk/externalSubmit">' in ann.page.text
    assert ann.page.hidden("assignmentId") == "3ASSIGNMENT"
    assert ann.page.hidden("items") == "2"
    assert ann.page.hidden("token") == ""  # our form token is not sent to others


def test_submit_form_counts_the_items_of_earlier_versions_too(lab: Make) -> None:
    site = lab(items=2, options={"mturk": True})
    ann = site.visitor(scheme="https")
    rate_all(ann, f"{MTURK}3ASSIGNMENT")
    new = Desk(site.store, replace(site.desk.study, title="Herons!"), site.clock, new_version=True)
    ann.app = rating_site(new, SECRET, mturk=True).app()
    ann.get("/rate")
    assert (ann.page.hidden("assignmentId"), ann.page.hidden("items")) == ("3ASSIGNMENT", "2")


def test_mechanical_turk_preview_creates_no_rater(lab: Make) -> None:
    site = lab(options={"mturk": True})
    ann = site.visitor(scheme="https")
    page = ann.get(f"{MTURK}ASSIGNMENT_ID_NOT_AVAILABLE")
    assert "This is what you would do." in page.words
    assert "We were held up by the storm." in page.words
    assert "<form" not in page.text
    assert site.desk.raters() == []


def test_broken_links_show_an_error_page(lab: Make) -> None:
    ann = lab().visitor()
    page = ann.get("/?PROLIFIC_PID={{%25PROLIFIC_PID%25}}&SESSION_ID=1")
    assert page.status == 400
    assert "This link does not work" in page.words
    page = ann.get("/?assignmentId=1&workerId=2&turkSubmitTo=https://evil.example")
    assert page.status == 400
    assert "evil" not in page.text


def test_refused_link_offers_no_start_as_somebody_else(lab: Make) -> None:
    """Work done without the link's id can neither be submitted to the marketplace nor be paid."""
    site = lab(options={"mturk": True})
    ann, other = site.visitor(scheme="https"), site.visitor(scheme="https")
    ann.get(f"{MTURK}3ASSIGNMENT")
    assert other.get(f"{MTURK}4ASSIGNMENT").status == 403
    assert 'href="/"' not in other.page.text
    assert other.get("/?PROLIFIC_PID=5f00aa").status == 400
    assert 'href="/"' not in other.page.text
    assert 'href="/"' in other.get("/item/unknown/page").text  # other error pages lead to the beginning


def test_id_parameter_option_names_the_url_parameter(lab: Make) -> None:
    site = lab(options={"id_parameter": "panelist"})
    site.visitor().get("/?panelist=42")
    assert [rater.id for rater in site.desk.raters()] == ["link:42"]
    other = lab()
    other.visitor().get("/?panelist=43")
    assert [rater.id for rater in other.desk.raters()] == ["link:42"]


def test_another_rater_in_the_same_browser_must_consent_again(lab: Make) -> None:
    site = lab()
    ann = site.visitor()
    ann.get(f"{PROLIFIC}60cc")
    ann.post("/consent", {"agree": "yes"})
    assert "I have read this" in ann.get("/?PROLIFIC_PID=5f00bb&SESSION_ID=60ee").words
