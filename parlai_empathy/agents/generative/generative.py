"""``-m empathy:generative``: an encoder-decoder that generates replies (Rashkin et al. 2019, section 4.1)."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from parlai.agents.transformer.transformer import TransformerGeneratorAgent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output
from parlai.core.torch_generator_agent import (
    GreedySearch,
    PPLMetric,
    SearchBlocklist,
    TorchGeneratorModel,
    TreeSearch,
)
from parlai.utils.distributed import is_primary_worker
from parlai.utils.torch import padded_tensor
from torch import Tensor, nn

from parlai_empathy.agent_kit.dictionaries.tokenizer import encoder_source, save_encoder
from parlai_empathy.agent_kit.options.common import apply_truncate, cut_context
from parlai_empathy.agent_kit.trained.init_model import check_init_model, init_weights, keep_dictionary, keep_options
from parlai_empathy.agent_kit.trained.weights import load_model
from parlai_empathy.agent_kit.training.batch_totals import BatchTotals
from parlai_empathy.agent_kit.training.draws import seed_weights
from parlai_empathy.agent_kit.training.finite_loss import FiniteLoss
from parlai_empathy.agent_kit.training.fused_optimizer import FusedOptimizer
from parlai_empathy.agent_kit.training.update_count import UpdateCount
from parlai_empathy.agents.generative import initialisation, options
from parlai_empathy.agents.generative.batched_generation import beams_of, write
from parlai_empathy.agents.generative.dictionary import PEERS, GenerativeDictionary, GeneratorTokenizer
from parlai_empathy.agents.generative.initialisation import begin_with_vectors
from parlai_empathy.agents.generative.reply_metrics import decoding_name, reply_metrics
from parlai_empathy.errors import OptionError
from parlai_empathy.metrics.perplexity import Perplexity, example_losses
from parlai_empathy.modules.classifiers.emotion_head import keep_own_head
from parlai_empathy.modules.generation.batched_beams import BatchedBeams, Beams, Finished, FinishedBeams, best_of
from parlai_empathy.modules.generation.diverse_beam import DiverseBeamSearch
from parlai_empathy.modules.generation.hugging_face_generator import GENERATORS, HuggingFaceGenerator
from parlai_empathy.modules.generation.token_losses import TrueTokenCriterion, WordGenerator
from parlai_empathy.modules.pretrained.hugging_face import load_language_model
from parlai_empathy.modules.speed.precision import autocast, use_bfloat16

# Validation metrics that can be computed without generating replies.
_LOSS_METRICS = frozenset({"loss", "ppl", "ppl_peers", "token_acc", "token_em"})


class GenerativeAgent(BatchTotals, FiniteLoss, FusedOptimizer, UpdateCount, TransformerGeneratorAgent):
    """Generates replies with ParlAI's Transformer over words, or with a Hugging Face language model.

    The encoder's output is ``(states, mask)``: ``(batch, length, dim)`` and ``(batch, length)``. It is the last item of
    the model's output, so :meth:`compute_loss` returns it with ``return_output``.
    """

    skip_generation: bool

    @classmethod
    def add_cmdline_args(cls, parser: ParlaiParser, partial_opt: Opt | None = None) -> ParlaiParser:
        """Add the agent's options, and its defaults for ParlAI's own options."""
        super().add_cmdline_args(parser, partial_opt)
        return options.add(parser, partial_opt or {})

    @staticmethod
    def dictionary_class() -> type[GenerativeDictionary]:
        """Words, or the tokens of ``--hf-model``."""
        return GenerativeDictionary

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        self._init_model, self._is_finetune = self._get_init_model(opt, shared)
        if not shared:
            check_init_model(opt, self._init_model, GenerativeAgent)
            keep_options(opt, options.OF_WEIGHTS, options.OF_TOKENS)
        apply_truncate(opt)
        options.check(opt)
        if opt.get("interactive_mode") and not shared and not (self._init_model or opt.get("hf_model")):
            raise OptionError("there is no model to chat with: name a trained one with -mf, or start from --hf-model")
        self._has_trained = False
        super().__init__(opt, shared)
        if self.opt["inference"] == "greedy":
            self.beam_size = 1
        if self._is_finetune:
            keep_dictionary(self.dict, self.opt)

    # --- model -------------------------------------------------------------------------------------------------------

    def build_model(self, states: Any = None) -> TorchGeneratorModel:
        """Build the model, initialised from ``--seed`` if it is given."""
        seed_weights(self.opt)
        model = self._language_model() if self.opt.get("hf_model") else self._word_model()
        model.whole = self.show_token_details
        return model

    def _word_model(self) -> WordGenerator:
        model = WordGenerator(self.opt, self.dict)
        if self._init_model or not self._should_initialize_optimizer():
            return model
        if self.opt["embedding_type"] != "random":
            self._copy_embeddings(model.embeddings.weight, self.opt["embedding_type"])
        if self.opt.get("vectors_file"):
            begin_with_vectors(self.opt["vectors_file"], self.dict.tok2ind, model.embeddings.weight)
        return model

    def _language_model(self) -> HuggingFaceGenerator:
        """Load ``--hf-model``, with pretrained weights unless a trained model's weights follow."""
        source, is_new = encoder_source(self.opt), self._init_model is None
        model, kind = load_language_model(source, self.opt["hf_kind"], pretrained=is_new)
        begins_with = self.dict.begins_with(kind, model.config)
        around = [*self.dict.before, *self.dict.behind, *begins_with]
        options.check_lengths(self.opt, model.config, kind, len(around))
        return GENERATORS[kind](model, begins_with, self.NULL_IDX, self.START_IDX, self.END_IDX)

    def build_criterion(self) -> nn.Module:
        """Return the criterion for a model that outputs losses instead of scores."""
        return TrueTokenCriterion(self.NULL_IDX)

    @property
    def bare_model(self) -> Any:
        """The model without its ``DistributedDataParallel`` wrapper."""
        return getattr(self.model, "module", self.model)

    def autocast(self) -> torch.autocast:
        """Return the autocast context of ``--precision``."""
        return autocast(self.model, self.opt["precision"])

    # --- files -------------------------------------------------------------------------------------------------------

    def load(self, path: str) -> dict[str, Any]:
        """Load a model file, without executing code that it may contain."""

        def load_weights(weights: dict[str, Tensor]) -> None:
            if self._is_finetune:
                weights = self.adapt_init_weights(weights)
            if not self.special_toks:  # ParlAI resizes the embeddings for those
                initialisation.check_words(weights, len(self.dict), path)
            if self._is_finetune:
                init_weights(self.model, weights, path)
            else:
                self.load_state_dict(weights)

        return load_model(path, load_weights)

    def adapt_init_weights(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adapt the weights of ``--init-model`` to this model."""
        return keep_own_head(weights, self.model.state_dict())

    def save(self, path: str | None = None) -> None:
        """Save the model and, for a Hugging Face model, its tokenizer and configuration."""
        path = path or self.opt.get("model_file")
        if path and self.opt.get("hf_model") and is_primary_worker():
            save_encoder(path, self.dict.tokenizer_of_encoder, self.bare_model.language_model.config)
        super().save(path)

    # --- training ----------------------------------------------------------------------------------------------------

    def compute_loss(self, batch: Batch, return_output: bool = False) -> Any:
        """Return the mean token loss of a batch, computed in ``--precision``.

        :param return_output: also return the model's output: see :class:`TrueTokenLosses`.
        """
        with self.autocast():
            if not self.adds_up:
                return super().compute_loss(batch, return_output)
            output = self.model(*self._model_input(batch), ys=batch.label_vec)
        loss = self._record_total_losses(batch, output[0].squeeze(-1), output[1])
        return (loss, output) if return_output else loss

    def _record_total_losses(self, batch: Batch, losses: Tensor, best: Tensor) -> Tensor:
        """Record ParlAI's metrics of a training batch as totals, and return the mean loss of its tokens.

        :param losses: each token's, ``(batch, time)``, 0 for padding.
        :param best: the most probable tokens, ``(batch, time)``.
        """
        is_token: Tensor = batch.label_vec != self.NULL_IDX
        right = (batch.label_vec == best) & is_token
        total, tokens = losses.sum(), is_token.sum()
        self.record_total("loss", total, tokens)
        self.record_total("ppl", total, tokens, PPLMetric)
        self.record_total("token_acc", right.sum(), tokens)
        self.record_each("token_em", right.sum(dim=1) == is_token.sum(dim=1))
        self.record_per_token_metrics(batch, losses)
        return total / tokens

    def train_step(self, batch: Batch) -> Output:
        """Run one training step."""
        self._has_trained = True
        super().train_step(batch)
        return Output()

    # --- evaluation --------------------------------------------------------------------------------------------------

    def eval_step(self, batch: Batch) -> Output | None:
        """Evaluate a batch. Validation during training generates replies only if the validation metric needs them."""
        skip = self.skip_generation
        metric = str(self.opt.get("validation_metric")).split("/")[-1]  # <task>/ppl is that of one of several tasks
        if self._has_trained and metric in _LOSS_METRICS:
            self.skip_generation = True
        try:
            return super().eval_step(batch)
        finally:
            self.skip_generation = skip

    def record_per_token_metrics(self, batch: Batch, loss_per_token: Tensor) -> None:
        """Give ParlAI's perplexity a signature, and also record the peers' if ``--ppl-protocol`` selects it."""
        super().record_per_token_metrics(batch, loss_per_token)
        settings = {
            "case": self.case,
            "tokens": "subwords" if isinstance(self.dict, GeneratorTokenizer) else self.dict.tokenizer,
            "vocabulary": len(self.dict),
            "max_length": self.opt["label_truncate"],
            "precision": "bfloat16" if use_bfloat16(self.opt["precision"], loss_per_token.device) else None,
        }
        if "ppl" in self._local_metrics:  # unless ParlAI wants no metrics
            sums = [(one._numer, one._denom) for one in self._local_metrics["ppl"]]
            about = {"mean": "tokens", **settings}
            self._local_metrics["ppl"] = [Perplexity(loss, tokens, about, batch.split) for loss, tokens in sums]
        if self.opt["ppl_protocol"] == "peers":
            losses = example_losses(loss_per_token.float(), batch.label_vec != self.NULL_IDX)
            about = {"mean": "examples", **settings}
            self.record_each("ppl_peers", losses, partial(Perplexity, settings=about, split=batch.split))

    @property
    def case(self) -> str:
        """Whether the case of letters is ``kept`` or made ``lower``."""
        return "lower" if self.dict.lower or self.dict.tokenizer == PEERS else "kept"

    def _add_generation_metrics(self, batch: Batch, preds: Any) -> None:
        """Record ParlAI's metrics, AVG BLEU and Dist-n."""
        super()._add_generation_metrics(batch, preds)
        if batch.labels is None or not all(batch.labels):
            return
        bfloat16 = use_bfloat16(self.opt["precision"], batch.text_vec.device)
        metrics = reply_metrics(
            [self.dict.tokenizer_fun(self._v2t(tokens)) for tokens in preds],
            [self.dict.tokenizer_fun(label.lower() if self.case == "lower" else label) for label in batch.labels],
            tokens=self.dict.tokenizer,
            case=self.case,
            decoding=decoding_name(self.opt, bfloat16, self.beam_block_list._phrases),
            split=batch.split,
        )
        for name, values in metrics.items():
            self.record_local_metric(name, values)

    # --- decoding ----------------------------------------------------------------------------------------------------

    def _generate(self, batch: Batch, beam_size: int, max_ts: int, prefix_tokens: Tensor | None = None) -> Any:
        """Generate replies in ``--precision``, batched across examples where supported.

        :returns: the best reply of each example (tokens, score, details), and the finished beams.
        """
        beams = beams_of(self.opt, self.START_IDX, self.END_IDX)
        with self.autocast():
            if beams is None or self.show_token_details or prefix_tokens is not None or self.beam_block_list:
                return super()._generate(batch, beam_size, max_ts, prefix_tokens)
            return self._write(batch, beams, max_ts)

    def _write(self, batch: Batch, beams: Beams, longest: int) -> tuple[list[Finished], list[FinishedBeams]]:
        """Generate with batched beams: see :mod:`parlai_empathy.agents.generative.batched_generation`."""
        model = self.bare_model
        states = model.encode(*self._encoder_input(batch))
        device = batch.text_vec.device
        searched = BatchedBeams(batch.batchsize, beams, device, self._get_batch_context(batch).to(device))

        def logprobs(scores: Tensor) -> Tensor:
            scaled = scores if self.temperature == 1.0 else scores / self.temperature
            activated: Tensor = self._generation_activation(scaled)
            return activated

        found = write(model, states, searched, longest, logprobs)
        return best_of(found), found

    def _treesearch_factory(self, device: torch.device, verbose: bool = False) -> TreeSearch:
        """Return ParlAI's or diverse beam search. Greedy search uses ``--beam-min-length`` but not ``--beam-size``."""
        method = self.opt["inference"]
        if method not in ("greedy", options.DIVERSE_BEAM):
            return super()._treesearch_factory(device, verbose)
        search = {
            "block_ngram": self.beam_block_ngram,
            "context_block_ngram": self.beam_context_block_ngram,
            "length_penalty": self.opt["beam_length_penalty"],
            "padding_token": self.NULL_IDX,
            "bos_token": self.START_IDX,
            "eos_token": self.END_IDX,
            "min_length": self.beam_min_length,
            "device": device,
            "verbose": verbose,
            "gpu_beam_blocking": self.opt.get("gpu_beam_blocking", False),
        }
        if method == "greedy":
            return GreedySearch(1, **search)
        return DiverseBeamSearch(
            self.beam_size, groups=self.opt["beam_groups"], strength=self.opt["diversity_strength"], **search
        )

    def _load_beam_block_list(self) -> SearchBlocklist:
        """Load the phrases that replies must not contain.

        Inside a text, many tokenizers (GPT-2's, BART's) read a word together with the space before it, as other tokens.
        """
        blocked = super()._load_beam_block_list()
        if self.opt.get("hf_model"):
            for phrase in sorted(blocked._phrases):
                blocked._add_literal(f" {phrase}")
        return blocked

    # --- text to token ids -------------------------------------------------------------------------------------------

    def batchify(self, obs_batch: list[Message], sort: bool = False) -> Batch:
        """Return ParlAI's batch, with the fold that it is from."""
        batch = super().batchify(obs_batch, sort)
        folds = {obs.get("fold") for obs in obs_batch if self.is_valid(obs)}
        batch.split = folds.pop() if len(folds) == 1 else None
        batch.split = batch.split or self.opt["datatype"].split(":")[0]
        return batch

    def _pad_tensor(self, items: list[Any], is_label: bool = False) -> tuple[Tensor, list[int]]:
        """Pad as ParlAI does, but to multiples of 8, up to ``--n-positions``: a CPU is slow at each new shape."""
        padded, lengths = padded_tensor(items, pad_idx=self.NULL_IDX, fp16friendly=True)
        return padded[:, : max(self.opt["n_positions"], *lengths)].contiguous(), lengths

    def _set_text_vec(self, obs: Message, history: History, truncate: int | None) -> Message:
        """Set the context's token ids, truncated as ``--truncate-context`` says, with at least one token."""
        obs = super()._set_text_vec(obs, history, truncate)
        cut_context(obs, self.opt, truncate, self.dict[self.dict.unk_token])
        if "text" not in obs:
            return obs
        if self.opt.get("hf_model"):
            before, behind = (torch.tensor(ids, dtype=torch.long) for ids in (self.dict.before, self.dict.behind))
            obs.force_set("text_vec", torch.cat([before, obs["text_vec"], behind]))
        return obs
