"""``parlai chat_site``: a page on which many people chat with a model at once, each in a separate conversation.

::

    parlai chat_site -mf model/retrieval
    parlai chat_site -m empathy:in_context --lm-backend openai --lm-model NAME --workers 8
    parlai chat_site --study chat --models A=model/a B=model/b       chat, then rate, as in parlai rate
    parlai chat_site -mf model/retrieval --export marks.csv          people's marks of its replies, and the chats
"""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.rating.names import STORE
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.distress_options import add_distress
from parlai_empathy.scripts.parts.study_options import add_address, add_id_parameter


@register_script("chat_site")
class ChatSite(ParlaiScript):
    """Serve a chat page to many people at once, or export conversations, marks and ratings."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the model or study, the store, the help notice, the address."""
        parser = command_parser("Serve a chat page on which many people can talk with a model at once", of_models=True)
        _add_chat(parser)
        add_distress(parser, before="the model answers")
        _add_site(parser)
        parser.set_defaults(interactive_mode=True, task="interactive", loglevel="warning")
        return parser

    def run(self) -> None:
        """Serve until stopped, or export."""
        from parlai_empathy.scripts.runs import chat_site

        chat_site.run(self.opt)


def _add_chat(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Chat")
    group.add_argument(
        "--study",
        default=None,
        metavar="STUDY",
        help="A study of kind chat, such as chat: people talk, then rate. Without it, they just talk.",
    )
    group.add_argument(
        "--models", nargs="*", default=[], metavar="[NAME=]FILE", help="For a study: model files, instead of its own."
    )
    group.add_argument(
        "--emotion-model",
        default=None,
        metavar="MODEL",
        help="Model file of an emotion classifier, to show each turn's emotion beside it.",
    )
    group.add_argument(
        "--store", default=STORE, metavar="URL", help="Where conversations are kept: a file, or postgresql://..."
    )
    group.add_argument(
        "--new-version",
        type="bool",
        default=False,
        help="Accept a study that has changed since it was last used with this store.",
    )
    group.add_argument(
        "--workers",
        type=int,
        default=1,
        help="How many replies are made at once: 1 for a model on this machine, more for one behind a server.",
    )
    group.add_argument("--longest-message", type=int, default=2000, help="Longest message, in characters.")
    group.add_argument(
        "--export",
        default=None,
        metavar="FILE",
        help="Write all marks and ratings to a .csv or .jsonl file, the conversations to another beside it, and exit.",
    )


def _add_site(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Site")
    add_address(group)
    add_id_parameter(group)


if __name__ == "__main__":
    ChatSite.main()
