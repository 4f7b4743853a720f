"""The agent in ParlAI: briefly trained on the built-in sample, then evaluated, queried and damaged."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from killed_training import check_that_it_went_on, kill_a_training
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.scripts.interactive import Interactive
from parlai.scripts.train_model import TrainModel
from processes import SAMPLE, TINY_SIZES, parlai_command
from sample_models import Bomb, copy_of, evaluate, load, weights
from tiny_generators import KINDS, write_language_model
from tiny_parts import SIZES, observed

from parlai_empathy.errors import ModelFileError, OptionError, TrainingError
from parlai_empathy.metrics.avg_bleu import avg_bleu, bleu_statistics
from parlai_empathy.metrics.distinct import distinct

TASK: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample"}
TINY: dict[str, Any] = {
    **TASK,
    "model": "empathy:generative",
    "num_epochs": 2,
    "batchsize": 32,
    "warmup_updates": 10,
    "label_truncate": 12,
    "precision": "float32",
    "seed": 7,
    "loglevel": "error",
}


def train(model_file: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    sizes = {} if {"hf_model", "init_model"} & changes.keys() else SIZES
    return TrainModel.main(**{**TINY, **sizes, **changes}, model_file=str(model_file))  # type: ignore[no-any-return]


def one_line(caught: pytest.ExceptionInfo[BaseException]) -> str:
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generative") / "model"
    train(path, ppl_protocol="peers")
    return path


# --- training --------------------------------------------------------------------------------------------------------


def test_chat_without_a_model_raises_option_error(tmp_path: Path) -> None:
    options = Interactive.setup_args().parse_args(["-m", "empathy:generative", "-dp", str(tmp_path)])
    with pytest.raises(OptionError, match=r"^there is no model to chat with: name a trained one with -mf"):
        create_agent(options)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_lowers_the_loss(tmp_path: Path, precision: str) -> None:
    report, _ = train(tmp_path / "model", num_epochs=3, learningrate=0.02, precision=precision, skip_generation=True)
    untrained = math.log(len(load(tmp_path / "model").dict))
    assert float(report["loss"]) < untrained - 1


def test_replies_may_fill_all_positions(tmp_path: Path) -> None:
    """Batches are padded to multiples of 8, here 16 tokens, but the decoder has positions for no more than 12."""
    report, _ = train(tmp_path / "model", n_positions=12, text_truncate=12, max_train_steps=1, skip_generation=True)
    assert math.isfinite(report["loss"])


def test_same_seed_gives_same_weights(tmp_path: Path) -> None:
    for name, seed in (("first", 7), ("again", 7), ("other", 8)):
        train(tmp_path / name, max_train_steps=2, seed=seed, skip_generation=True)
    first, again, other = (weights(tmp_path / name) for name in ("first", "again", "other"))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_killed_training_resumes_from_checkpoint(tmp_path: Path) -> None:
    """``kill -9`` after the first checkpoint: the second run resumes epochs, updates, learning rate and moments."""
    kill_a_training({**TINY, **SIZES}, tmp_path / "model")
    checkpoint = torch.load(tmp_path / "model.checkpoint", weights_only=False)
    assert checkpoint["number_training_updates"] > 0
    assert checkpoint["optimizer"]["state"]
    train(tmp_path / "model", num_epochs=4, validation_patience=0, skip_generation=True)
    check_that_it_went_on(tmp_path / "model")


@pytest.mark.parametrize("scheduler", ["invsqrt", "none"])
def test_resumed_training_restores_optimiser_and_update_count(tmp_path: Path, scheduler: str) -> None:
    train(tmp_path / "model", lr_scheduler=scheduler, max_train_steps=3, skip_generation=True)
    states = torch.load(tmp_path / "model", weights_only=False)
    agent = load(tmp_path / "model", datatype="train")
    assert agent._number_training_updates == states["number_training_updates"] == 3
    mine, saved = agent.optimizer.state_dict()["state"], states["optimizer"]["state"]
    assert mine.keys() == saved.keys()
    assert all(torch.equal(mine[i]["exp_avg"], saved[i]["exp_avg"]) for i in saved)


def test_truncate_limits_text_length_after_reloading(tmp_path: Path) -> None:
    train(tmp_path / "model", truncate=5, max_train_steps=1, skip_generation=True)
    agent = load(tmp_path / "model")
    assert (agent.text_truncate, agent.label_truncate) == (5, TINY["label_truncate"])


def test_vectors_file_initialises_embeddings(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("sorry " + " ".join(["0.5"] * 16) + "\n")
    train(tmp_path / "model", vectors_file=str(vectors), learningrate=1e-9, max_train_steps=1, skip_generation=True)
    row = load(tmp_path / "model").dict["sorry"]
    assert torch.allclose(weights(tmp_path / "model")["embeddings.weight"][row], torch.tensor(0.25))  # 1 / sqrt(16)


def test_nonfinite_loss_ends_training_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    train(tmp_path / "model", num_epochs=2, skip_generation=True)
    before = (tmp_path / "model.checkpoint").read_bytes()
    with pytest.raises(TrainingError) as caught:
        train(tmp_path / "model", optimizer="sgd", learningrate=1e30, gradient_clip=-1.0, num_epochs=30)
    assert "--learningrate" in one_line(caught)
    assert "resumes from it" in one_line(caught)
    assert (tmp_path / "model.checkpoint").read_bytes() == before


def test_mid_training_validation_generates_only_for_reply_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parlai_empathy.agents.generative.generative import GenerativeAgent

    trained: list[bool] = []
    generate = GenerativeAgent._generate

    def noted(self: GenerativeAgent, *args: Any, **kwargs: Any) -> Any:
        trained.append(self._has_trained)
        return generate(self, *args, **kwargs)

    monkeypatch.setattr(GenerativeAgent, "_generate", noted)
    train(tmp_path / "model", label_truncate=3)
    both = "empathy:empathetic_dialogues,empathy:empathetic_dialogues:Speaker"
    train(tmp_path / "two", label_truncate=3, task=both, validation_metric="empathy:empathetic_dialogues/ppl")
    assert trained
    assert not any(trained), "replies are written with the final weights alone"
    train(tmp_path / "other", validation_metric="f1", label_truncate=3)
    assert any(trained), "unless the best epoch is chosen by the replies"


# --- another model to begin with -------------------------------------------------------------------------------------


def test_init_model_provides_weights_and_dictionary(model_file: Path, tmp_path: Path) -> None:
    """Another task's dictionary, or another preset's truncation, would not fit."""
    train(
        tmp_path / "new", init_model=str(model_file), task="empathy:empathetic_dialogues:Speaker", learningrate=1e-9,
        max_train_steps=1, skip_generation=True,
    )  # fmt: skip
    theirs, mine = weights(model_file), weights(tmp_path / "new")
    assert all(torch.allclose(theirs[name], mine[name], atol=1e-6) for name in theirs)
    assert (tmp_path / "new.dict").read_text() == Path(f"{model_file}.dict").read_text()
    agent = load(tmp_path / "new")
    assert (agent.opt["dict_tokenizer"], agent.opt["dict_lower"]) == ("peers", True)
    assert load(tmp_path / "new").dict.txt2vec("Hello there") == load(model_file).dict.txt2vec("Hello there")


def test_missing_init_model_raises_model_file_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^--init-model .*nowhere: there is no such file$"):
        train(tmp_path / "new", init_model=str(tmp_path / "nowhere"))


def test_init_model_of_different_size_raises_model_file_error(model_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        train(tmp_path / "new", init_model=str(model_file), ffn_size=8)
    assert f"--init-model {model_file} is another kind of model" in one_line(caught)


def test_init_model_without_dictionary_raises_model_file_error(model_file: Path, tmp_path: Path) -> None:
    (tmp_path / "bare").write_bytes(model_file.read_bytes())
    with pytest.raises(ModelFileError) as caught:
        train(tmp_path / "new", init_model=str(tmp_path / "bare"))
    assert f"{tmp_path / 'bare'}: it has 2,612 words" in one_line(caught)
    assert f"{tmp_path / 'bare'}.dict" in one_line(caught)


# --- evaluation ------------------------------------------------------------------------------------------------------


def test_evaluation_reports_own_and_parlai_metrics(model_file: Path) -> None:
    report = evaluate(model_file)
    assert {"ppl", "ppl_peers", "avg_bleu", "dist_1", "dist_2", "token_acc", "f1", "exs"} <= set(report)
    for key in ("ppl", "ppl_peers", "avg_bleu", "dist_1", "dist_2"):
        assert "|n:142|split:test|" in report[key].signature
    for key, mean in (("ppl", "tokens"), ("ppl_peers", "examples")):
        made = f"PPL|mean:{mean}|case:lower|tokens:peers|vocabulary:2612|max_length:12|n:142|split:test|"
        assert report[key].signature.startswith(made)


def test_example_without_a_true_reply_has_no_perplexity(model_file: Path) -> None:
    """ParlAI writes the metrics of each example into its logs: an error there would end the evaluation."""
    agent = load(model_file, datatype="valid")
    replies = agent.batch_act(observed(agent, {"text": "I am sad", "eval_labels": ["Oh no."]}, {"text": "I am glad"}))
    first, second = (float(reply["metrics"]["ppl"]) for reply in replies)
    assert math.isfinite(first)
    assert math.isnan(second)


def test_perplexity_signature_mentions_bfloat16(model_file: Path) -> None:
    report = evaluate(model_file, num_examples=32, skip_generation=True, precision="bfloat16")
    assert "|case:lower|tokens:peers|vocabulary:2612|max_length:12|precision:bfloat16|n:32|" in report["ppl"].signature


def test_perplexities_match_per_example_computation(model_file: Path) -> None:
    """Computed one example at a time, from ParlAI's own scores of the whole vocabulary."""
    agent = load(model_file)
    agent.model.eval()
    agent.model.whole = True
    losses = []
    with torch.no_grad():
        for context, reply in sample_pairs("test"):
            ys = torch.tensor([[*agent.dict.txt2vec(reply)[:11], agent.END_IDX]])
            if len(agent.dict.txt2vec(reply)) >= 12:  # truncated together with its end token, as by ParlAI
                ys = torch.tensor([agent.dict.txt2vec(reply)[:12]])
            scores, _, _ = agent.model(torch.tensor([agent.dict.txt2vec(context)[-100:]]), ys=ys)
            losses.append(torch.nn.functional.cross_entropy(scores[0], ys[0], reduction="none"))
    report = evaluate(model_file, skip_generation=True)
    assert float(report["ppl"]) == pytest.approx(math.exp(torch.cat(losses).mean()), rel=1e-4)
    of_examples = torch.stack([each.mean() for each in losses])
    assert float(report["ppl_peers"]) == pytest.approx(math.exp(of_examples.mean()), rel=1e-4)


def sample_pairs(fold: str) -> list[tuple[str, str]]:
    """Return contexts of up to four turns and the Listener's replies, from the sample's own reader."""
    from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE
    from parlai_empathy.tasks.empathetic_dialogues.reader import read_empathetic_dialogues

    return [
        ("\n".join(turn.text for turn in dialogue.turns[max(0, i - 4) : i]), dialogue.turns[i].text)
        for dialogue in read_empathetic_dialogues(SAMPLE / f"{fold}.csv")
        for i in range(1, len(dialogue.turns), 2)
    ]


def test_reply_metrics_match_the_generated_texts(model_file: Path) -> None:
    agent = load(model_file)
    replies, references = [], []
    for context, reference in sample_pairs("valid"):
        agent.observe(Message({"text": context, "episode_done": True}))
        replies.append(agent.dict.tokenize(agent.act()["text"]))
        references.append(agent.dict.tokenize(reference))
    report = evaluate(model_file, datatype="valid")
    statistics = [bleu_statistics(*pair) for pair in zip(replies, references, strict=True)]
    assert float(report["avg_bleu"]) == pytest.approx(avg_bleu(sum(statistics[1:], statistics[0])))
    assert float(report["dist_2"]) == pytest.approx(distinct(replies, 2))


@pytest.mark.parametrize("changes", [{"batchsize": 1}, {"batchsize": 50}, {"dynamic_batching": "batchsort"}])
def test_evaluation_metrics_do_not_depend_on_batching(model_file: Path, changes: dict[str, Any]) -> None:
    report, other = evaluate(model_file, datatype="valid"), evaluate(model_file, datatype="valid", **changes)
    for key in ("ppl", "ppl_peers", "avg_bleu", "dist_1", "dist_2", "f1", "token_acc"):
        assert float(report[key]) == pytest.approx(float(other[key]), rel=1e-4)


def test_skip_generation_reports_no_reply_metrics(model_file: Path) -> None:
    report = evaluate(model_file, skip_generation=True)
    assert "ppl_peers" in report
    assert not {"avg_bleu", "dist_1", "f1"} & set(report)


def test_peers_perplexity_requires_the_peers_tokenizer(model_file: Path, tmp_path: Path) -> None:
    train(tmp_path / "model", max_train_steps=1, skip_generation=True)
    assert "ppl_peers" not in evaluate(tmp_path / "model", skip_generation=True)
    with pytest.raises(OptionError, match="--dict-tokenizer re"):
        evaluate(tmp_path / "model", ppl_protocol="peers")
    assert "ppl_peers" not in evaluate(model_file, ppl_protocol="none", skip_generation=True)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_verbose_mode_reports_token_losses(model_file: Path, precision: str) -> None:
    """``--verbose`` and ParlAI's ``token_losses`` need the scores of the whole vocabulary."""
    agent = load(model_file, verbose=True, precision=precision)
    agent.observe(Message({"text": "I am sad.", "eval_labels": ["i am sorry"], "episode_done": True}))
    reply = agent.act()
    words = [word for word, _ in reply["token_losses"]]
    assert words[:4] == ["i", "am", "sorry", "__end__"]
    assert reply["text_token_info"][0][0] == "__start__"


def test_signature_mentions_blocked_phrases(model_file: Path, tmp_path: Path) -> None:
    phrases = tmp_path / "phrases.txt"
    phrases.write_text("sorry\n")
    plain, blocked = (
        evaluate(model_file, num_examples=4, **options)["dist_1"].signature
        for options in ({}, {"beam_block_list_filename": str(phrases)})
    )
    assert "block_list" not in plain
    assert ",block_list=" in blocked


# --- decoding --------------------------------------------------------------------------------------------------------

SEARCHES: list[dict[str, Any]] = [
    {"inference": "greedy"},
    {"inference": "beam", "beam_size": 3},
    {"inference": "topk"},
    {"inference": "nucleus"},
    {"inference": "delayedbeam", "beam_size": 2, "beam_delay": 2},
    {"inference": "delayednucleusbeam", "beam_size": 2, "beam_delay": 2},
    {"inference": "diversebeam", "beam_size": 4, "beam_groups": 2, "beam_block_ngram": 2},
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search["inference"])
def test_every_search_method_gives_a_reply(model_file: Path, search: dict[str, Any]) -> None:
    agent = load(model_file, interactive_mode=True, **search)
    for message in ("I lost my job.", "My cat is ill.\nOh no!"):
        assert isinstance(agent.respond(message), str)


def test_diverse_beam_with_one_group_matches_beam_search(model_file: Path) -> None:
    beam = load(model_file, inference="beam", beam_size=3)
    diverse = load(model_file, inference="diversebeam", beam_size=3, beam_groups=1)
    for context, _ in sample_pairs("valid")[:10]:
        answers = []
        for agent in (beam, diverse):
            agent.observe(Message({"text": context, "episode_done": True}))
            answers.append(agent.act()["beam_texts"])
        assert answers[0] == answers[1]


# --- chat ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "I lost my job today.",
        "",
        "   ",
        "\n",
        "word " * 5_000,
        "\x00\x07\x1b[31m\x7f",
        "😢😭 👩‍👩‍👧 \u202e\u2028",
        "__null__ __end__ <script>",
    ],
)
def test_every_message_gets_a_reply(model_file: Path, message: str) -> None:
    assert isinstance(load(model_file, interactive_mode=True).respond(message), str)


def test_truncate_context_selects_which_end_is_dropped(model_file: Path) -> None:
    text = " ".join(["sad"] * 150 + ["happy"])
    for side, last_is_kept in (("oldest", True), ("newest", False)):
        agent = load(model_file, truncate_context=side)
        vec = agent.observe(Message({"text": text, "episode_done": True}))["text_vec"]
        assert len(vec) == 100
        assert (int(vec[-1]) == agent.dict["happy"]) is last_is_kept


# --- broken files ----------------------------------------------------------------------------------------------------


def test_truncated_model_file_error_names_the_file(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    copy.write_bytes(copy.read_bytes()[:1000])
    with pytest.raises(ModelFileError) as caught:
        load(copy)
    assert str(copy) in one_line(caught)


def test_loading_executes_no_pickled_code(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    torch.save({"model": Bomb(tmp_path / "touched")}, copy)
    with pytest.raises(ModelFileError):
        load(copy)
    assert not (tmp_path / "touched").exists()


def test_dictionary_size_mismatch_error_names_both_files(model_file: Path, tmp_path: Path) -> None:
    copy = copy_of(model_file, tmp_path)
    lines = Path(f"{copy}.dict").read_text().splitlines(keepends=True)
    Path(f"{copy}.dict").write_text("".join(lines[:-5]))
    with pytest.raises(ModelFileError) as caught:
        load(copy)
    assert str(copy) in one_line(caught)
    assert f"{copy}.dict" in one_line(caught)


# --- Hugging Face's models -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=list(KINDS))
def pretrained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Path]:
    """A kind of model, its folder, and the briefly trained model."""
    root = tmp_path_factory.mktemp("pretrained")
    folder = write_language_model(request.param, root / "source")
    train(root / "model", hf_model=str(folder), max_train_steps=2, batchsize=4, num_epochs=-1, skip_generation=True)
    return request.param, folder, root / "model"


def test_training_starts_from_the_pretrained_weights(pretrained: tuple[str, Path, Path], tmp_path: Path) -> None:
    _, folder, _ = pretrained
    options = {"max_train_steps": 1, "batchsize": 4, "num_epochs": -1, "skip_generation": True}
    train(tmp_path / "model", hf_model=str(folder), learningrate=1e-12, **options)
    import transformers

    from parlai_empathy.modules.pretrained.hugging_face import load_language_model

    source, _ = load_language_model(str(folder))
    mine = weights(tmp_path / "model")
    for name, values in source.state_dict().items():
        assert torch.allclose(mine[f"language_model.{name}"], values, atol=1e-6), name
    assert transformers.AutoConfig.from_pretrained(f"{tmp_path / 'model'}.encoder").model_type


def test_trained_model_does_not_need_the_pretrained_folder(pretrained: tuple[str, Path, Path], tmp_path: Path) -> None:
    _, folder, model = pretrained
    hidden = folder.rename(tmp_path / "hidden")
    try:
        report = evaluate(model, datatype="valid", num_examples=8, batchsize=4, label_truncate=6, skip_generation=False)
        assert math.isfinite(float(report["ppl"]))
        assert "|case:kept|tokens:subwords|" in report["ppl"].signature
        assert "|case:kept|tokens:re|" in report["avg_bleu"].signature, "so that BLEU counts words"
    finally:
        hidden.rename(folder)


def test_bleu_of_pretrained_models_keeps_case(pretrained: tuple[str, Path, Path]) -> None:
    agent = load(pretrained[2], datatype="valid", label_truncate=6, beam_block_ngram=-1, skip_generation=False)
    _prefer(agent.model, agent.dict.txt2vec("I")[-1])
    agent.observe(Message({"text": "Who?", "eval_labels": ["IIIII"], "episode_done": True}))
    bleu = agent.act()["metrics"]["avg_bleu"]
    assert bleu.statistics == bleu_statistics(["IIIII"], ["IIIII"])
    assert "|case:kept|" in bleu.signature


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search["inference"])
def test_pretrained_models_support_every_search_method(
    pretrained: tuple[str, Path, Path], search: dict[str, Any]
) -> None:
    agent = load(pretrained[2], interactive_mode=True, label_truncate=6, **search)
    for message in ("I lost my job.", ""):
        assert isinstance(agent.respond(message), str)


def test_cached_greedy_decoding_matches_uncached_decoding(pretrained: tuple[str, Path, Path]) -> None:
    """Decoding with a cache, compared with reading the whole reply again for each token; the batch is padded."""
    agent = load(pretrained[2], label_truncate=6, beam_min_length=0, beam_block_ngram=-1, inference="greedy")
    contexts = ["I lost my job and I am sad.", "No!"]
    observed = []
    for context in contexts:
        copy = agent.clone()
        observed.append(copy.observe(Message({"text": context, "episode_done": True})))
    model = agent.model.eval()
    with torch.no_grad():
        predicted, _ = agent._generate(agent.batchify(observed), 1, 6)
    for obs, (tokens, _, _) in zip(observed, predicted, strict=True):
        so_far = [agent.START_IDX]
        with torch.no_grad():
            states = model.encoder(obs["text_vec"].unsqueeze(0))
            while len(so_far) < len(tokens):
                scores, _ = model.decoder(torch.tensor([so_far]), states)
                so_far.append(int(model.output(scores)[0, -1].argmax()))
        assert so_far[1:-1] == tokens.tolist()[1:-1]  # the last one is an end token, also if the reply was too long


def test_pretrained_models_do_not_write_blocked_phrases(pretrained: tuple[str, Path, Path], tmp_path: Path) -> None:
    """Inside a reply, " c" is another token than "c"; here the model writes nothing else if it may."""
    phrases = tmp_path / "phrases.txt"
    phrases.write_text("c\n")
    replies = []
    for options in ({}, {"beam_block_list_filename": str(phrases)}):
        agent = load(pretrained[2], interactive_mode=True, label_truncate=6, beam_block_ngram=-1, **options)
        _prefer(agent.model, agent.dict.txt2vec("a c")[-1])
        replies.append(agent.respond("I lost my job."))
    assert replies[0].split() == ["c"] * 5  # and an end token
    assert not {"c", "C"} & set(replies[1])


def _prefer(model: Any, token: int) -> None:
    scores = model.output

    def preferring(states: Any) -> Any:
        return scores(states).index_fill(-1, torch.tensor(token), 1e4)

    model.output = preferring


def test_init_model_provides_weights_of_pretrained_models(pretrained: tuple[str, Path, Path], tmp_path: Path) -> None:
    """Initialised from another task's model, without naming the Hugging Face model again."""
    _, _, model = pretrained
    train(
        tmp_path / "new", init_model=str(model), learningrate=1e-12, max_train_steps=1, batchsize=4, num_epochs=-1,
        skip_generation=True,
    )  # fmt: skip
    theirs, mine = weights(model), weights(tmp_path / "new")
    assert theirs.keys() == mine.keys()
    assert all(torch.allclose(theirs[name], mine[name], atol=1e-6) for name in theirs)


@pytest.mark.parametrize(("kind", "words"), [("seq2seq", "gpt2"), ("causal", "t5")])
def test_hf_model_of_wrong_kind_raises_model_file_error(tmp_path: Path, kind: str, words: str) -> None:
    folder = write_language_model(words, tmp_path / "source")
    with pytest.raises(ModelFileError) as caught:
        train(tmp_path / "model", hf_model=str(folder), hf_kind=kind)
    assert f"--hf-model {folder}" in one_line(caught)


@pytest.mark.parametrize(
    ("name", "text", "fits"), [("gpt2", 144, False), ("gpt2", 143, True), ("bart", 253, False), ("bart", 244, True)]
)
def test_texts_exceeding_pretrained_model_length_raise_option_error(
    tmp_path: Path, name: str, text: int, fits: bool
) -> None:
    """Both are limited to 256 tokens. Batches are padded to multiples of 8; GPT-2 has context and reply in one text.

    So it has room for a reply of 104, a start of 1 and a context of 144; BART for 248 and the 4 tokens round a text.
    """
    folder = write_language_model(name, tmp_path / "source")
    changes = {"text_truncate": text, "label_truncate": 100, "max_train_steps": 1, "skip_generation": True}
    if fits:
        train(tmp_path / "model", hf_model=str(folder), batchsize=2, num_epochs=-1, **changes)
        return
    with pytest.raises(OptionError) as caught:
        train(tmp_path / "model", hf_model=str(folder), **changes)
    assert f"--text-truncate {text}" in one_line(caught)
    assert "at most 256 tokens" in one_line(caught)


# --- several processes, and the command line -------------------------------------------------------------------------


def test_two_process_training_evaluates_all_test_examples(tmp_path: Path) -> None:
    command = (*SAMPLE, "-m", "empathy:generative", *TINY_SIZES, "-mf", "model", "--label-truncate", "8")
    result = parlai_command(
        "multiprocessing_train", *command, "--distributed-world-size", "2", "--seed", "1", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr[-2000:]
    report = json.loads((tmp_path / "model.trainstats").read_text())["final_test_report"]
    assert report["exs"] == 142
    assert report["dist_2"] > 0


def test_command_line_errors_are_one_line(tmp_path: Path) -> None:
    command = ("train_model", *SAMPLE, "-m", "empathy:generative", *TINY_SIZES, "-mf", "model", "--beam-groups", "3")
    result = parlai_command(*command, "--inference", "diversebeam", "--beam-size", "4", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1] == "error: --beam-groups 3: must divide --beam-size 4"
