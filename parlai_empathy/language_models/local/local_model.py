"""The backend ``hf``: a local Hugging Face causal language model, on the GPU if there is one.

The same prompt with the same seed gets the same answer, whatever else is in the batch: each answer has its own random
numbers (see token_sampling.py). One limit remains: rounding differs between batches, so two tokens with almost equal
logits may change places, more often in bfloat16 than in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from parlai_empathy.errors import LanguageModelError, ModelFileError, OptionError
from parlai_empathy.language_models.completion import Answer, Completion, answer_of
from parlai_empathy.language_models.language_model import Backend
from parlai_empathy.language_models.local.prompt_tokens import control_tokens, prompt_tokens
from parlai_empathy.language_models.local.stop_texts import StopTexts
from parlai_empathy.language_models.local.token_listener import TokenListener, settled
from parlai_empathy.language_models.local.token_sampling import TokenSampler, random_source
from parlai_empathy.language_models.model_identity import model_identity
from parlai_empathy.language_models.partial_answers import PartialAnswers, Say
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.thoughts import OPENING, without_thoughts
from parlai_empathy.language_models.usage import Usage
from parlai_empathy.modules.pretrained.hugging_face import load_causal_model, load_tokenizer, transformers_library
from parlai_empathy.modules.speed.precision import attend_at_any_length, keep_in_bfloat16

OPTION = "--lm-model"
"""The option that names the model, for error messages."""

# An answer is decoded together with this many prompt tokens, since tokenizers may treat the start of a text specially.
_LEAD = 16


class LocalModel(Backend):
    """A Hugging Face model that answers several prompts at once.

    :param model: a folder, or a model's name on the hub.
    :param device: a torch device; None: the GPU if there is one.
    :param precision: ``auto``, ``float32`` or ``bfloat16``; also the data type of the stored weights.
    :param batch: the batch size.
    :param context_length: lowers that of the model's configuration, or says it if the configuration does not.
    :raises ModelFileError: if the model cannot be loaded, or does not fit into the memory of the device.
    :raises OptionError: if there is no such device, or the model takes fewer tokens than ``context_length``.
    """

    def __init__(
        self,
        model: str,
        device: str | None = None,
        precision: str = "auto",
        batch: int = 8,
        context_length: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        self.name = f"hf:{model}"
        self.device = _device(device)
        dtype = torch.bfloat16 if keep_in_bfloat16(precision, self.device) else torch.float32
        attend_at_any_length()
        self.tokenizer = load_tokenizer(model, OPTION)
        self.model = _on_device(load_causal_model(model, dtype, OPTION).eval(), self.device, model)
        self.identity = f"{model_identity(model, self.model.config)} {str(dtype).removeprefix('torch.')}".strip()
        self.context_length = _context_length(model, self.model.config, context_length)
        self.usage = usage or Usage()
        self.batch = batch
        self._controls = control_tokens(self.tokenizer)
        self.ends = _end_tokens(self.model, self.tokenizer)
        self.padding = next((i for i in (self.tokenizer.pad_token_id, *self.ends) if i is not None), 0)
        # Replaces the model's own generation settings: temperature and penalties come from Sampling alone.
        self.model.generation_config = transformers_library().GenerationConfig(
            do_sample=False, pad_token_id=self.padding, eos_token_id=self.ends or None
        )

    def count_tokens(self, prompt: Prompt) -> int:
        """Return the number of tokens of a prompt, including those of the chat template."""
        return len(prompt_tokens(self.tokenizer, prompt, self.name))

    def as_words(self, text: str) -> str:
        """Return a text with a space in each control token that it names, which could end or forge a turn."""
        return self._controls.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)

    def stream(self, prompt: Prompt, sampling: Sampling, say: Say) -> Answer:
        """Answer one prompt, passing the answer so far to ``say`` after each token.

        :raises LanguageModelError: if the prompt and its answer exceed the context length.
        """
        tokens = prompt_tokens(self.tokenizer, prompt, self.name)
        self._check_length(len(tokens), sampling.max_tokens)
        partial = PartialAnswers(say, sampling.stop)

        def report(row: list[int]) -> None:
            partial.report(self._text(tokens, settled(self.tokenizer, row[: self._end(row)])))

        (answer,) = self._answer_batch([tokens], sampling, [_seed(sampling)], [TokenListener(report, len(tokens))])
        self.usage.add(answer)
        return answer

    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[tuple[int, Answer]]:
        """Yield the number of each prompt and its answer; prompts of similar length share a batch.

        :raises LanguageModelError: before any prompt is answered, if a prompt and its answer exceed the context length.
        """
        tokens = [prompt_tokens(self.tokenizer, prompt, self.name) for prompt in prompts]
        self._check_length(max(map(len, tokens), default=0), sampling.max_tokens)
        seed = _seed(sampling)
        order = sorted(range(len(prompts)), key=lambda number: len(tokens[number]))
        for start in range(0, len(order), self.batch):
            numbers = order[start : start + self.batch]
            # Without a seed, repeated prompts get different answers.
            seeds = [seed + number if sampling.seed is None else seed for number in numbers]
            found = self._answer_batch([tokens[number] for number in numbers], sampling, seeds)
            for number, answer in zip(numbers, found, strict=True):
                self.usage.add(answer)
                yield number, answer

    def _check_length(self, longest: int, max_tokens: int) -> None:
        if self.context_length is not None and longest + max_tokens > self.context_length:
            raise LanguageModelError(
                f"{self.name}: a prompt of {longest} tokens and an answer of {max_tokens} exceed the context length "
                f"of {self.context_length}: shorten the prompt, or lower --max-tokens"
            )

    def _answer_batch(
        self,
        prompts: list[list[int]],
        sampling: Sampling,
        seeds: Sequence[int],
        listeners: Sequence[TokenListener] = (),
    ) -> list[Answer]:
        width = max(map(len, prompts))
        sources = [random_source(seed, prompt) for seed, prompt in zip(seeds, prompts, strict=True)]
        watch = StopTexts(
            self._decode, lambda row, written: without_thoughts(self._text(prompts[row], written)), width, sampling.stop
        )
        inputs, mask = _pad_left(prompts, self.padding)
        try:
            with torch.inference_mode():
                rows = self.model.generate(
                    input_ids=inputs.to(self.device),
                    attention_mask=mask.to(self.device),
                    max_new_tokens=sampling.max_tokens,
                    logits_processor=[TokenSampler(sampling, width, sources)],
                    stopping_criteria=[watch, *listeners],
                )
        except torch.cuda.OutOfMemoryError as error:
            raise LanguageModelError(
                f"{self.name}: {len(prompts)} prompts at once do not fit into the memory of {self.device}: "
                "lower --batchsize or --max-tokens"
            ) from error
        written = rows[:, width:].tolist()
        return [self._answer(prompts[i], row[: watch.ends.get(i)], sampling) for i, row in enumerate(written)]

    def _answer(self, prompt: list[int], row: list[int], sampling: Sampling) -> Answer:
        end = self._end(row)
        finish, written = ("length", len(row)) if end is None else ("stop", end + 1)
        answer = answer_of(self._text(prompt, row[:end]), sampling.stop, finish, len(prompt), written)
        if not isinstance(answer, Completion):
            self.usage.add_tokens(len(prompt), written)
        return answer

    def _end(self, row: list[int]) -> int | None:
        """Return the index of the first end token; None if there is none."""
        return next((place for place, token in enumerate(row) if token in self.ends), None)

    def _text(self, prompt: list[int], row: list[int]) -> str:
        """Return the text of an answer, with the opening tag of its thoughts if the prompt ends with it."""
        lead = prompt[-_LEAD:]
        before, whole = self._decode(lead), self._decode(lead + row)
        text = whole[len(before) :] if whole.startswith(before) else self._decode(row)
        return OPENING + text if before.rstrip().endswith(OPENING) else text

    def _decode(self, tokens: list[int]) -> str:
        text: str = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text


def _seed(sampling: Sampling) -> int:
    """Return the given seed, or draw one with torch, so that programs that set torch's seed are reproducible."""
    return int(torch.randint(2**62, ()).item()) if sampling.seed is None else sampling.seed


def _device(name: str | None) -> torch.device:
    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise OptionError(
            f"device {name} cannot be used ({reason}): omit it, or name a device of this machine"
        ) from error
    return device


def _on_device(model: Any, device: torch.device, name: str) -> Any:
    try:
        return model.to(device)
    except torch.cuda.OutOfMemoryError as error:
        raise ModelFileError(
            f"{OPTION} {name} does not fit into the memory of {device}: name a smaller model, or stay off the GPU with "
            "--no-cuda"
        ) from error


def _context_length(model: str, config: Any, asked: int | None) -> int | None:
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    length = getattr(text, "max_position_embeddings", None)
    if not isinstance(length, int) or length <= 0:
        return asked
    if asked is not None and asked > length:
        raise OptionError(
            f"--lm-context-length {asked}: {model} takes at most {length} tokens: lower it, or leave it out"
        )
    return asked or length


def _end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """Return the tokens that end an answer: those of the model's generation settings and the tokenizer's end token."""
    said = model.generation_config.eos_token_id
    ends = said if isinstance(said, list) else [said]
    return sorted({token for token in (*ends, tokenizer.eos_token_id) if token is not None})


def _pad_left(prompts: Sequence[Sequence[int]], padding: int) -> tuple[Tensor, Tensor]:
    """Pad prompts on the left, so that answers begin in the same column: tokens and mask, both ``(rows, width)``."""
    width = max(map(len, prompts))
    tokens = [[padding] * (width - len(prompt)) + list(prompt) for prompt in prompts]
    mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return torch.tensor(tokens), torch.tensor(mask)
