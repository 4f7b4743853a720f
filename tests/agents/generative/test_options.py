"""Options and presets of the generative agent, as ParlAI's training command reads them."""

from __future__ import annotations

from typing import Any

import pytest
from parlai.core.opt import Opt
from parlai.scripts.eval_model import setup_args as eval_args
from parlai.scripts.interactive import setup_args as chat_args
from parlai.scripts.train_model import setup_args as train_args

from parlai_empathy.agents.generative import options
from parlai_empathy.errors import OptionError

NEW = ["-t", "empathy:empathetic_dialogues", "-m", "empathy:generative", "-mf", "/nowhere/model"]


def parsed(*arguments: str, setup: Any = train_args) -> Opt:
    return setup().parse_args([*NEW, *arguments])  # type: ignore[no-any-return]


def test_default_preset_applies_without_arguments() -> None:
    opt = parsed()
    expected = options._COMMON | options.PRESETS["default"]
    assert {name: opt[name] for name in expected} == expected
    assert opt["dict_tokenizer"] == "re"
    assert opt["hf_model"] is None


def test_paper_preset_matches_the_paper() -> None:
    """Rashkin et al. (2019, section 4.1), and sizes that give 85.1M parameters."""
    opt = parsed("--preset", "paper")
    assert (opt["embedding_size"], opt["n_layers"], opt["n_heads"], opt["ffn_size"]) == (300, 4, 6, 1200)
    assert (opt["variant"], opt["activation"], opt["learn_positional_embeddings"]) == ("aiayn", "relu", False)
    assert (opt["learningrate"], opt["lr_scheduler"], opt["dropout"]) == (8e-4, "none", 0.0)
    assert (opt["inference"], opt["truncate_context"]) == ("diversebeam", "newest")


@pytest.mark.parametrize("preset", options.PRESETS)
def test_each_preset_passes_the_checks(preset: str) -> None:
    options.check(parsed("--preset", preset))


def test_presets_set_the_same_options() -> None:
    first, second = options.PRESETS.values()
    assert first.keys() == second.keys()


def test_explicit_options_override_the_preset() -> None:
    assert parsed("--dropout", "0.7", "--preset", "paper")["dropout"] == 0.7
    assert parsed("--preset", "paper", "--dropout", "0.7")["dropout"] == 0.7


def test_hf_model_sets_small_learning_rate_and_batch_size() -> None:
    for order in (["--hf-model", "x", "--preset", "default"], ["--preset", "default", "--hf-model", "x"]):
        opt = parsed(*order)
        assert (opt["learningrate"], opt["batchsize"]) == (5e-5, 16)


@pytest.mark.parametrize("preset", options.PRESETS)
def test_peers_protocol_sets_the_peers_dictionary_options(preset: str) -> None:
    opt = parsed("--ppl-protocol", "peers", "--preset", preset)
    assert (opt["dict_tokenizer"], opt["dict_lower"]) == ("peers", True)
    assert opt["dict_include_valid"]
    assert opt["dict_include_test"]


def test_every_command_accepts_diverse_beam_search() -> None:
    for setup in (train_args, eval_args, chat_args):
        assert parsed("--inference", "diversebeam", "--beam-size", "6", "--beam-groups", "3", setup=setup)[
            "inference"
        ] == ("diversebeam")
        assert parsed("--inference", "nucleus", setup=setup)["inference"] == "nucleus"


def test_chat_uses_batch_size_one() -> None:
    assert parsed("--preset", "paper", setup=chat_args)["batchsize"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--n-heads", "7"], ["--n-heads 7", "--embedding-size 300"]),
        (["--n-layers", "0"], ["--n-layers 0", "at least 1"]),
        (["--dropout", "1.5"], ["--dropout 1.5", "between 0 and 1"]),
        (["--text-truncate", "600"], ["--text-truncate 600", "--n-positions 512"]),
        (["--label-truncate", "0"], ["--label-truncate 0", "between 1 and --n-positions 512"]),
        (["--beam-size", "0"], ["--beam-size 0", "at least 1"]),
        (["--temperature", "0"], ["--temperature 0", "above 0"]),
        (["--inference", "topk", "--topk", "0"], ["--topk 0", "at least 1"]),
        (["--inference", "nucleus", "--topp", "0"], ["--topp 0", "above 0"]),
        (["--fp16", "true"], ["--fp16 true", "--precision bfloat16"]),
        (["--inference", "diversebeam", "--beam-size", "4"], ["--beam-groups 5", "must divide --beam-size 4"]),
        (["--inference", "diversebeam", "--beam-groups", "0"], ["--beam-groups 0", "must divide --beam-size 1"]),
        (["--preset", "paper", "--diversity-strength", "-1"], ["--diversity-strength -1", "at least 0"]),
        (["--preset", "paper", "--diversity-strength", "nan"], ["--diversity-strength nan", "at least 0"]),
        (["--ppl-protocol", "peers", "--dict-tokenizer", "re"], ["--ppl-protocol peers", "--dict-tokenizer re"]),
        (["--ppl-protocol", "peers", "--hf-model", "gpt2"], ["--ppl-protocol peers", "--hf-model"]),
    ],
)
def test_invalid_options_raise_option_error(arguments: list[str], words: list[str]) -> None:
    with pytest.raises(OptionError) as caught:
        options.check(parsed(*arguments))
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words)


def test_invalid_choices_in_option_files_raise_option_error() -> None:
    """ParlAI's options files may contain anything: the choices of the command line do not apply."""
    for name in ("truncate_context", "ppl_protocol"):
        with pytest.raises(OptionError, match="other: must be one of"):
            options.check(Opt({**parsed(), name: "other"}))


@pytest.mark.parametrize(
    "arguments", [("--dropout", "0.3"), ("--n-heads", "7"), ("--n-encoder-layers", "3"), ("--vectors-file", "v.txt")]
)
def test_hf_model_has_sizes_and_dropout_of_its_own(arguments: tuple[str, str]) -> None:
    for preset in options.PRESETS:  # each sets some of them
        options.check(parsed("--hf-model", "x", "--preset", preset))
    with pytest.raises(OptionError, match=f"^{' '.join(arguments)}: --hf-model has its own; leave it out$"):
        options.check(parsed("--hf-model", "x", *arguments))


def test_beam_size_of_greedy_search_is_refused_unless_a_preset_sets_it() -> None:
    options.check(parsed("--preset", "paper", "--inference", "greedy"))
    options.check(parsed("--beam-size", "5", "--inference", "beam"))
    options.check(parsed("--beam-size", "1"))
    with pytest.raises(OptionError, match=r"^--beam-size 5: greedy search has no beam; add --inference beam$"):
        options.check(parsed("--beam-size", "5"))
