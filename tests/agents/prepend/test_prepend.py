"""The retrieval agent with labels: briefly trained on the sample, then inspected, queried and damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from processes import SAMPLE, TINY_SIZES, parlai_command, succeeded
from sample_models import evaluate, load, weights
from tiny_judge import write_bert
from tiny_parts import chat, move, observed, train_base, train_classifier

from parlai_empathy.agent_kit.judging.frozen_classifier import FrozenClassifier
from parlai_empathy.errors import EmpathyError, OptionError

CONTEXT = "I failed my exam.\nOh no.\nNow I have to tell my parents."
EXAMPLE = {"text": CONTEXT, "labels": ["They will understand."]}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_classifier(tmp_path_factory.mktemp("classifier") / "model")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory, classifier: Path) -> Path:
    path = tmp_path_factory.mktemp("prepend") / "model"
    return train_base(path, "empathy:prepend", classifier=str(classifier), prepend_k=3, num_epochs=1)


def labels_of(classifier: Path, text: str, k: int, order: str) -> list[str]:
    """Return the most probable labels by the classifier's own agent, in the given order."""
    agent, (*before, last) = load(classifier), text.split("\n")
    probable = agent.class_probabilities([before], [last])[0]
    best = sorted(range(len(probable)), key=lambda place: -probable[place])[:k]
    labels = [agent.classes[place] for place in best]
    return labels[::-1] if order == "paper" else labels


# --- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["paper", "natural"])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_context_and_reply_start_with_their_own_labels(model_file: Path, classifier: Path, k: int, order: str) -> None:
    agent = load(model_file, prepend_k=k, prepend_order=order)
    batch = agent.batchify(observed(agent, EXAMPLE))
    reply = EXAMPLE["labels"][0]
    for tokens, text in ((batch.text_vec, CONTEXT), (batch.label_vec, reply)):
        expected = " ".join([*labels_of(classifier, text, k, order), text])
        assert tokens[0].tolist() == agent.dict.txt2vec(expected)


@pytest.mark.parametrize("name", ["labels", "eval_labels"])
def test_batch_has_labels_before_replies(model_file: Path, classifier: Path, name: str) -> None:
    agent = load(model_file)
    batch = agent.batchify(observed(agent, *({"text": text, name: [text]} for text in (CONTEXT, "Hi."))))
    labelled = agent.dict.txt2vec(" ".join([*labels_of(classifier, "Hi.", 3, "paper"), "Hi."]))
    assert batch.is_training is (name == "labels")
    assert batch.label_vec[1].tolist()[: len(labelled)] == labelled


def test_candidates_start_with_their_own_labels(model_file: Path, classifier: Path) -> None:
    agent = load(model_file)
    texts = ["They will understand.", "We won the cup!"]
    for tokens, text in zip(agent.replies_tokens(texts), texts, strict=True):
        labels = labels_of(classifier, text, 3, "paper")
        assert tokens.tolist() == agent.dict.txt2vec(" ".join([*labels, text]))


def test_inline_training_candidates_start_with_labels(model_file: Path) -> None:
    agent = load(model_file, candidates="inline")
    example = {**EXAMPLE, "label_candidates": ["We won the cup!", *EXAMPLE["labels"]]}
    batch = agent.batchify(observed(agent, example))
    expected = [tokens.tolist() for tokens in agent.replies_tokens(batch.candidates[0])]
    assert [tokens.tolist() for tokens in batch.candidate_vecs[0]] == expected


def test_observed_texts_remain_without_labels(model_file: Path) -> None:
    agent = load(model_file)
    (observation,) = observed(agent, EXAMPLE)
    before = observation["text_vec"].tolist()
    batch = agent.batchify([observation])
    assert observation["text_vec"].tolist() == before == batch.text_vec[0].tolist()[3:]
    assert observation["full_text"] == CONTEXT
    assert batch.labels == EXAMPLE["labels"]


def test_labels_are_added_on_top_of_the_truncation_limit(model_file: Path) -> None:
    agent = load(model_file)
    long = {"text": "sad " * 300, "labels": ["happy " * 300]}
    batch = agent.batchify(observed(agent, long))
    assert batch.text_vec.shape == batch.label_vec.shape == (1, 103)


def test_dictionary_contains_all_label_words(model_file: Path) -> None:
    """Some emotions' names do not occur in the sample's texts, so a dictionary of these would lack them."""
    agent = load(model_file)
    assert agent.new_words
    unknown = agent.dict[agent.dict.unk_token]
    for label in agent.classifier.labels:
        assert unknown not in agent.dict.txt2vec(label)
    assert len(weights(model_file)["embedding.weight"]) == len(agent.dict)


def test_batch_texts_are_classified_in_one_call(model_file: Path, monkeypatch: Any) -> None:
    agent = load(model_file)
    calls: list[int] = []
    real = agent.classifier._agent.class_probabilities
    monkeypatch.setattr(
        agent.classifier._agent, "class_probabilities", lambda c, r: [calls.append(len(r)), real(c, r)][1]
    )
    agent.batchify(observed(agent, *({"text": f"text {i}", "labels": [f"reply {i}"]} for i in range(20))))
    assert calls == [40]


# --- on a pretrained encoder -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory, classifier: Path) -> Path:
    folder = tmp_path_factory.mktemp("pretrained")
    torch.manual_seed(0)
    return train_base(
        folder / "model", "empathy:prepend", classifier=str(classifier), encoder="hf",
        hf_model=str(write_bert(folder / "bert")), text_truncate=60, label_truncate=60, pool_max_tokens=-1,
        max_train_steps=2,
    )  # fmt: skip


def test_labels_follow_the_start_token(pretrained: Path, classifier: Path) -> None:
    agent = load(pretrained)
    batch = agent.batchify(observed(agent, {"text": "sad", "labels": ["ok"]}))
    tokenizer = agent.dict.tokenizer_of_encoder
    for tokens, text in ((batch.text_vec, "sad"), (batch.label_vec, "ok")):
        expected = tokenizer(f"{labels_of(classifier, text, 1, 'paper')[0]} {text}")["input_ids"]
        assert tokens[0].tolist() == expected


def test_text_with_labels_exceeding_encoder_length_raises_option_error(pretrained: Path) -> None:
    """It takes 128 tokens, two of which are special; the longest label has 12 tokens."""
    with pytest.raises(OptionError, match=r"--text-truncate 120: with --prepend-k 1 a text has up to 132 tokens.*126"):
        load(pretrained, text_truncate=120)


# --- pool, evaluation, chat ------------------------------------------------------------------------------------------


def test_pool_texts_are_unlabelled_but_encoded_with_labels(model_file: Path, classifier: Path) -> None:
    agent = load(model_file)
    pool = agent.pool()
    text = pool.texts[0]
    expected = agent.dict.txt2vec(" ".join([*labels_of(classifier, text, 3, "paper"), text]))
    with torch.no_grad():
        encoding = agent.model.eval().replies(torch.tensor([expected]))[0]
    torch.testing.assert_close(pool.encodings[0], encoding)


def test_labels_do_not_change_the_pool_size(model_file: Path) -> None:
    """420 of the sample's training replies have at most 20 tokens of their own."""
    assert len(load(model_file).pool().texts) == 420


@pytest.mark.parametrize("change", [{"prepend_k": 1}, {"prepend_order": "natural"}])
def test_label_options_change_the_pool_source(model_file: Path, change: dict[str, Any]) -> None:
    assert load(model_file)._pool_source() == load(model_file)._pool_source()
    assert load(model_file, **change)._pool_source() != load(model_file)._pool_source()


def test_another_classifier_changes_the_pool_source(model_file: Path) -> None:
    agent = load(model_file)
    before = agent._pool_source()
    agent.classifier.fingerprint = "another"
    assert agent._pool_source() != before


def test_evaluation_metrics_do_not_depend_on_batch_size(model_file: Path) -> None:
    report, other = evaluate(model_file), evaluate(model_file, batchsize=7)
    ours = {f"p_at_1_100_{protocol}" for protocol in ("shuffled", "ordered", "inline")} | {"avg_bleu", "mrr"}
    for key in ours:
        assert float(report[key]) == pytest.approx(float(other[key])), key


@pytest.mark.parametrize("message", ["I lost my job today.", "", "  ", "\n", "x" * 50_000, "word " * 20_000, "😢"])
def test_every_message_gets_a_reply_from_the_pool(model_file: Path, message: str) -> None:
    assert chat(model_file, [message])[0] in load(model_file).pool().texts


def test_pool_that_is_not_there_is_built_for_a_chat(model_file: Path, tmp_path: Path) -> None:
    path = shutil.copytree(model_file.parent, tmp_path / "copy") / model_file.name
    Path(f"{path}.pool").unlink()
    assert chat(path, ["Hello."])[0] in load(path).pool().texts
    (tmp_path / "own.txt").write_text("Oh dear.\nHow nice!\n")
    agent = load(path, fixed_candidates_path=str(tmp_path / "own.txt"), eval_candidates="fixed")
    assert agent.fixed_candidates == ["Oh dear.", "How nice!"]


def test_moved_model_works_without_the_original_classifier(classifier: Path, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    path = train_base(tmp_path / "here" / "model", "empathy:prepend", classifier=str(classifier), num_epochs=1)
    before = evaluate(path)["mrr"]
    path = move(path, tmp_path / "there")
    options = json.loads(Path(f"{path}.opt").read_text())
    Path(f"{path}.opt").write_text(json.dumps({**options, "classifier": "/nowhere/model"}))
    assert float(evaluate(path)["mrr"]) == pytest.approx(float(before))


# --- training --------------------------------------------------------------------------------------------------------


def test_same_seed_gives_same_weights(classifier: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        train_base(tmp_path / name, "empathy:prepend", classifier=str(classifier))
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_training_resumes_from_checkpoint(classifier: Path, tmp_path: Path) -> None:
    for steps in (2, 5):
        train_base(tmp_path / "model", "empathy:prepend", classifier=str(classifier), max_train_steps=steps)
    stats = json.loads((tmp_path / "model.trainstats").read_text())
    assert stats["parleys"] == 5


def test_init_model_with_fewer_words_is_extended(classifier: Path, tmp_path: Path) -> None:
    base = train_base(tmp_path / "base")
    path = train_base(
        tmp_path / "model", "empathy:prepend", classifier=str(classifier), init_model=str(base), learningrate=0.0
    )
    old, new = weights(base)["embedding.weight"], weights(path)["embedding.weight"]
    assert len(new) > len(old)
    torch.testing.assert_close(new[: len(old)], old)


def test_init_model_with_another_classifiers_labels_keeps_only_the_texts_words(
    model_file: Path, classifier: Path, tmp_path: Path
) -> None:
    """Both classifiers have words that the texts lack, at the end of the vocabulary."""
    other = train_classifier(tmp_path / "other", task="empathy:daily_dialog:Emotion", num_epochs=1)
    path = train_base(
        tmp_path / "model", "empathy:prepend", classifier=str(other), init_model=str(model_file), learningrate=0.0,
        max_train_steps=1,
    )  # fmt: skip
    texts = len(load(model_file).dict) - len(load(model_file).new_words)
    old, new = weights(model_file)["embedding.weight"], weights(path)["embedding.weight"]
    assert texts < len(new) == len(load(path).dict) != len(old)
    assert torch.equal(new[:texts], old[:texts])
    assert not (new[texts:, None] == old[None, texts:]).all(dim=-1).any()


def test_two_process_training_evaluates_and_stores_the_classifier(classifier: Path, tmp_path: Path) -> None:
    arguments = ("-m", "empathy:prepend", *SAMPLE, *TINY_SIZES, "-bs", "32", "--classifier", classifier, "-mf", "two")
    succeeded(parlai_command("multiprocessing_train", *arguments, "--distributed-world-size", "2", cwd=tmp_path))
    stats = json.loads((tmp_path / "two.trainstats").read_text())
    assert stats["final_valid_report"]["exs"] == 133
    assert (tmp_path / "two.classifier" / "model").is_file()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prepend_k": 0}, "--prepend-k 0: must lie between 1 and the classifier's 32 labels"),
        ({"prepend_k": 33}, "--prepend-k 33: must lie between 1 and the classifier's 32 labels"),
        ({"classifier": ""}, "--classifier is missing: name a trained classifier"),
        ({"n_positions": 102, "prepend_k": 3}, "--text-truncate 100: with --prepend-k 3 a text has up to 103 tokens"),
    ],
)
def test_invalid_options_raise_one_line_error(
    classifier: Path, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(EmpathyError) as caught:
        train_base(tmp_path / "model", "empathy:prepend", **{"classifier": str(classifier), **changes})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_classifier_stays_frozen(model_file: Path, classifier: Path) -> None:
    copy = FrozenClassifier.load(Opt(classifier=f"{model_file}.classifier/model"))
    assert copy.fingerprint == FrozenClassifier.load(Opt(classifier=str(classifier))).fingerprint
