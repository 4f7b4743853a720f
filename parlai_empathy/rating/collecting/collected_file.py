"""Writing collected conversations in the file layout of EmpatheticDialogues, for the data set's reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.files.whole_file import remedy, write_whole
from parlai_empathy.rating.collecting.collection import Conversation, finished
from parlai_empathy.rating.desk import raters
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.tasks.empathetic_dialogues.reader import COLUMNS

_EVALUATED = 3  # ratings per person in the data set's column


def write_collected(store: Store, study: Study, path: str | Path, silent_since: float = 0.0) -> int:
    """Write all finished conversations atomically.

    People's names are replaced by numbers, in order of enrolment.

    :param silent_since: see :func:`~parlai_empathy.rating.collecting.collection.finished`.
    :returns: the number of conversations.
    :raises NotComputableError: if there is none.
    :raises OptionError: if the file cannot be written.
    """
    path, numbers = user_path(path), numbers_of(store, study)
    found = finished(store, study, silent_since)
    if not found:
        raise NotComputableError(f"{path}: the study {study.name} has no finished conversation: nothing is written")
    questions = [question.id for question in study.questions if question.kind == "likert"]
    lines = [line for one, said in found for line in conversation_lines(one, said, questions, numbers)]
    try:
        write_whole(path, "\n".join([",".join(COLUMNS), *lines, ""]))
    except OSError as error:
        advice = remedy(error, "name a file in an existing folder")
        raise OptionError(f"{path} cannot be written ({error.strerror}): {advice}") from error
    return len(found)


def numbers_of(store: Store, study: Study) -> dict[str, int]:
    """Return the numbers that stand for people in exported files, in order of enrolment."""
    with store.reading() as t:
        return {rater.id: number for number, rater in enumerate(raters.found(t, study.name))}


def conversation_name(one: Conversation) -> str:
    """Return the name of a conversation in exported files."""
    return f"hit:{one.number}_conv:{one.number}"


def conversation_lines(
    one: Conversation, said: Mapping[str, Mapping[str, float]], questions: list[str], numbers: Mapping[str, int]
) -> Iterator[str]:
    """Yield a conversation's lines in the file, one per turn.

    :param said: maps person to question to rating.
    :param questions: those whose ratings become the data set's self-evaluation, in its order.
    :param numbers: maps each person to their number in the file.
    """
    evaluations = [[said.get(person, {}).get(name) for name in questions] for person in (one.speaker, one.listener)]
    is_whole = len(questions) == _EVALUATED and all(rating is not None for ratings in evaluations for rating in ratings)
    texts = ["|".join(f"{rating:g}" for rating in ratings if rating is not None) for ratings in evaluations]
    for message in one.messages:
        person = one.speaker if message.turn % 2 else one.listener
        fields = {
            "conv_id": conversation_name(one),
            "utterance_idx": str(message.turn),
            "context": one.prompt.emotion,
            "prompt": one.prompt.situation,
            "speaker_idx": str(numbers[person]),
            "utterance": message.text,
            "selfeval": "_".join(texts) if is_whole else "",
            "tags": "",
        }
        yield ",".join(fields[column].replace(",", "_comma_") for column in COLUMNS)
