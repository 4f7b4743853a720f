"""Collecting empathetic dialogues as Rashkin et al. 2019 did (section 3): prompts, conversations, evaluations.

Two people each choose one of three emotions and describe a situation in which they felt it. The person whose situation
a conversation is about, the Speaker, begins; the Listener does not see the prompt. There is one conversation per
prompt, so two people have two conversations, with their roles swapped. As in a desk, each method is one transaction.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collecting import prompts
from parlai_empathy.rating.collecting.prompts import Prompt, prompt_of
from parlai_empathy.rating.collecting.text_rules import checked_situation, one_line
from parlai_empathy.rating.desk import messages, raters
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.messages import Said
from parlai_empathy.rating.desk.outcomes import Outcome
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.questions import Answer, read_answers
from parlai_empathy.rating.study.study import Study

OPEN, OVER, BROKEN = "open", "over", "left"
"""States of a conversation: under way, finished, or left by one of the two before it was long enough."""

ENDED = "ended"
"""Key in the details of a conversation's last message: when one of the two ended it, in seconds since 1970."""


@dataclass(frozen=True)
class Conversation:
    """A conversation about a prompt; the Speaker has the odd turns.

    :param begun: seconds since 1970.
    """

    id: str
    number: int
    prompt: Prompt
    speaker: str
    listener: str
    is_over: bool
    messages: tuple[Said, ...]
    begun: float = 0.0

    @property
    def next_to_speak(self) -> str:
        """The person whose turn it is."""
        return self.listener if len(self.messages) % 2 else self.speaker


class Collection:
    """The desk of a collection.

    :raises OptionError: if the desk's study is not of kind ``collect``.
    """

    def __init__(self, desk: Desk) -> None:
        if desk.study.kind != "collect":
            raise OptionError(f"{desk.study.where}: kind is {desk.study.kind}: a collection needs kind collect")
        self.desk = desk
        self.study = desk.study

    def offer(self, rater: str) -> Prompt:
        """Offer a person three emotions to choose from; the same three until they have chosen.

        A new person is offered the emotions chosen least often by everybody so far; a returning person those that they
        themselves have chosen least often, ties broken by everybody's choices (section 3 of the paper).
        """
        with self.desk.writing() as t:
            rater, now = raters.checked(rater), self.desk.clock()
            raters.enrolled(t, self.study.name, rater, now)
            if open_one := t.row(
                f"{prompts.ALL} AND rater = :rater AND emotion = ''", study=self.study.name, rater=rater
            ):
                return prompt_of(open_one)
            offered = prompts.least_chosen(t, self.study, rater)
            row = {"id": secrets.token_hex(16), "study": self.study.name, "version": self.study.version, "rater": rater}
            t.run(
                "INSERT INTO rating_prompts VALUES (:id, :study, :version, :rater, :offered, '', '', :made)",
                **row,
                offered=json.dumps(offered),
                made=now,
            )
            return Prompt(row["id"], rater, tuple(offered))

    def offered(self, id: str, rater: str) -> Prompt | None:
        """The prompt that a person was offered under this id, chosen or not; None if there is none."""
        with self.desk.store.reading() as t:
            row = t.row(f"{prompts.ALL} AND id = :id AND rater = :rater", study=self.study.name, id=id, rater=rater)
            return None if row is None else prompt_of(row)

    def choose(self, id: str, rater: str, emotion: str, situation: str) -> Outcome:
        """Store the emotion that a person has chosen and their situation; an earlier choice is not overwritten.

        :raises OptionError: if the emotion was not offered, or the situation is not 1 to 3 sentences.
        """
        situation = checked_situation(situation)
        with self.desk.writing() as t:
            row = t.row(f"{prompts.ALL} AND id = :id AND rater = :rater", study=self.study.name, id=id, rater=rater)
            if row is None:
                return Outcome.UNKNOWN
            if row["emotion"]:
                same = (row["emotion"], row["situation"]) == (emotion, situation)
                return Outcome.REPEATED if same else Outcome.ALREADY
            if emotion not in json.loads(row["offered"]):
                raise OptionError(
                    f"emotion {emotion!r} was not offered: choose one of {', '.join(json.loads(row['offered']))}"
                )
            t.run(
                "UPDATE rating_prompts SET emotion = :emotion, situation = :situation, made = :now WHERE id = :id",
                emotion=emotion,
                situation=situation,
                now=self.desk.clock(),
                id=id,
            )
            return Outcome.STORED

    def begin(self, prompt: str, listener: str) -> Conversation:
        """Begin the conversation about a prompt; if it has begun already, return it.

        :param prompt: its id.
        :raises OptionError: if the prompt is unknown or has no chosen emotion, if the listener is its author, or if it
            has another listener.
        """
        with self.desk.writing() as t:
            return self.begun(t, prompt, listener)

    def begun(self, t: Transaction, prompt: str, listener: str) -> Conversation:
        """:meth:`begin` inside an open transaction.

        :raises OptionError: as :meth:`begin`.
        """
        row = t.row(f"{prompts.ALL} AND id = :id AND emotion <> ''", study=self.study.name, id=prompt)
        if row is None or row["rater"] == listener:
            raise OptionError(f"prompt {prompt[:40]}: expected one with a situation, by somebody other than {listener}")
        raters.enrolled(t, self.study.name, raters.checked(listener), self.desk.clock())
        places = t.rows("SELECT count(*) AS n FROM rating_conversations WHERE study = :s", s=self.study.name)
        t.run(
            "INSERT INTO rating_conversations VALUES (:id, :study, :version, :place, :prompt, :speaker, :listener, "
            "'open', :begun) ON CONFLICT DO NOTHING",
            id=secrets.token_hex(16),
            study=self.study.name,
            version=self.study.version,
            place=places[0]["n"] + 1,
            prompt=prompt,
            speaker=row["rater"],
            listener=listener,
            begun=self.desk.clock(),
        )
        found = self.about(t, prompt)
        if found is None or found.listener != listener:
            raise OptionError(f"prompt {prompt[:40]}: it already has another listener")
        return found

    def about(self, t: Transaction, prompt: str) -> Conversation | None:
        """The conversation about a prompt, inside an open transaction; None if it has not begun."""
        sql = "SELECT id FROM rating_conversations WHERE study = :study AND prompt = :prompt"
        row = t.row(sql, study=self.study.name, prompt=prompt)
        return None if row is None else _conversation(t, row["id"])

    def conversation(self, id: str, rater: str) -> Conversation | None:
        """A conversation, if ``rater`` is one of its two people; otherwise None."""
        with self.desk.store.reading() as t:
            return _conversation(t, id) if self._row(t, id, rater) else None

    def say(self, id: str, rater: str, turn: int, text: str, details: Mapping[str, object] | None = None) -> Outcome:
        """Store a message of one of the two. The Speaker has the odd turns, the Listener the even ones.

        The conversation ends with turn ``most_turns`` of the study.

        :param turn: from 1; a stored message is never overwritten.
        :param details: anything else to store with the message, as JSON.
        :raises OptionError: if the text is empty, too long or cannot be stored.
        """
        text = one_line(text, "message")
        with self.desk.writing() as t:
            row = self._row(t, id, rater)
            if row is None:
                return Outcome.UNKNOWN
            there = len(messages.messages(t, id))
            if turn == there + 1 and (row["state"] != OPEN or there >= self.study.most_turns):
                return Outcome.TOO_LATE
            if not 1 <= turn <= there + 1 or rater != (row["speaker"] if turn % 2 else row["listener"]):
                return Outcome.UNKNOWN
            speaker = "speaker" if turn % 2 else "listener"
            outcome = messages.say(t, id, Said(turn, speaker, text, dict(details or {}), self.desk.clock()))
            if outcome is Outcome.STORED and turn == self.study.most_turns:
                self.close(t, id, OVER)
            return outcome

    def end(self, id: str, rater: str) -> bool:
        """End a conversation, and return whether it was long enough for that."""
        with self.desk.writing() as t:
            row = self._row(t, id, rater)
            if row is None or row["state"] == BROKEN or len(said := messages.messages(t, id)) < self.study.least_turns:
                return False
            if row["state"] == OPEN:
                messages.note(t, id, said[-1], {ENDED: self.desk.clock()})
                self.close(t, id, OVER)
            return True

    def close(self, t: Transaction, id: str, state: str) -> None:
        """End a conversation that is under way, inside an open transaction.

        :param state: :data:`OVER` or :data:`BROKEN`.
        """
        sql = "UPDATE rating_conversations SET state = :state WHERE id = :id AND state = 'open'"
        t.run(sql, state=state, id=id)

    def evaluate(self, id: str, rater: str, answers: Mapping[str, object]) -> Outcome:
        """Store one person's evaluation of the other; a later evaluation replaces an earlier one.

        :param answers: to the study's questions.
        :raises OptionError: if an answer is invalid.
        """
        read = read_answers(self.study.questions, answers)
        with self.desk.writing() as t:
            if self._row(t, id, rater) is None:
                return Outcome.UNKNOWN
            t.run_many(
                """INSERT INTO rating_evaluations VALUES (:id, :rater, :question, :rating, :text, :now)
                ON CONFLICT (conversation, rater, question) DO UPDATE
                SET rating = excluded.rating, text = excluded.text, given = excluded.given""",
                [
                    # Questions without an answer get a row too: they need not be asked again.
                    {"id": id, "rater": rater, "question": name, **answer._asdict(), "now": self.desk.clock()}
                    for name, answer in ((one.id, read.get(one.id, Answer())) for one in self.study.questions)
                ],
            )
            return Outcome.STORED

    def _row(self, t: Transaction, id: str, rater: str) -> Row | None:
        sql = "SELECT * FROM rating_conversations WHERE id = :id AND study = :study AND :rater IN (speaker, listener)"
        return t.row(sql, id=id, study=self.study.name, rater=rater)


_FINISHED = """SELECT id FROM rating_conversations AS c WHERE study = :study
    AND (state = 'over' OR state = 'open'
        AND EXISTS (SELECT 1 FROM rating_meetings AS m WHERE m.study = c.study
            AND c.prompt IN (m.first_prompt, m.second_prompt))
        AND (SELECT count(*) FROM rating_messages AS s WHERE s.assignment = c.id) >= :least
        AND (SELECT max(said) FROM rating_messages AS s WHERE s.assignment = c.id) < :silent_since)
    AND NOT EXISTS (SELECT 1 FROM rating_raters AS r WHERE r.study = c.study
        AND r.rater IN (c.speaker, c.listener) AND r.excluded IS NOT NULL) ORDER BY place"""


def finished(
    store: Store, study: Study, silent_since: float = 0.0
) -> list[tuple[Conversation, dict[str, dict[str, float]]]]:
    """The finished conversations, in the order in which they began, each with its evaluations: rater to question to
    point of its scale. Conversations of excluded people are left out. The store is not changed.

    :param silent_since: seconds since 1970. Open conversations of people who met in the browser count as finished if
        they are long enough and have had no message since then: both have left.
    """
    with store.reading() as t:
        rows = t.rows(_FINISHED, study=study.name, least=study.least_turns, silent_since=silent_since)
        return [(_conversation(t, row["id"]), _evaluations(t, row["id"])) for row in rows]


def _conversation(t: Transaction, id: str) -> Conversation:
    row = t.rows("SELECT * FROM rating_conversations WHERE id = :id", id=id)[0]
    prompt = prompt_of(t.rows("SELECT * FROM rating_prompts WHERE id = :id", id=row["prompt"])[0])
    said = tuple(messages.messages(t, id))
    people = (row["speaker"], row["listener"])
    return Conversation(id, row["place"], prompt, *people, row["state"] == OVER, said, row["begun"])


def _evaluations(t: Transaction, id: str) -> dict[str, dict[str, float]]:
    """What was answered on scales: a choice, which an earlier version may have asked for, has a text too."""
    found: dict[str, dict[str, float]] = {}
    sql = "SELECT * FROM rating_evaluations WHERE conversation = :id AND rating IS NOT NULL AND text IS NULL"
    for row in t.rows(sql, id=id):
        found.setdefault(row["rater"], {})[row["question"]] = row["rating"]
    return found
