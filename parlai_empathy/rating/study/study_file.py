"""Reading a study from a YAML file, or an included study by name.

======================= ================================================================ ==============================
key                     meaning                                                          default
======================= ================================================================ ==============================
``extends``             a study (name or file) that supplies the keys missing here       none
``name``                the study's name in the store                                    the file's
``title``               the headline                                                     required
``kind``                ``likert``, ``pairwise``, ``chat`` or ``collect``                required
``questions``           a list, see below                                                required
``instructions``        what raters read first                                           none
``examples``            a list: ``context``, ``reply``, ``other_reply``, ``answers``     none
                        (``question: answer``), ``why``
``consent``             what raters must agree to                                        none
``content_warning``     a warning shown before that                                      none
``systems``             ``NAME: FILE``: logs of replies, see ``parlai_empathy.scoring``  none
``gold``                ``true``: the logs' references are rated too                     ``false``
``judge``               ``replies`` or ``dialogues``                                     ``replies``
``context_turns``       how many of the turns before a reply are shown, or ``all``       ``all``
``pairs``               in a pairwise study: a list of ``[NAME, NAME]``, or ``all``      ``all``
``models``              in a chat study: ``NAME: MODEL FILE``                            none
``items_per_rater``     number of items, or of chats                                     10
``ratings_per_item``    how many raters judge an item, or ``any``                        1; in chat studies ``any``
``ratings_per_system``  no new raters once each system or pair has so many, or ``any``   ``any``
``minutes``             time limit after which an unanswered item goes to others         30
``order``               how ties between items are broken: ``random`` or ``listed``      ``random``
``sides``               of a pair: ``balanced`` or ``fixed``                             ``balanced``
``checks``              a list of items with known answers: ``context``, ``reply``,      none
                        ``other_reply``, ``expected`` (``question: rating``)
``checks_per_rater``    how many of them each rater sees                                 all
``turns``               of a chat or collection: ``least``, ``most``                     4, 8
``seed``                of the random choices                                            0
``completion``          ``text`` shown at the end, ``code`` for a crowd's marketplace    none
======================= ================================================================ ==============================

A collection needs no questions. A question has ``id``, ``text`` and ``kind``, optionally ``required`` (``true``) and,
in chats, ``per_turn`` (``false``). Further keys depend on the kind: ``points`` and ``labels`` (``point: meaning``) for
``likert``, ``choices`` for ``choice``, ``least`` and ``most`` (characters) for ``text``, ``tie`` (``true``) for
``preference``. The answers of examples and checks are written as raters give them, a choice by its text, or by its
position if no choice is called so. Only a check's preference is written as it is stored: 1 if ``reply`` is better, -1
if ``other_reply`` is. The paths of logs and of the extended study are relative to the study's folder; those of models
are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from parlai_empathy.errors import OptionError, one_line
from parlai_empathy.files.user_path import user_path
from parlai_empathy.rating.names import OWN_STUDIES, STUDIES
from parlai_empathy.rating.study.parts import check_of, example_of, question_of
from parlai_empathy.rating.study.study import GOLD, KINDS, RATER, ChatModel, Study, SystemLog
from parlai_empathy.rating.study.values import Values, shown

KEYS = (
    *("extends", "name", "title", "kind", "questions", "instructions", "examples", "consent", "content_warning"),
    *("systems", "gold", "judge", "context_turns", "pairs", "models", "items_per_rater", "ratings_per_item"),
    *("ratings_per_system", "minutes", "order", "sides", "checks", "checks_per_rater", "turns", "seed", "completion"),
)
_MOST_PER_RATER = 10_000
_ANY = "any"


def read_study(
    name: str | Path, systems: Mapping[str, str] | None = None, models: Mapping[str, str] | None = None
) -> Study:
    """Read a study.

    :param name: one of :data:`STUDIES`, or a file.
    :param systems: maps names to logs, instead of those in the file.
    :param models: maps names to model files, likewise.
    :raises OptionError: if the study is invalid (with file, key, value and what was expected), or a log cannot be read.
    """
    path = _path(str(name), "--study")
    raw = _read(path, ())
    where = {"systems": f"{path}: systems", "models": f"{path}: models"}
    for key, option, named in (("systems", "--logs", systems), ("models", "--models", models)):
        if named:
            raw[key], where[key] = dict(named), option
    return _study(path, raw, where)


def name_and_kind(study: str | Path) -> tuple[str, str]:
    """Return a study's name in the store, and its kind, without its logs, which may be gone when all are rated.

    :raises OptionError: if there is no such study, or its file is invalid.
    """
    path = _path(str(study), "--study")
    return _name_and_kind(path, _read(path, ()))


def _name_and_kind(path: Path, raw: Mapping[str, Any]) -> tuple[str, str]:
    values = Values(str(path), raw, KEYS)
    return values.text("name") if values.has("name") else path.stem, values.one_of("kind", KINDS)


def _path(name: str, where: str) -> Path:
    path = OWN_STUDIES / f"{name}.yaml" if name in STUDIES else user_path(name)
    if not path.is_file():
        what = "that is a folder" if path.is_dir() else "there is no such file"
        raise OptionError(f"{where} {name}: {what}; name a study file, or one of {', '.join(STUDIES)}")
    return path


class _Loader(yaml.SafeLoader):
    """YAML's safe loader, which rejects duplicate keys."""


def _unique(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise yaml.constructor.ConstructorError(None, None, f"the key {twice} occurs twice", node.start_mark)
    return loader.construct_mapping(node, deep=True)


def _whole(loader: _Loader, node: yaml.ScalarNode) -> str:
    text: str = loader.construct_scalar(node)
    text.encode()  # fails for lone surrogates, which escapes can produce and no store can hold
    if "\0" in text:
        raise yaml.constructor.ConstructorError(None, None, "a text contains a null character", node.start_mark)
    return text


_Loader.add_constructor("tag:yaml.org,2002:str", _whole)
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique)


def _read(path: Path, extended_by: tuple[Path, ...]) -> dict[str, Any]:
    """A file's keys, merged over those of the study that it extends."""
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise OptionError(f"{path} cannot be read ({error.strerror}): name a study file") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise OptionError(
            f"{path} is not valid YAML ({one_line(error)}): see {OWN_STUDIES / 'ed.yaml'} for an example"
        ) from error
    values = Values(str(path), raw, KEYS)
    assert isinstance(raw, dict)
    raw = {**raw, **{key: _resolved(raw[key], path) for key in ("systems",) if isinstance(raw.get(key), dict)}}
    if not values.has("extends"):
        return raw
    base = values.text("extends")
    base_path = _path(base if base in STUDIES else str(path.parent / user_path(base)), f"{path}: extends")
    if base_path.resolve() in (one.resolve() for one in (*extended_by, path)):
        raise OptionError(f"{path}: extends {base}: the two extend each other; remove one of the two keys")
    return {**_read(base_path, (*extended_by, path)), **{key: value for key, value in raw.items() if key != "extends"}}


def _resolved(files: Mapping[Any, Any], path: Path) -> dict[Any, Any]:
    """Resolve file paths relative to the study's folder."""
    return {name: str(path.parent / user_path(file)) if isinstance(file, str) else file for name, file in files.items()}


def _study(path: Path, raw: Mapping[str, Any], where: Mapping[str, str]) -> Study:
    values = Values(str(path), raw, KEYS)
    name, kind = _name_and_kind(path, raw)
    turns = Values(f"{path}: turns", values.named("turns"), ("least", "most"))
    completion = Values(f"{path}: completion", values.named("completion"), ("text", "code"))
    questions = tuple(question_of(place, one, kind) for place, one in values.children("questions"))
    checks = tuple(check_of(place, one, kind, questions) for place, one in values.children("checks"))
    study = Study(
        name=name,
        title=values.text("title"),
        kind=kind,
        questions=questions,
        instructions=values.text("instructions", ""),
        examples=tuple(example_of(place, one, questions) for place, one in values.children("examples")),
        consent=values.text("consent", ""),
        content_warning=values.text("content_warning", ""),
        systems=tuple(_log(where["systems"], name, file) for name, file in values.named("systems").items()),
        models=tuple(_model(where["models"], name, file) for name, file in values.named("models").items()),
        gold=values.flag("gold", False),
        whole_dialogues=values.one_of("judge", ("replies", "dialogues"), "replies") == "dialogues",
        context_turns=values.whole("context_turns", None, 0, none="all"),
        pairs=_pairs(path, raw.get("pairs", "all")),
        items_per_rater=values.count("items_per_rater", 10, 1, _MOST_PER_RATER),
        ratings_per_item=values.whole("ratings_per_item", None if kind == "chat" else 1, 1, none=_ANY),
        ratings_per_system=values.whole("ratings_per_system", None, 1, none=_ANY),
        minutes=values.positive("minutes", 30.0),
        shuffled=values.one_of("order", ("random", "listed"), "random") == "random",
        swap_sides=values.one_of("sides", ("balanced", "fixed"), "balanced") == "balanced",
        checks=checks,
        checks_per_rater=values.count("checks_per_rater", len(checks), 0, len(checks)),
        seed=values.count("seed", 0, 0),
        least_turns=turns.count("least", 4, 1),
        most_turns=turns.count("most", max(8, turns.count("least", 4, 1)), 1),
        completion_text=completion.text("text", ""),
        completion_code=completion.text("code", ""),
        where=str(path),
    )
    _check(study)
    return study


def _log(where: str, name: object, file: object) -> SystemLog:
    name, file = _named(where, name, file)
    try:
        digest = hashlib.sha256(user_path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise OptionError(f"{where}: {name}: {file} cannot be read ({error.strerror}): name a log") from error
    return SystemLog(name, file, digest)


def _model(where: str, name: object, file: object) -> ChatModel:
    model = ChatModel(*_named(where, name, file))
    if model.name == RATER:
        raise OptionError(f"{where}: {RATER} is what people are called in stored chats: give the model another name")
    return model


def _named(where: str, name: object, file: object) -> tuple[str, str]:
    if not isinstance(name, str) or not name or name != name.strip() or name == GOLD:
        expected = f"expected a text other than {GOLD}, in quotes, without blanks around it"
        raise OptionError(f"{where}: {shown(name)} is not a valid name: {expected}")
    if not isinstance(file, str) or not file.strip():
        raise OptionError(f"{where}: {name} is {shown(file)}, expected a file")
    return name, file


def _pairs(path: Path, raw: object) -> tuple[tuple[str, str], ...]:
    if raw == "all":
        return ()
    pairs: list[Any] = raw if isinstance(raw, list) and raw else [None]
    for pair in pairs:
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)
        if not is_pair or pair[0] == pair[1]:
            raise OptionError(f"{path}: pairs is {shown(raw)}, expected all, or a list of two different [NAME, NAME]")
    if len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise OptionError(f"{path}: pairs names the same two systems twice: remove one of the pairs")
    return tuple((pair[0], pair[1]) for pair in pairs)


def _check(study: Study) -> None:
    """Check that the keys are consistent with each other."""
    where, ids = study.where, [question.id for question in study.questions]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise OptionError(f"{where}: questions: two have the id {twice}: give each a different id")
    if study.kind != "collect" and not study.page_questions:
        raise OptionError(f"{where}: questions is missing, expected at least one that is not per_turn")
    if study.kind == "collect" and study.turn_questions:
        raise OptionError(f"{where}: questions: per_turn is for chats: leave it out")
    if study.most_turns < study.least_turns:
        raise OptionError(f"{where}: turns: most {study.most_turns} is below least {study.least_turns}")
    for key, has, kinds in (
        ("systems", study.systems, ("likert", "pairwise")),
        ("models", study.models, ("chat",)),
        ("checks", study.checks, ("likert", "pairwise")),
        ("pairs", study.pairs, ("pairwise",)),
    ):
        if has and study.kind not in kinds:
            raise OptionError(f"{where}: {key} is for kind {' or '.join(kinds)}, but kind is {study.kind}")
    if study.ratings_per_item is None and study.ratings_per_system is None and study.kind in ("likert", "pairwise"):
        raise OptionError(f"{where}: ratings_per_item and ratings_per_system are both any: make one of them a number")
