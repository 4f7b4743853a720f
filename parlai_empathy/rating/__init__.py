"""Ratings of replies by people: studies, assignment of items, storage of answers.

A study (:mod:`~parlai_empathy.rating.study`) describes what is rated; it is read from a file, or is one of those
included. A store (:mod:`~parlai_empathy.rating.storage`) keeps the ratings. A desk (:mod:`~parlai_empathy.rating.desk`)
connects the two: it assigns items to raters and stores their answers. The terminal, web pages and crowds all use it::

    study = read_study("ed", systems={"A": "a.jsonl", "B": "b.jsonl"})   # study_file: a name or a file
    store = open_store("ratings.db")                                     # store: or postgresql://user@host/name
    desk = Desk(store, study)                                            # desk: registers the study's items, once

    desk.enrol("rater-7", consented=True)                                # idempotent
    found = desk.next_item("rater-7")                                    # Assignment, or Nothing with the reason
    found.item.context, found.item.reply                                 # to be shown; in pairs: found.left ...
    desk.answer(found.id, "rater-7", {"empathy": 4, ...}, seconds=31.5)  # Outcome.STORED; sent again: REPEATED
    desk.give_back(found.id, "rater-7")                                  # instead of answering: it goes to others
    desk.progress("rater-7")                                             # Progress(done=3, of=10)

Each call is one transaction, can be made from any thread of any process, never waits for a person, and is durable when
it returns. ``next_item`` returns an open item again, so a page can be reloaded. ``found.id`` cannot be guessed, and is
valid only for its own rater.

Answers are checked by :func:`~parlai_empathy.rating.study.questions.problems`, which returns one line for each question
with an invalid answer, to be shown beside it; ``desk.answer`` raises the first of them as an ``OptionError``. Answers
are texts or numbers, keyed by the question's ``id``: the point of a ``likert``, the text of a ``choice`` or ``text``,
and ``left``, ``right`` or ``tie`` for a ``preference``, as the rater saw the two.

Other methods of the desk:

- ``desk.answer_and_next(...)`` is ``answer`` and ``next_item`` in one transaction, for sites with many raters.
- ``desk.say(...)`` and ``desk.messages(id, rater)`` store and return the messages of a chat;
  ``desk.mark(id, rater, turn, answers)`` stores the answers about one of its turns.
- ``desk.exclude(rater, reason)`` and ``desk.include(rater)`` are the inverse of each other.
- ``desk.raters()`` lists the raters; ``desk.counts()`` returns the numbers of ratings, for an administrator's page.
- ``desk.assigned(id, rater)`` and ``desk.answered(rater)`` return earlier assignments.

:func:`~parlai_empathy.rating.export.write_export` writes all ratings as CSV or JSON lines, which
:mod:`~parlai_empathy.rating.ratings_file` reads.

:class:`~parlai_empathy.rating.collecting.collection.Collection` collects dialogues between two people: offer, choose,
begin, say, end, evaluate. In the worlds of :mod:`~parlai_empathy.rating.worlds`, the raters are ParlAI agents.
"""
