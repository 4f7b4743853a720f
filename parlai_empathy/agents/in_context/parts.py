"""The parts that copies of an agent share: language model, prompt, examples, and counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.judging import frozen_classifier
from parlai_empathy.agent_kit.judging.frozen_classifier import FrozenClassifier
from parlai_empathy.agents.in_context import options
from parlai_empathy.agents.in_context.counts import Tally
from parlai_empathy.agents.in_context.example_source import Conversation, training_conversations
from parlai_empathy.agents.in_context.selection import Selector
from parlai_empathy.agents.in_context.template import Template, Turn, load_template
from parlai_empathy.agents.in_context.vector_cache import load_or_encode
from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.language_model import LanguageModel
from parlai_empathy.language_models.open_model import open_language_model
from parlai_empathy.language_models.prompt import Sampling
from parlai_empathy.modules.encoders.sentence_encoder import load_sentence_encoder
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS


@dataclass
class Parts:
    """The parts that generate replies.

    :param selector: None if there are no examples.
    """

    model: LanguageModel
    template: Template
    sampling: Sampling
    selector: Selector | None
    tally: Tally = field(default_factory=Tally)

    @property
    def room(self) -> int | None:
        """Maximum tokens of a prompt; None if the model's context length is unknown."""
        length = self.model.context_length
        return None if length is None else length - self.sampling.max_tokens


def make_parts(opt: Opt) -> Parts:
    """Load everything that the options name."""
    template = load_template(opt["prompt"])
    model = open_language_model(
        opt["lm_backend"],
        opt["lm_model"] or "",
        cache=options.cache_file(opt),
        device=_device(opt),
        precision=opt["precision"],
        timeout=opt["lm_timeout"],
        retries=opt["lm_retries"],
        concurrency=max(1, opt.get("batchsize") or 1),
        prices=options.prices(opt),
        context_length=opt["lm_context_length"],
    )
    # If the model has no chat template, fail now rather than after minutes of encoding examples.
    model.count_tokens(template.render([], [Turn("Hello.", False)]))
    selector = _selector(opt) if opt["examples"] else None
    return Parts(model, template, options.sampling(opt, template.stop), selector)


def _selector(opt: Opt) -> Selector:
    conversations = training_conversations(opt)
    common: dict[str, Any] = {
        "conversations": conversations,
        "count": opt["examples"],
        "selection": opt["select"],
        "oracle": opt["oracle"],
        "seed": opt["seed"],
    }
    what = "oracle" if opt["oracle"] else "no oracle"
    if opt["select"] == "random":
        logging.info(f"Examples: {opt['examples']} of {len(conversations):,} training conversations, at random; {what}")
        return Selector(**common)
    encoder = load_sentence_encoder(opt["sentence_encoder"], _device(opt))
    compared = "situations" if opt["oracle"] else "contexts"
    emotion = {"emositsm": "true emotion, " if opt["oracle"] else "predicted emotion, "}.get(opt["select"], "")
    logging.info(
        f"Examples: {opt['examples']} of {len(conversations):,} training conversations, by {opt['select']}: {emotion}"
        f"most similar {compared} ({encoder.name}); {what}"
    )
    predict = _predictor(opt) if opt["select"] == "emositsm" and not opt["oracle"] else None
    texts = [_compared(conversation, opt["oracle"]) for conversation in conversations]
    vectors = load_or_encode(options.store_folder(opt), compared, texts, encoder)
    return Selector(**common, vectors=vectors, encode=encoder.encode, predict=predict)


def _compared(conversation: Conversation, oracle: bool) -> str:
    return conversation.situation if oracle else conversation.context


def _predictor(opt: Opt) -> Callable[[Sequence[str]], list[str]]:
    """Return a function that predicts the emotion of each text."""
    part = replace(frozen_classifier.PART, option="emotion_classifier")
    # Nothing is trained here, so no copy of the classifier is kept beside a model file.
    classifier = FrozenClassifier(part.load(Opt({**opt, "model_file": None, "init_model": None})))
    if unknown := sorted(set(classifier.labels) - set(EMOTIONS)):
        raise OptionError(
            f"--emotion-classifier {opt['emotion_classifier']} predicts {unknown[0]!r}, which is not one of the 32 "
            "emotions: train one on empathy:empathetic_dialogues:ContextEmotion"
        )
    return lambda texts: [labels[0] for labels in classifier.top_labels(texts, 1)]


def _device(opt: Opt) -> str | None:
    """Return the device; None means the GPU if there is one. ParlAI assigns each of several processes its own GPU."""
    if opt.get("no_cuda"):
        return "cpu"
    number = opt.get("gpu", -1)
    return f"cuda:{number}" if number is not None and number >= 0 and torch.cuda.is_available() else None
