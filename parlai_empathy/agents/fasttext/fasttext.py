"""``-m empathy:fasttext``: a linear classifier over words and n-grams, like the fastText library's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import parlai.utils.logging as logging
import torch
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, Output
from parlai.utils.distributed import is_distributed, num_workers
from torch import Tensor, nn

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.judging.judge import JudgeAgent
from parlai_empathy.agent_kit.judging.task_classes import task_classes
from parlai_empathy.agent_kit.options.common import check_at_least, flag
from parlai_empathy.agent_kit.options.presets import set_defaults
from parlai_empathy.agent_kit.trained.init_model import copy_options, is_resumed, keep_options
from parlai_empathy.agent_kit.training.linear_rate import LinearRate
from parlai_empathy.agents.fasttext.bin_file import FasttextFile
from parlai_empathy.agents.fasttext.dictionary import FasttextDictionary, init_bin
from parlai_empathy.agents.fasttext.ngrams import END, NgramSizes, row_numbers
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.classifiers.bag_of_ngrams import BagOfNgrams
from parlai_empathy.modules.pretrained.vectors import copy_vectors

_REMEMBERED = 2**16  # number of texts whose row indices are cached across epochs

_SIZES = ("embedding_size", "word_ngrams", "buckets", "min_subword", "max_subword")
_OF_A_MODEL = (*_SIZES, "dict_tokenizer", "dict_lower")

_DEFAULTS: dict[str, Any] = {
    "dict_tokenizer": "re",
    "dict_lower": True,
    "optimizer": "sgd",
    "momentum": 0.0,
    "learningrate": 0.2,
    "lr_scheduler": "linear",
    "gradient_clip": -1.0,
    "num_epochs": 15.0,
    # The loss rises long before the accuracy falls, because the model becomes overconfident.
    "validation_metric": "accuracy",
    "precision": "float32",
}


class FasttextAgent(LinearRate, JudgeAgent):
    """Classifies texts by their words and n-grams (Joulin et al. 2016)."""

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group("fastText (empathy:fasttext)")
        group.add_argument("--embedding-size", type=int, default=100, help="Size of word vectors (fastText's -dim).")
        group.add_argument("--word-ngrams", type=int, default=2, help="Longest n-grams of words; 1 for words alone.")
        group.add_argument(
            "--buckets",
            type=int,
            default=200_000,  # EmpatheticDialogues' 19,500 situations have 114,000 distinct bigrams
            help="Vectors that n-grams and subwords share by their hashes (fastText's -bucket, 2,000,000 there).",
        )
        group.add_argument(
            "--min-subword", type=int, default=0, help="Shortest part of a word that has a vector, in characters."
        )
        group.add_argument(
            "--max-subword",
            type=int,
            default=0,
            help="Longest part of a word that has a vector; 0 for no parts of words.",
        )
        group.add_argument(
            "--vectors-file",
            default=None,
            help="Text file of pretrained word vectors, with --embedding-size numbers per word.",
        )
        set_defaults(parser, _DEFAULTS)
        return parser

    @staticmethod
    def dictionary_class() -> type[FasttextDictionary]:
        """The model's vocabulary."""
        return FasttextDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        self._file = None if shared else init_bin(opt)
        if self._file:
            _take_over(self._file, opt)
        elif not shared:
            keep_options(opt, (*_OF_A_MODEL, "classes") if is_resumed(opt) else _OF_A_MODEL)
        check(opt)
        self._sizes = NgramSizes(opt["word_ngrams"], opt["buckets"], opt["min_subword"], opt["max_subword"])
        self._rows = lru_cache(_REMEMBERED)(self._rows_of)
        super().__init__(opt, shared)

    # --- model -------------------------------------------------------------------------------------------------------

    def build_model(self) -> nn.Module:
        """Build the embedding and the linear layer, with ``--vectors-file`` unless trained weights follow."""
        opt, rows = self.opt, len(self.dict) + self._sizes.buckets
        model = BagOfNgrams(rows, opt["embedding_size"], self.outputs, self._is_sparse())
        if opt.get("vectors_file") and self.is_new:
            copy_vectors(opt["vectors_file"], self.dict.tok2ind, model.embedding.weight)
        return model

    def _is_sparse(self) -> bool:
        """Whether the optimiser, gradient clipping and distributed training all support sparse gradients."""
        on_gpus = is_distributed() and self.use_cuda
        is_plain = not self.opt["momentum"] and not self.opt.get("weight_decay")
        return self.opt["optimizer"] == "sgd" and is_plain and not self._clips() and not on_gpus

    def _clips(self) -> bool:
        return bool(self.opt.get("gradient_clip", -1) > 0)

    def begin_with_weights(self, path: str) -> None:
        """Load the library's matrices, or another judge's weights."""
        if self._file is None:
            return super().begin_with_weights(path)
        model: Any = self.model
        with torch.no_grad():
            model.embedding.weight.copy_(self._file.vectors())
            labels = self._file.labels
            if self.opt["loss"] == "ce" and sorted(self.opt["classes"]) == sorted(labels):
                model.head.weight.copy_(self._file.output()[[labels.index(name) for name in self.opt["classes"]]])
            else:
                logging.info(f"{path}: its labels are not the classes, or its loss is another: the last layer is new")
        self._file = None
        return None

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        """Return the row indices of all texts, concatenated, and the offset of each text."""
        rows = [self._rows(pair) for pair in pairs]
        starts = torch.tensor([0, *map(len, rows)])[:-1].cumsum(0)
        return torch.tensor([number for each in rows for number in each], dtype=torch.long), starts

    def _rows_of(self, pair: TextPair) -> list[int]:
        """Return the rows of the turns and the reply; each ends with ``</s>``, and no n-gram spans two of them."""
        texts = [*pair.turns, pair.reply]
        return [
            number
            for text in texts
            for number in row_numbers([*self.dict.tokenize(text), END], self.dict.tok2ind, self._sizes)
        ]

    # --- training ----------------------------------------------------------------------------------------------------

    def train_step(self, batch: Batch) -> Output:
        """Run one step at the current learning rate."""
        self.set_rate()
        return super().train_step(batch)

    def combined(self, losses: Tensor) -> Tensor:
        """Return the sum of the losses: fastText updates after each text, so its learning rate is per text.

        ParlAI averages over processes, and over the batches of ``--update-freq``; the factors undo this.
        """
        return losses.sum() * int(num_workers()) * (self.opt.get("update_freq") or 1)


def _take_over(file: FasttextFile, opt: Opt) -> None:
    """Set the options to those of the library's classifier.

    :raises OptionError: if the command line gives another value.
    """
    sizes = file.sizes
    numbers = (file.dim, sizes.word_ngrams, sizes.buckets, sizes.min_subword, sizes.max_subword)
    settings = {**dict(zip(_SIZES, numbers, strict=True)), "dict_tokenizer": "space", "dict_lower": False}
    copy_options(opt, settings, str(file.path))
    opt["vectors_file"] = None
    if opt.get("classes") or opt["loss"] != "ce":
        return
    in_chat = not opt.get("task") or opt.get("interactive_mode")
    if in_chat or sorted(task_classes(opt) or []) == sorted(file.labels):
        opt["classes"] = list(file.labels)


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values."""
    check_at_least(opt, 1, "embedding_size", "word_ngrams")
    for name in ("buckets", "min_subword", "max_subword"):
        if opt[name] < 0:
            raise OptionError(f"{flag(name)} {opt[name]}: must not be below 0")
    if opt["min_subword"] > opt["max_subword"] > 0:
        raise OptionError(f"--min-subword {opt['min_subword']}: must not be above --max-subword {opt['max_subword']}")
    if not opt["buckets"] and (opt["word_ngrams"] > 1 or opt["max_subword"]):
        raise OptionError("--buckets 0: n-grams and subwords need at least 1; or use --word-ngrams 1")
