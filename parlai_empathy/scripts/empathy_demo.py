"""``parlai empathy_demo``: train, try and evaluate a small empathetic agent in two minutes, without a download."""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script


@register_script("empathy_demo")
class EmpathyDemo(ParlaiScript):
    """Run the three steps and print the results."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the only option: the model file."""
        parser = ParlaiParser(False, False, "Train, evaluate and question a small empathetic agent on sample dialogues")
        # Not ParlAI's `model_file`, which would add all options of the model that the file holds.
        parser.add_argument(
            "-mf", "--model-file", dest="demo_model", default="empathy_demo/model", help="Where the model is kept."
        )
        parser.set_defaults(loglevel="error")  # ParlAI's log would hide the few lines of output
        return parser

    def run(self) -> None:
        """Train, answer, evaluate."""
        from parlai_empathy.scripts.runs import empathy_demo

        empathy_demo.run(self.opt)


if __name__ == "__main__":
    EmpathyDemo.main()
