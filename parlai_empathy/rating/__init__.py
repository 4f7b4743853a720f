"""Replies that people rate: what they are asked to rate, and what they said.

A study is data (:mod:`~parlai_empathy.rating.study`), read from a file or taken from those that come along; a store
(:mod:`~parlai_empathy.rating.store`) keeps what raters say; a desk (:mod:`~parlai_empathy.rating.desk`) stands between
the two: it hands out items and takes answers. A terminal, a web page and a crowd all go to the same desk::

    study = read_study("ed", systems={"A": "a.jsonl", "B": "b.jsonl"})   # study_file: a name or a file
    store = open_store("ratings.db")                                     # store: or postgresql://user@host/name
    desk = Desk(store, study)                                            # desk: registers the study's items, once

    desk.enrol("rater-7", consented=True)                                # twice is once
    found = desk.next_item("rater-7")                                    # Assignment, or Nothing that says why
    found.item.context, found.item.reply                                 # what is to be shown; of pairs: found.left ...
    desk.answer(found.id, "rater-7", {"empathy": 4, ...}, seconds=31.5)  # Outcome.STORED; sent again: REPEATED
    desk.give_back(found.id, "rater-7")                                  # instead of answering: it goes to others
    desk.progress("rater-7")                                             # Progress(done=3, of=10)

Each of these calls is one transaction, may be made by any thread of any process, never waits for a person, and has
happened for good when it returns. ``next_item`` gives a rater who has an open item the same one again, so that a page
may be loaded twice. ``found.id`` cannot be guessed, and serves its own rater alone.

What raters send is checked by :func:`~parlai_empathy.rating.questions.problems`: for each question that is answered
wrongly one line to show beside it; ``desk.answer`` raises the first of them as an ``OptionError``. Answers are texts
or numbers by the question's ``id``: of ``likert`` the point, of ``choice`` the choice's text, of ``text`` the text, of
``preference`` ``left``, ``right`` or ``tie``, as the rater saw the two.

More of the desk: ``desk.answer_and_next(...)`` is ``answer`` and ``next_item`` in one transaction, for sites with many
raters, ``desk.mark(id, rater, turn, answers)`` stores what is said of one turn of a chat, ``desk.say(...)`` and
``desk.messages(id, rater)`` keep a chat's messages, ``desk.counts()`` is for an administrator's page,
``desk.exclude(rater, reason)`` and ``desk.include(rater)`` undo each other, ``desk.raters()`` lists the raters,
``desk.assigned(id, rater)`` and ``desk.answered(rater)`` give what was handed out before, and
:func:`~parlai_empathy.rating.export.write_export` writes all ratings as CSV or JSON lines, the format of
:mod:`~parlai_empathy.rating.ratings_file`.

Dialogues are collected with :class:`~parlai_empathy.rating.collection.Collection`, which is to two people what a desk
is to one: offer, choose, begin, say, end, evaluate.

The worlds of :mod:`~parlai_empathy.rating.worlds` put ParlAI's agents in the rater's place.
"""
