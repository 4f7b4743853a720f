"""``-m empathy:han``: the hierarchical attention network that rates replies (Merdivan et al. 2020, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from parlai_empathy.agent_kit.dictionaries.selectable import SelectableDictionary
from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agent_kit.options.common import check_at_least
from parlai_empathy.agent_kit.options.presets import set_defaults
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.classifiers.han import HierarchicalAttention
from parlai_empathy.modules.pretrained.vectors import copy_vectors

_DEFAULTS: dict[str, Any] = {
    "dict_lower": True,  # as in GloVe's vocabulary
    "optimizer": "adam",
    "learningrate": 1e-3,
    "lr_scheduler": "none",
    "num_epochs": 10.0,
    "precision": "float32",  # lower precision does not speed up an LSTM's small steps
}


class HanAgent(JudgeAgent):
    """Rates replies, identifies true ones, or classifies texts, with word vectors, LSTMs and attention."""

    of_weights = ("embedding_size", "hidden_size", "dict_tokenizer", "dict_lower")

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group("Hierarchical attention network (empathy:han)")
        group.add_argument("--embedding-size", type=int, default=50, help="Size of word vectors (the paper's 50).")
        group.add_argument(
            "--vectors-file",
            default=None,
            help="Text file of pretrained word vectors (GloVe), with --embedding-size numbers per word.",
        )
        group.add_argument(
            "--hidden-size", type=int, default=100, help="Units of each LSTM, in each direction (the paper's 100)."
        )
        group.add_argument(
            "--dropout", type=float, default=0.3, help="Dropout of word vectors and before the last layer, 0..1."
        )
        group.add_argument(
            "--max-words",
            type=int,
            default=100,  # HUMOD's longest turn has 45; 1 in 1,000 of EmpatheticDialogues' texts has more than 90
            help="Maximum words of a turn, or of the reply; the rest is not read.",
        )
        group.add_argument(
            "--max-turns",
            type=int,
            default=10,  # HUMOD has up to 6, EmpatheticDialogues up to 8
            help="Maximum turns of a context: the newest ones are read.",
        )
        set_defaults(parser, _DEFAULTS)
        return parser

    @staticmethod
    def dictionary_class() -> type[SelectableDictionary]:
        """Words, as in ParlAI; the dictionary of another kind of agent is refused."""
        return SelectableDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        check_at_least(opt, 1, "embedding_size", "hidden_size", "max_words", "max_turns")
        if not 0 <= opt["dropout"] <= 1:
            raise OptionError(f"--dropout {opt['dropout']}: must lie between 0 and 1")
        super().__init__(opt, shared)

    def build_model(self) -> nn.Module:
        """Build the network, with ``--vectors-file`` unless trained weights follow."""
        opt = self.opt
        embedding = nn.Embedding(len(self.dict), opt["embedding_size"], padding_idx=self.NULL_IDX)
        with torch.no_grad():
            embedding.weight[self.dict[self.dict.unk_token]] = 0  # unknown words contribute nothing
        if opt.get("vectors_file") and self.is_new:
            copy_vectors(opt["vectors_file"], self.dict.tok2ind, embedding.weight)
        return HierarchicalAttention(embedding, opt["hidden_size"], self.outputs, opt["dropout"])

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Return word ids of the contexts, ``(n, turns, words)``, and of the replies, ``(n, words)``."""
        texts = dict.fromkeys(text for pair in pairs for text in (*pair.turns, pair.reply))
        words = {text: self.dict.txt2vec(text)[: self.opt["max_words"]] for text in texts}
        table = _padded([[self.NULL_IDX], *words.values()], self.NULL_IDX)  # (distinct texts, words); row 0 is padding
        row = {text: number for number, text in enumerate(words, start=1)}
        turns = [[row[turn] for turn in pair.turns if words[turn]][-self.opt["max_turns"] :] for pair in pairs]
        replies = torch.tensor([row[pair.reply] for pair in pairs])
        return table[_padded([rows or [0] for rows in turns], 0)], table[replies]


def _padded(rows: Iterable[Sequence[int]], pad: int) -> Tensor:
    """Pad rows of unequal length to one tensor, ``(rows, longest)``."""
    return pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], batch_first=True, padding_value=pad)
