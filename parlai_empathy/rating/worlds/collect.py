"""Collecting dialogues from two people, as for EmpatheticDialogues (Rashkin et al. 2019, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.opt import Opt
from parlai.core.worlds import World

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collecting.collection import Collection, Conversation
from parlai_empathy.rating.collecting.meeting import Duty, Meeting
from parlai_empathy.rating.collecting.prompts import Prompt
from parlai_empathy.rating.collecting.text_rules import checked_situation
from parlai_empathy.rating.desk import raters
from parlai_empathy.rating.wording import counted
from parlai_empathy.rating.worlds.interview import Interview
from parlai_empathy.rating.worlds.plain_text import consent, introduction
from parlai_empathy.rating.worlds.talking import Command, ask, show

DONE = "done"
_NAMES = ("Speaker", "Listener")


class CollectEmpatheticWorld(World):
    """Two people choose emotions, describe situations and talk about each: two conversations, with roles swapped.

    Neither sees the other's prompt. If one of them quits, it ends for both; complete conversations are kept.

    :param opt: holds the two people's names as ``raters``.
    :param agents: the two people.
    :param collection: stores prompts, messages and answers.
    """

    def __init__(self, opt: Opt, agents: Sequence[Any], collection: Collection) -> None:
        super().__init__(Opt({"task": "collect", **opt}), list(agents))
        names = [raters.checked(name) for name in opt["raters"]]
        if len(names) != 2 or len(agents) != 2 or names[0] == names[1]:
            raise OptionError(f"raters {', '.join(names)}: a collection needs two people with different names")
        self._agents: dict[str, Any] = dict(zip(names, agents, strict=True))
        self._collection = collection
        self._prompts: dict[str, Prompt] = {}
        self._talks: list[Conversation] = []
        self._judged: set[tuple[str, str]] = set()
        self._is_over = False

    def epoch_done(self) -> bool:
        """Whether both conversations have ended, or somebody has quit."""
        return self._is_over

    def parley(self) -> None:
        """Do one step: one person's prompt, one turn, or one person's answers about a conversation."""
        self.total_parleys += 1
        if self._is_over:
            return
        try:
            self._step()
        except _QuitError as quitting:
            for agent in self._agents.values():
                show(agent, f"{quitting}: the session ends here. Finished conversations are kept.")
            self._is_over = True

    def _step(self) -> None:
        waiting = next((name for name in self._agents if name not in self._prompts), None)
        if waiting is not None:
            self._prompts[waiting] = self._prompt(waiting)
            return
        meeting = self._meeting()
        duties = {meeting.duty(name): name for name in reversed(self._agents)}  # on a tie, the first person
        if name := duties.get(Duty.JUDGE):
            self._evaluate(self._talks[-1], name)
        elif name := duties.get(Duty.SPEAK):
            self._talk(self._talks[-1], name, meeting)
        elif Duty.BEGIN in duties:
            self._begin(*meeting.next_roles)
        else:
            self._end()

    def _meeting(self) -> Meeting:
        first, second = self._agents
        return Meeting(self._collection.study, (first, second), tuple(self._talks), frozenset(self._judged))

    # --- prompts -----------------------------------------------------------------------------------------------------

    def _prompt(self, name: str) -> Prompt:
        agent, study = self._agents[name], self._collection.study
        if study.consent:
            while self._ask(name, consent(study)).casefold() not in ("yes", "y"):
                pass
        self._collection.desk.enrol(name, consented=True)
        show(agent, introduction(study))
        prompt = self._collection.offer(name)
        emotion = self._emotion(name, prompt.offered)
        situation = self._situation(name, emotion)
        self._collection.choose(prompt.id, name, emotion, situation)
        return Prompt(prompt.id, name, prompt.offered, emotion, situation)

    def _emotion(self, name: str, offered: Sequence[str]) -> str:
        listed = "\n".join(f"   {place}  {emotion}" for place, emotion in enumerate(offered, start=1))
        by_answer = {str(place): emotion for place, emotion in enumerate(offered, start=1)}
        by_answer.update((emotion, emotion) for emotion in offered)
        while True:
            said = self._ask(name, f"Choose a feeling:\n{listed}")
            if said.casefold() in by_answer:
                return by_answer[said.casefold()]

    def _situation(self, name: str, emotion: str) -> str:
        question = f"Describe a situation in which you felt {emotion}, in one to three sentences."
        while True:
            try:
                return checked_situation(self._ask(name, question))
            except OptionError as error:
                question = f"Please write it again: {error}."

    # --- conversations -----------------------------------------------------------------------------------------------

    def _begin(self, speaker: str, listener: str) -> None:
        prompt = self._prompts[speaker]
        self._talks.append(self._collection.begin(prompt.id, listener))
        study = self._collection.study
        least, most = counted(study.least_turns, "turn"), counted(study.most_turns, "turn")
        length = f"The conversation has {study.least_turns} to {most}. After {least} you can type `{DONE}` to end it."
        own = f"You are the Speaker. Talk about your situation, in which you felt {prompt.emotion}: {prompt.situation}"
        show(self._agents[speaker], f"{own}\n{length}")
        show(self._agents[listener], f"You are the Listener. The other person begins.\n{length}")

    def _talk(self, talk: Conversation, name: str, meeting: Meeting) -> None:
        """One turn."""
        there = len(talk.messages)
        said = self._ask(name, "")
        if said.casefold() == DONE:
            if meeting.can_end(talk):
                self._collection.end(talk.id, name)
                self._refresh(talk)
            else:
                least = self._collection.study.least_turns
                show(self._agents[name], f"Please continue: {counted(there, 'turn')} so far, of at least {least}.")
            return
        try:
            self._collection.say(talk.id, name, there + 1, said)
        except OptionError as error:
            show(self._agents[name], f"Please write it again: {error}.")
            return
        show(self._agents[meeting.other(name)], said, _NAMES[there % 2])
        self._refresh(talk)

    def _evaluate(self, talk: Conversation, name: str) -> None:
        interview = Interview(self._collection.study.questions)
        show(self._agents[name], "This conversation has ended. How was it?")
        while not interview.is_done:
            said = ask(self._agents[name], interview.question)
            if said is Command.QUIT:
                raise _QuitError("Somebody has quit")
            if said is Command.BACK:
                interview.back()
            elif wrong := interview.hear(said):
                show(self._agents[name], f"Please answer again: {wrong}.")
        self._collection.evaluate(talk.id, name, interview.answers)
        self._judged.add((talk.id, name))

    def _refresh(self, talk: Conversation) -> None:
        found = self._collection.conversation(talk.id, talk.speaker)
        assert found is not None
        self._talks[-1] = found

    def _end(self) -> None:
        for agent in self._agents.values():
            show(agent, self._collection.study.completion_text or "That was all. Thank you!")
        self._is_over = True

    def _ask(self, name: str, text: str) -> str:
        """Ask for an answer; `quit` raises an error."""
        while isinstance(said := ask(self._agents[name], text), Command):
            if said is Command.QUIT:
                raise _QuitError("Somebody has quit")
            show(self._agents[name], "What was said cannot be taken back.")
        return said


class _QuitError(Exception):
    """Somebody has quit."""
