"""Metrics of replies that need trained models: empathy, emotion, intent, and any judge's scores."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent, weights_of
from parlai_empathy.errors import NotComputableError, shown
from parlai_empathy.metrics.epitome import levels_of, squared_differences
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.names import few
from parlai_empathy.scoring.scored import Scored, check_finite, scored
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS, SHORT

_NO_EPITOME = "does not predict levels of empathy: name a model of empathy:epitome"


class Epitome:
    """EPITOME's levels of empathy, and diff-EPITOME, for each mechanism that a model predicts (Lee et al. 2022).

    A reply is judged given only the last turn of its context.

    :param model_file: a trained ``empathy:epitome``.
    :raises ModelFileError: if the model does not exist, or cannot be loaded.
    :raises OptionError: if it is a model of another agent.
    """

    def __init__(self, model_file: str, datapath: str | None = None) -> None:
        self._agent: Any = load_agent(check_agent(model_file, "levels", _NO_EPITOME, datapath))
        self._settings = {"classifier": self._agent.opt.get("task"), "weights": weights_of(self._agent)}

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return mean levels, 0..2, and mean squared differences from the levels of people's replies, 0..4.

        Levels are of the replies with a context, differences of those that also have a reference, from the first one.

        :raises NotComputableError: if no reply has a context.
        """
        places = [place for place, one in enumerate(replies) if one.context]
        if not places:
            raise NotComputableError("EPITOME: no reply has a context, which its levels depend on")
        referred = [place for place in places if replies[place].references]
        texts = [replies[place].reply for place in places] + [replies[place].references[0] for place in referred]
        found = self._agent.levels([replies[place].context for place in (*places, *referred)], texts)
        mechanisms = [mechanism for mechanism in MECHANISMS if mechanism in found]
        scores = []
        for mechanism in mechanisms:
            levels = levels_of(found[mechanism]).tolist()
            ours = dict(zip(places, levels, strict=False))
            items = [ours.get(place) for place in range(len(replies))]
            title = f"EPITOME-{SHORT[mechanism]}"
            scores.append(self._scored(f"epitome_{SHORT[mechanism].lower()}", title, items))
            with suppress(NotComputableError):  # if nothing has a reference
                gold = levels[len(places) :]
                squares = squared_differences([ours[place] for place in referred], gold).tolist()
                theirs = dict(zip(referred, squares, strict=True))
                items = [theirs.get(place) for place in range(len(replies))]
                key, title = f"diff_{SHORT[mechanism].lower()}", f"diff-{SHORT[mechanism]}"
                scores.append(self._scored(key, title, items, _first_of_several(replies)))
        return scores

    def _scored(self, key: str, title: str, items: Sequence[float | None], reference: str | None = None) -> Scored:
        return scored(key, title, items, {"level": "argmax", **self._settings, "reference": reference})


def _first_of_several(replies: Sequence[LoggedReply]) -> str | None:
    """Return what metrics that compare with one reference say in their signatures; None if no reply has several."""
    return "first" if any(len(one.references) > 1 for one in replies) else None


class EmotionAccuracy:
    """EmoAcc: the share of replies that are classified as the conversation's emotion (Lee et al. 2022)."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return the share of replies whose most probable emotion is the gold one, 0..1; those without one are ignored.

        :raises NotComputableError: if no reply has an emotion that is one of the classifier's classes.
        """
        known = self._classifier.labels
        gold = [one.emotion if one.emotion in known else None for one in replies]
        if not any(gold):
            raise NotComputableError(self._without_gold([one.emotion for one in replies if one.emotion]))
        found = iter(
            self._classifier.labels_of([one.reply for one, emotion in zip(replies, gold, strict=True) if emotion])
        )
        hits = [float(next(found) == emotion) if emotion else None for emotion in gold]
        return [scored("emo_acc", "EmoAcc", hits, self._classifier.settings)]

    def _without_gold(self, emotions: Sequence[str]) -> str:
        """Return the reason why there is no value: none of these emotions is a class."""
        if not emotions:
            return "EmoAcc: no reply has an emotion"
        task, known = self._classifier.settings["classifier"], few(self._classifier.labels)
        unknown = f"{shown(emotions[0])}, for example, is not one of {known}"
        return f"EmoAcc: no reply has an emotion that is a class of the classifier of {task}: {unknown}"


class IntentAccuracy:
    """IntentAcc: the share of replies classified as the same intent as people's replies (Lee et al. 2022)."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return the share of replies with the intent of their first reference, 0..1; those without one are ignored.

        :raises NotComputableError: if no reply has a reference.
        """
        pairs = [(one.reply, one.references[0]) if one.references else None for one in replies]
        known = [pair for pair in pairs if pair]
        if not known:
            raise NotComputableError("IntentAcc: no reply has a reference to compare its intent with")
        intents = self._classifier.labels_of([text for pair in known for text in pair])
        found = iter(zip(intents[::2], intents[1::2], strict=True))
        hits = [None if pair is None else float(len(set(next(found))) == 1) for pair in pairs]
        settings = {**self._classifier.settings, "reference": _first_of_several(replies)}
        return [scored("intent_acc", "IntentAcc", hits, settings)]


class MeanScore:
    """A judge's mean score of replies in their contexts.

    :param key: its key in records; by default ``judge_`` and the judge's name.
    """

    def __init__(self, judge: Judge, key: str | None = None) -> None:
        self._judge = judge
        self._key = key or f"judge_{judge.name}"

    def score(self, replies: Sequence[LoggedReply]) -> list[Scored]:
        """Return the mean score.

        :raises NotComputableError: if a score is NaN or infinite, as with a broken model.
        """
        contexts = [one.context for one in replies]
        references = [one.references for one in replies]
        values = self._judge.score(contexts, [one.reply for one in replies], references)
        check_finite(values, self._judge.name, "a reply", "score")
        return [scored(self._key, self._judge.name, values.tolist(), {"judge": self._judge.signature})]
