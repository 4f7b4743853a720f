"""``-m empathy:in_context``: a language model generates replies without training (Lee et al. 2022, EmpGPT-3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.agents import Agent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.misc import warn_once

from parlai_empathy.agents.in_context import options
from parlai_empathy.agents.in_context.dialogue_history import DialogueHistory
from parlai_empathy.agents.in_context.parts import Parts, make_parts
from parlai_empathy.agents.in_context.reply import reply_fields, reply_text
from parlai_empathy.agents.in_context.selection import Chosen, Query
from parlai_empathy.agents.in_context.template import Turn
from parlai_empathy.agents.in_context.truncation import Fitted, fitted
from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.completion import Answer
from parlai_empathy.language_models.partial_answers import PartialAnswers, Say
from parlai_empathy.language_models.prompt import Prompt

_NO_WEIGHTS = b"empathy:in_context has no weights: see the options beside this file\n"


class InContextAgent(Agent):
    """Prompts a language model for the Listener's next turn.

    Besides ``text``, its messages contain ``examples`` (ids of the conversations shown, most similar last), ``oracle``,
    ``prompt_tokens``, ``completion_tokens``, ``finish``, ``cached``; and where applicable ``emotion_used``,
    ``dropped_examples``, ``dropped_turns``, ``no_answer``.
    """

    learns = False
    """``parlai train_model`` only saves its options as a model file."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options, and its defaults for ParlAI's own options."""
        return options.add(parser, partial_opt or {})

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        super().__init__(opt, shared)
        self.id = "InContext"
        self._in_chat = bool(opt.get("interactive_mode"))
        self._history = DialogueHistory(self._in_chat)
        self._is_original = shared is None
        if shared is None:
            options.check(opt)
        self._parts: Parts = shared["parts"] if shared else make_parts(opt)
        self._logged = 0  # number of prompts already reported in the log

    def share(self) -> dict[str, Any]:
        """Share the parts with copies of this agent; each copy has its own conversation."""
        return {**super().share(), "parts": self._parts}

    # --- the conversation --------------------------------------------------------------------------------------------

    def observe(self, observation: Message) -> Message:
        """Receive a message, and add the conversation so far to it."""
        self._history.hear(observation)
        self.observation = Message({**observation, "history": self._history.turns})
        return self.observation

    def self_observe(self, self_message: Message) -> None:
        """Add this agent's own reply to the conversation."""
        self._history.say(self_message)

    def reset(self) -> None:
        """Start a new conversation."""
        super().reset()
        self._history.clear()
        self._log_usage()

    def shutdown(self) -> None:
        """Log the model's usage."""
        self._log_usage()

    # --- answering ---------------------------------------------------------------------------------------------------

    def act(self) -> Message:
        """Answer the last observation."""
        reply = self.batch_act([self.observation])[0]
        self.self_observe(reply)
        return reply

    def act_streaming(self, say: Say) -> Message:
        """Like :meth:`act`, but stream the reply while the model generates it.

        :param say: called with the reply's text so far, whenever it has grown.
        :raises LanguageModelError: if the model fails permanently, possibly after part of the reply was streamed; that
            part is not added to the conversation.
        """
        reply = self._replies([self.observation], say)[0]
        self.self_observe(reply)
        return reply

    def batch_act(self, observations: Sequence[Message | None]) -> list[Message]:
        """Answer messages, with concurrent requests.

        :param observations: of copies of this agent. If nothing was said, or only blanks, the answer has no text.
        :raises LanguageModelError: if the model fails permanently. Earlier answers are in the cache.
        """
        return self._replies(observations)

    def _replies(self, observations: Sequence[Message | None], say: Say | None = None) -> list[Message]:
        """Return the replies.

        :param say: for a single message: called with the reply's text so far.
        """
        replies = [Message({"id": self.id, "episode_done": False}) for _ in observations]
        asked = [
            (reply, observation)
            for reply, observation in zip(replies, observations, strict=True)
            if observation
            and not observation.is_padding()
            and (observation.get("text") or "").strip()
            and observation["history"]
        ]
        if asked:
            try:
                answers = self._answers([observation for _, observation in asked], say)
            except BaseException:  # also Control-C: what was used by then is paid for
                self._log_usage()
                raise
            for (reply, _), answer in zip(asked, answers, strict=True):
                reply.update(answer)
        return replies

    def _answers(self, observations: Sequence[Message], say: Say | None) -> list[dict[str, Any]]:
        """Return the fields of each reply."""
        if any("labels" in observation for observation in observations):
            raise OptionError("empathy:in_context cannot be trained: use parlai eval_model, interactive or self_chat")
        parts = self._parts
        queries = [self._query(observation) for observation in observations]
        chosen = parts.selector.choose(queries) if parts.selector else [Chosen(())] * len(queries)
        prompts = [
            fitted(parts.template, one.examples, self._said(observation), parts.room, parts.model.count_tokens)
            for one, observation in zip(chosen, observations, strict=True)
        ]
        self._count(prompts)
        answers = self._completed([prompt.prompt for prompt in prompts], say)
        return [
            self._reply(answer, prompt, one, is_measured="eval_labels" in observation)
            for answer, prompt, one, observation in zip(answers, prompts, chosen, observations, strict=True)
        ]

    def _completed(self, prompts: Sequence[Prompt], say: Say | None) -> list[Answer]:
        """Return the model's answers."""
        model, sampling = self._parts.model, self._parts.sampling
        if say is None:
            return model.complete(prompts, sampling)
        partial = PartialAnswers(say)

        def report(text: str) -> None:
            partial.grow(reply_text(text, sampling.stop))  # without trailing spaces it may be as long as before

        return [model.stream(prompt, sampling, report) for prompt in prompts]

    def _said(self, observation: Message) -> list[Turn]:
        """Return the turns of the conversation for the prompt."""
        return [turn._replace(text=self._parts.model.as_words(turn.text)) for turn in observation["history"]]

    def _query(self, observation: Message) -> Query:
        turns: tuple[Turn, ...] = observation["history"]
        # Without an oracle, nothing but the words is even passed on.
        known = {name: observation.get(name) for name in ("situation", "emotion")} if self.opt["oracle"] else {}
        return Query(tuple(turn.text for turn in turns), observation.get("conv_id"), **known)

    def _reply(self, answer: Answer, prompt: Fitted, chosen: Chosen, is_measured: bool) -> dict[str, Any]:
        """Return the fields of a reply; if there is no answer, count it and log a warning."""
        parts = self._parts
        fields = reply_fields(answer, prompt, chosen.emotion, parts.sampling.stop, is_measured)
        fields["oracle"] = bool(self.opt["oracle"] and parts.selector)
        if "no_answer" in fields:
            parts.tally.no_answers += 1
            warn = logging.warning if self._in_chat else warn_once  # an evaluation reports their number at its end
            warn(f"{parts.model.name} gave no answer ({fields['no_answer']})")
        return fields

    # --- usage --------------------------------------------------------------------------------------------------------

    def _count(self, prompts: Sequence[Fitted]) -> None:
        self._parts.tally.add(prompts)
        if self._parts.tally.shortened:
            warn_once(
                f"Some prompts are longer than the {self._parts.room:,} tokens that {self._parts.model.name} takes "
                "besides its reply: they lose the least similar examples, then the oldest turns"
            )

    def _log_usage(self) -> None:
        """Log the usage since the last call; the original agent also reports for its copies."""
        tally = self._parts.tally
        if not self._is_original or tally.prompts == self._logged:
            return
        self._logged = tally.prompts
        logging.info(f"{self._parts.model.name}: {self._parts.model.usage.summary()}")
        for line in tally.warnings():
            logging.warning(line)

    def save(self, path: str | None = None) -> None:
        """Write a model file, so that ``-mf`` restores these options; there are no weights.

        :raises OptionError: if another model, or a folder, has that path.
        """
        path = path or self.opt.get("model_file")
        if path:
            file = Path(path)
            if file.is_dir() or (file.exists() and file.read_bytes() != _NO_WEIGHTS):
                raise OptionError(f"--model-file {path} is already another model, or a folder: name a new file")
            file.absolute().parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(_NO_WEIGHTS)
            self.opt.save(f"{path}.opt")
