"""``parlai curate_red``: make RED, posts labelled as engaging or not engaging, from dumps of Reddit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.curation.names import ENGINES
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.recipe_options import add_recipe
from parlai_empathy.task_kit.edition import add_edition

if TYPE_CHECKING:
    from parlai_empathy.curation.curate import Curated


@register_script("curate_red")
class CurateRed(ParlaiScript):
    """Curate RED, and write the data set with its data card."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the dumps, the text scorers, the engine, the constants (by default the paper's)."""
        parser = command_parser("Make RED, posts labelled by how people engaged with them, from dumps of Reddit")
        group = parser.add_argument_group("Curation")
        group.add_argument(
            "--dumps",
            nargs="+",
            default=[],
            metavar="FILE",
            help="Dumps (.zst, .bz2, .gz, .xz, JSON lines), or folders of them; by default, those of empathy:reddit.",
        )
        add_edition(group)
        group.add_argument(
            "--out", default=None, help="Folder for the data set, its card, and reusable intermediate files."
        )
        group.add_argument(
            "--emotion-model",
            default=None,
            metavar="MODEL",
            help="Model file of a GoEmotions classifier; without it emotional engagement is left out.",
        )
        group.add_argument(
            "--toxicity",
            default=None,
            metavar="WHAT",
            help="words:FILE, a list of words, one per line; or a Hugging Face classifier (folder, or name "
            "on the hub) with a class called toxic. Without it no post is left out as toxic.",
        )
        group.add_argument(
            "--subreddits", nargs="+", default=[], metavar="NAME", help="Choose posts only from these subreddits."
        )
        group.add_argument(
            "--negative-samples",
            type=float,
            default=0.0,
            metavar="SHARE",
            help="Add negative samples for this share of the posts (+NS): words inserted, words deleted, "
            "the context repeated, generic replies.",
        )
        group.add_argument("--with-ids", type="bool", default=False, help="Keep the comments' ids in the data set.")
        engine = parser.add_argument_group("Engine")
        engine.add_argument(
            "--engine",
            choices=list(ENGINES),
            default="duckdb",
            help="Engine for the steps that need all posts at once.",
        )
        engine.add_argument("--memory", default="4GB", help="Memory that DuckDB may use; the rest goes to disk.")
        engine.add_argument("--threads", type=int, default=None, help="Threads of DuckDB; by default, one per core.")
        engine.add_argument(
            "--spark-master", default=None, metavar="URL", help="Spark's master, if its own settings do not name one."
        )
        add_recipe(parser)
        return parser

    def run(self) -> Curated:
        """Write the data set and its card."""
        from parlai_empathy.scripts.runs import curate_red

        return curate_red.run(self.opt)


if __name__ == "__main__":
    CurateRed.main()
