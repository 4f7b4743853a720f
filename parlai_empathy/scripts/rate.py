"""``parlai rate``: judge replies, compare them, or talk with models and judge them, in a terminal."""

from __future__ import annotations

import getpass
from typing import Any

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.chat_models import load_chat_model
from parlai_empathy.rating.collected_file import write_collected
from parlai_empathy.rating.collection import Collection
from parlai_empathy.rating.desk import Desk
from parlai_empathy.rating.export import write_export
from parlai_empathy.rating.store import Store, open_store
from parlai_empathy.rating.study import Study
from parlai_empathy.rating.study_file import STUDIES, read_study
from parlai_empathy.rating.worlds.chat import ChatThenRateWorld
from parlai_empathy.rating.worlds.collect import CollectEmpatheticWorld
from parlai_empathy.rating.worlds.likert import LikertRatingWorld
from parlai_empathy.rating.worlds.pairwise import PairwiseWorld
from parlai_empathy.rating.worlds.terminal import TerminalRater
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.scripts.parts.study_options import add_study

_WORLDS = {"likert": LikertRatingWorld, "pairwise": PairwiseWorld, "chat": ChatThenRateWorld}


@register_script("rate")
class Rate(ParlaiScript):
    """Ask a rater one question after another, and keep the answers; or export what was kept."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The study, who rates, and where ratings are kept."""
        parser = ParlaiParser(True, False, "Rate replies, pairs of replies or talks in a terminal")
        group = parser.add_argument_group("Rating")
        add_study(group)
        group.add_argument(
            "--models",
            nargs="*",
            default=[],
            metavar="[NAME=]FILE",
            help="Model files, of the models to talk with; in place of the study's own.",
        )
        group.add_argument(
            "--rater",
            nargs="+",
            default=None,
            metavar="NAME",
            help="Who rates; left out, your user name. To collect dialogues, two names.",
        )
        group.add_argument(
            "--export",
            default=None,
            metavar="FILE",
            help="Write all ratings to this .csv or .jsonl file, collected dialogues as EmpatheticDialogues' CSV, and "
            "rate nothing.",
        )
        parser.set_defaults(loglevel="warning")  # ParlAI's log of options would bury the instructions
        return parser

    def run(self) -> None:
        """Rate, or export."""
        opt = self.opt
        if not opt["study"]:
            raise OptionError(f"--study: say what is to be rated: a study's file, or one of {', '.join(STUDIES)}")
        study = read_study(opt["study"], by_name("--logs", opt["logs"]), by_name("--models", opt["models"]))
        store = open_store(opt["store"])
        try:
            if opt["export"]:
                self._export(store, study)
            else:
                world = self._world(Desk(store, study, new_version=opt["new_version"]), study)
                while not world.epoch_done():
                    world.parley()
        finally:
            store.close()

    def _world(self, desk: Desk, study: Study) -> Any:
        names = self.opt["rater"] or [getpass.getuser()]
        if study.kind == "collect":
            if len(names) != 2:
                raise OptionError(f"--rater {' '.join(names)}: to collect dialogues, name the two people")
            agents = [TerminalRater(self.opt, name=name) for name in names]
            return CollectEmpatheticWorld({**self.opt, "raters": names}, agents, Collection(desk))
        if len(names) != 1:
            raise OptionError(f"--rater {' '.join(names)}: only one person rates at a time")
        models = [load_chat_model(one.file, self.opt.get("datapath")) for one in study.models]
        return _WORLDS[study.kind]({**self.opt, "rater": names[0]}, [TerminalRater(self.opt), *models], desk)

    def _export(self, store: Store, study: Study) -> None:
        if study.kind == "collect":
            count, what = write_collected(Collection(Desk(store, study)), self.opt["export"]), "conversations"
        else:
            count, what = write_export(store, study.name, self.opt["export"]), "ratings"
        print(f"{count:,} {what}: {self.opt['export']}")


if __name__ == "__main__":
    Rate.main()
