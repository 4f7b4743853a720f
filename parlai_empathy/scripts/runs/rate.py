"""Implementation of ``parlai rate``: asks in the terminal and stores the answers, or exports them."""

from __future__ import annotations

import getpass
import time
from contextlib import closing
from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.chat.talks_file import talks_path, write_talks
from parlai_empathy.rating.chat_models import load_chat_models
from parlai_empathy.rating.collecting.collection import Collection
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.registration import check_version
from parlai_empathy.rating.export import write_export
from parlai_empathy.rating.names import STUDIES
from parlai_empathy.rating.storage.store import Store, open_store
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.study.study_file import name_and_kind, read_study
from parlai_empathy.rating.wording import counted
from parlai_empathy.rating.worlds.chat import ChatThenRateWorld
from parlai_empathy.rating.worlds.collect import CollectEmpatheticWorld
from parlai_empathy.rating.worlds.likert import LikertRatingWorld
from parlai_empathy.rating.worlds.pairwise import PairwiseWorld
from parlai_empathy.rating.worlds.terminal import TerminalRater
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.scripts.parts.study_options import patience_of
from parlai_empathy.scripts.runs.export_collected import export_collected

_WORLDS = {"likert": LikertRatingWorld, "pairwise": PairwiseWorld, "chat": ChatThenRateWorld}


def run(opt: Opt) -> None:
    """Rate, or export."""
    if not opt["study"]:
        raise OptionError(f"--study: name the study to run: a file, or one of {', '.join(STUDIES)}")
    if opt["export"]:
        with closing(open_store(opt["store"], may_make=False)) as store:
            _export(opt, store)
        return
    study = read_study(opt["study"], by_name("--logs", opt["logs"]), by_name("--models", opt["models"]))
    with closing(open_store(opt["store"])) as store:
        world = _world(opt, store, study)
        while not world.epoch_done():
            world.parley()


def _world(opt: Opt, store: Store, study: Study) -> Any:
    names = opt["rater"] or [_user()]
    if study.kind == "collect":
        if len(names) != 2:
            raise OptionError(f"--rater {' '.join(names)}: to collect dialogues, name the two people")
        agents = [TerminalRater(opt, name=name) for name in names]
        desk = Desk(store, study, new_version=opt["new_version"])
        return CollectEmpatheticWorld({**opt, "raters": names}, agents, Collection(desk))
    if len(names) != 1:
        raise OptionError(f"--rater {' '.join(names)}: only one person rates at a time")
    check_version(store, study, opt["new_version"])
    models = load_chat_models(study.models, opt.get("datapath"))
    desk = Desk(store, study, new_version=opt["new_version"])  # changes the store, so the models must be in order
    return _WORLDS[study.kind]({**opt, "rater": names[0]}, [TerminalRater(opt), *models.values()], desk)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:  # KeyError before Python 3.13
        raise OptionError("--rater: your user has no name on this machine: name the rater") from error


def _export(opt: Opt, store: Store) -> None:
    name, kind = name_and_kind(opt["study"])
    if kind == "collect":
        export_collected(store, read_study(opt["study"]), opt["export"], silent_since=time.time() - patience_of(opt))
        return
    print(f"{counted(write_export(store, name, opt['export'], excluded=True), 'rating')}: {opt['export']}")
    if kind == "chat":
        talks = talks_path(opt["export"])
        print(f"{counted(write_talks(store, name, talks, excluded=True), 'conversation')}: {talks}")
