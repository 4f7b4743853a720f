"""The models of the zoo: a recipe for each model of the EmpatheticDialogues paper, its authors' published models, and
judges of empathy.

Numbers are measured on the test fold; P@1,100 and accuracies are in percent. The paper's reply models were pretrained
on 1.7 billion Reddit conversations, which are no longer available. These recipes skip that pretraining, so their
results are lower.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from parlai_empathy.zoo.model import ZooModel

_BOTH_ROLES = "-t empathy:empathetic_dialogues:BothRoles"  # the paper's training set
_LISTENER = "-t empathy:empathetic_dialogues"
_SITUATION = "-t empathy:empathetic_dialogues:SituationEmotion"
_SEED = "--seed 1"

_POOL = (".opt", ".dict", ".pool")
_ENCODER = tuple(f".encoder/{file}" for file in ("config.json", "tokenizer.json", "tokenizer_config.json"))


def _copy(part: str, *more: str) -> tuple[str, ...]:
    """Return the files of a model's copy of another one that it is built on."""
    return tuple(f".{part}/model{ending}" for ending in ("", ".opt", ".dict", *more))


_COPIES = {"prepend": _copy("classifier"), "multitask": (), "ensemble": _copy("base") + _copy("classifier")}

_ACCURACY = "emotion accuracy from the situation"
# What was measured of the prepend, multitask and ensemble models.
_OF_PARTS = {
    "retrieval_emoprepend_1": {"P@1,100": 13.90, "AVG BLEU": 4.90},
    "retrieval_emoprepend_3": {"P@1,100": 16.27, "AVG BLEU": 4.48},
    "retrieval_emoprepend_5": {"P@1,100": 16.54, "AVG BLEU": 5.08},
    "retrieval_topicprepend_1": {"P@1,100": 14.19, "AVG BLEU": 4.73},
    "retrieval_multitask": {"P@1,100": 13.37, "AVG BLEU": 4.64, "emotion accuracy from the context": 31.27},
}
# What the pretrained models were trained on, according to their own cards and papers. MiniLM and MPNet are the
# sentence-transformers of these names, trained on the same 1.17 billion pairs, 0.73 billion of them from Reddit.
_PAIRS = "over a billion pairs of texts, most of them from Reddit"
_BERTS = "books and Wikipedia"
_TWEETS = "tweets"
_NEWSGROUPS = "20 Newsgroups"

_NO_REDDIT = "The paper's model was pretrained on 1.7 billion Reddit conversations; this one is not."
_DEEPMOJI = "It is initialised from the folder of `zoo:empathy/published_deepmoji/pytorch_model.bin`, which must exist."
_WITH_DEEPMOJI = (
    "Its classifier is initialised from DeepMoji's published weights, which were not available to measure it."
)
# From random weights, the paper's retrieval Transformer hardly learns at the paper's learning rate unless it is warmed
# up (docs/results.md).
_RATE = "--lr-scheduler invsqrt --warmup-updates 300"
_BASES = {  # the two reply agents that prepend, multitask and ensemble extend
    "retrieval": ("", "Retrieval Transformer", _POOL, _RATE),
    "generative": ("/generative", "Generative Transformer", (".opt", ".dict"), ""),
}
_PUBLISHED = "https://dl.fbaipublicfiles.com/parlai/empatheticdialogues/models"
_BEGIN = "A file for `--init-model {path}`: it is not a complete ParlAI model, and comes without a dictionary."


def _after(pretraining: str, data: str = ZooModel.data) -> str:
    """Return the training data of a model that starts from, or contains, a model trained on other texts."""
    return f"{pretraining}, and {data}"


def _retrieval() -> Iterator[ZooModel]:
    paper = f"{_BOTH_ROLES} -m empathy:retrieval --preset paper {_SEED}"
    yield ZooModel(
        "retrieval_sample",
        "Small retrieval model trained on the sample dialogues: that of `parlai empathy_demo`",
        # Half of the paper's feed-forward units suffice for 288 short dialogues; the word vectors keep the paper's
        # size. Dropout is higher than elsewhere, since such a small training set is quickly memorised. float32 makes
        # the README's numbers reproducible on processors with and without bfloat16.
        f"{_LISTENER} --edition sample -m empathy:retrieval --ffn-size 600 --dropout 0.3 --precision float32"
        f" --num-epochs 25 {_SEED}",
        _POOL,
        measured={"P@1,100": 11.00, "AVG BLEU": 6.69},
        data="the sample dialogues, which were written for this package",
    )
    yield ZooModel(
        "retrieval_paper",
        "The paper's retrieval Transformer, trained on EmpatheticDialogues alone",
        f"{paper} {_RATE}",
        _POOL,
        {"P@1,100": 56.90, "AVG BLEU": 5.88},
        measured={"P@1,100": 13.81, "AVG BLEU": 3.71},
        remark=_NO_REDDIT,
    )
    yield ZooModel(
        "retrieval_paper_large",
        "The paper's Large retrieval Transformer, with five layers",
        f"{paper} {_RATE} --n-layers 5",
        _POOL,
        {"P@1,100": 60.44},
        remark=_NO_REDDIT,
    )
    yield ZooModel(
        "retrieval_paper_bert",
        "The paper's retrieval BERT: a bi-encoder initialised from bert-base-cased",
        f"{paper} --encoder hf",
        _POOL + _ENCODER,
        {"P@1,100": 65.92},
        remark=_NO_REDDIT,
        data=_after(_BERTS),
    )
    yield ZooModel(
        "retrieval_minilm",
        "Retrieval with MiniLM, a small pretrained sentence encoder",
        f"{_BOTH_ROLES} -m empathy:retrieval --encoder hf --batchsize 256 --learningrate 1e-4 --lr-scheduler linear "
        f"--max-train-steps 505 --warmup-updates 50 --num-epochs 2 {_SEED}",
        _POOL + _ENCODER,
        measured={"P@1,100": 51.98, "AVG BLEU": 5.52},
        data=_after(_PAIRS),
    )
    yield ZooModel(
        "rerank_minilm",
        "Reranker of retrieval_minilm's best replies, which reads each together with its context",
        f"{_BOTH_ROLES} -m empathy:rerank --retriever zoo:empathy/retrieval_minilm/model {_SEED}",
        (".opt", ".dict", *_ENCODER, *_copy("retriever", *_ENCODER)),
        remark="This training has not been run to its end. After shorter runs it was about as good as its retriever: "
        "48.3 % against 48.6 % after 250 steps of 32 replies, and with a weaker retriever 46.3 % against 45.6 % "
        "after 628 (P@1,100 `inline` on the first 2,048 test examples).",
        data=_after(_PAIRS),
    )


def _generative() -> Iterator[ZooModel]:
    paper = f"{_BOTH_ROLES} -m empathy:generative --preset paper {_SEED}"
    yield ZooModel(
        "generative_paper",
        "The paper's generative Transformer, trained on EmpatheticDialogues alone",
        paper,
        paper={"PPL": 21.24, "AVG BLEU": 6.27},
        remark=_NO_REDDIT,
    )
    yield ZooModel(
        "generative_paper_large",
        "The paper's Large generative Transformer, with five and four layers",
        f"{paper} --n-encoder-layers 5 --n-decoder-layers 4",
        paper={"PPL": 16.55, "AVG BLEU": 8.06},
        remark=_NO_REDDIT,
    )


def _classifiers() -> Iterator[ZooModel]:
    yield ZooModel(
        "fasttext_emotion",
        "fastText classifier of a situation's emotion (the paper's classifier for EmoPrepend)",
        f"{_SITUATION} -m empathy:fasttext {_SEED}",
        paper={_ACCURACY: 43.0},
        measured={_ACCURACY: 43.44},
    )
    yield ZooModel(
        "fasttext_topic",
        "fastText classifier of a text's topic, one of 20 newsgroups (the paper's classifier for TopicPrepend)",
        f"-t empathy:newsgroups -m empathy:fasttext {_SEED}",
        measured={"accuracy": 58.02},
        data=_NEWSGROUPS,
    )
    deepmoji = f"{_SITUATION} -m empathy:deepmoji"
    published = f"{deepmoji} --deepmoji-weights data/models/empathy/published_deepmoji --finetuning"
    yield ZooModel(
        "deepmoji_new",
        "Small DeepMoji network, trained from scratch to classify the emotion of a situation",
        # A tenth of DeepMoji's size, which would take hours on a CPU.
        f"{deepmoji} --embedding-size 128 --hidden-size 128 --batchsize 64 --num-epochs 4 {_SEED}",
        measured={_ACCURACY: 41.20},
    )
    yield ZooModel(
        "deepmoji_as_is",
        "DeepMoji as published, with a new last layer that classifies the emotion of a situation",
        f"{published} last {_SEED}",
        remark=_DEEPMOJI,
        data=_after(_TWEETS),
    )
    yield ZooModel(
        "deepmoji_tuned",
        "DeepMoji, fine-tuned layer by layer to classify the emotion of a situation",
        f"{published} chain-thaw {_SEED}",
        paper={_ACCURACY: 48.0},
        remark=_DEEPMOJI,
        data=_after(_TWEETS),
    )
    yield ZooModel(
        "text_classifier_emotion",
        "MiniLM, fine-tuned to classify the emotion of a situation",
        f"{_SITUATION} -m empathy:text_classifier --batchsize 128 --learningrate 2e-4 --lr-scheduler linear "
        f"--max-train-steps 765 --warmup-updates 50 --num-epochs 5 --validation-metric accuracy {_SEED}",
        (".opt", ".dict", *_ENCODER),
        measured={_ACCURACY: 54.12},
        data=_after(_PAIRS),
    )
    yield ZooModel(
        "text_classifier_go_emotions",
        "MiniLM, fine-tuned to classify a comment's emotions, GoEmotions' 28 (for `parlai curate_red --emotion-model`)",
        f"-t empathy:go_emotions -m empathy:text_classifier --num-epochs 3 --max-tokens 64 {_SEED}",
        (".opt", ".dict", *_ENCODER),
        measured={"accuracy": 62.93},
        data=_after(_PAIRS, "GoEmotions, comments from Reddit (CC BY 4.0)"),
    )


def _empathy() -> Iterator[ZooModel]:
    """Yield judges of the empathy and the intent of replies."""
    yield ZooModel(
        "epitome",
        "MiniLM, fine-tuned to judge the empathy of a reply by EPITOME's three mechanisms",
        f"-t empathy:epitome -m empathy:epitome {_SEED}",
        (".opt", ".dict", *_ENCODER),
        measured={"ER accuracy": 76.55, "IP accuracy": 80.46, "EX accuracy": 92.18},
        data=_after(_PAIRS, "EPITOME's Reddit part (for non-commercial research only)"),
    )
    yield ZooModel(
        "epitome_mpnet",
        "MPNet, fine-tuned to judge the empathy of a reply by EPITOME's three mechanisms",
        "-t empathy:epitome -m empathy:epitome --hf-model sentence-transformers/all-mpnet-base-v2 --learningrate 8e-5"
        f" {_SEED}",
        (".opt", ".dict", *_ENCODER),
        measured={"ER accuracy": 80.13, "IP accuracy": 83.39, "EX accuracy": 91.21},
        data=_after(_PAIRS, "EPITOME's Reddit part (for non-commercial research only)"),
    )
    yield ZooModel(
        "text_classifier_intent",
        "MiniLM, fine-tuned to classify the intent of a reply, one of nine",
        "-t empathy:empathetic_intents -m empathy:text_classifier --batchsize 128 --learningrate 1e-4 --lr-scheduler "
        f"linear --max-train-steps 835 --warmup-updates 50 --num-epochs 3 --validation-metric accuracy {_SEED}",
        (".opt", ".dict", *_ENCODER),
        measured={"accuracy": 95.66},
        data=_after(
            _PAIRS, "EmpatheticIntents, utterances from EmpatheticDialogues (CC BY-NC 4.0: non-commercial use only)"
        ),
    )


def _parts(base: str) -> Iterator[ZooModel]:
    """Yield the prepend, multitask and ensemble models of a base agent."""
    suffix, what, companions, rate = _BASES[base]
    emotion, topic = (f"--classifier zoo:empathy/fasttext_{kind}/model --prepend-k" for kind in ("emotion", "topic"))
    ensemble = f"--base-model zoo:empathy/{base}_paper/model --classifier zoo:empathy"
    parts = (
        ("emoprepend_1", "with the most likely emotion prepended to the texts", "prepend", f"{emotion} 1"),
        ("emoprepend_3", "with the three most likely emotions prepended to the texts", "prepend", f"{emotion} 3"),
        ("emoprepend_5", "with the five most likely emotions prepended to the texts", "prepend", f"{emotion} 5"),
        ("topicprepend_1", "with the most likely topic prepended to the texts", "prepend", f"{topic} 1"),
        ("multitask", "trained to classify the emotion as well", "multitask", ""),
        (
            "ensemble_deepmoji",
            "combined with DeepMoji as published",
            "ensemble",
            f"{ensemble}/deepmoji_as_is/model",
        ),
        (
            "ensemble_deepmoji_tuned",
            "combined with fine-tuned DeepMoji",
            "ensemble",
            f"{ensemble}/deepmoji_tuned/model",
        ),
    )
    for name, title, part, options in parts:
        own, remark, data = rate, _NO_REDDIT, ZooModel.data
        if part == "ensemble":  # its base is already trained, and it has its own learning rate
            own, remark, data = "", f"{_NO_REDDIT} {_WITH_DEEPMOJI}", _after(_TWEETS)
        elif name == "topicprepend_1":
            data = _after(_NEWSGROUPS)
        words = f"{_BOTH_ROLES} -m empathy:{part}{suffix} --preset paper {own} {options} {_SEED}".split()
        files = companions + _COPIES[part]
        measured = _OF_PARTS.get(f"{base}_{name}")
        yield ZooModel(
            f"{base}_{name}", f"{what}, {title}", " ".join(words), files, measured=measured, remark=remark, data=data
        )


def _published() -> Iterator[ZooModel]:
    """Yield the files that the paper's authors, and DeepMoji's, published. No checksums of them are published."""
    models: tuple[tuple[str, str, str, dict[str, float]], ...] = (
        (
            "transformer_pretrained",
            "normal_transformer_pretrained",
            "retrieval Transformer, trained on Reddit",
            {"P@1,100": 43.25},
        ),
        (
            "transformer",
            "normal_transformer_finetuned",
            "retrieval Transformer, fine-tuned",
            {"P@1,100": 56.90, "AVG BLEU": 5.88},
        ),
        ("bert_pretrained", "bert_pretrained", "retrieval BERT, trained on Reddit", {}),
        ("bert", "bert_finetuned", "retrieval BERT, fine-tuned", {"P@1,100": 65.92}),
        ("bert_emoprepend_1", "bert_finetuned_emoprepend1", "retrieval BERT, EmoPrepend-1", {"P@1,100": 66.04}),
    )
    for name, file, title, paper in models:
        model = _download(f"published_{name}", f"The authors' own {title}", "model.mdl", f"{_PUBLISHED}/{file}.mdl")
        texts = _after(_BERTS, "Reddit conversations") if name.startswith("bert") else "Reddit conversations"
        data = texts if name.endswith("pretrained") else _after(texts)
        yield replace(model, paper=paper, data=data)
    title = "The authors' own fastText classifier of a situation's emotion"
    url = f"{_PUBLISHED}/fasttext_empathetic_dialogues.mdl"
    yield replace(_download("published_fasttext_emotion", title, "model.bin", url), paper={_ACCURACY: 43.0})
    yield replace(
        _download(
            "published_deepmoji",
            "DeepMoji's own weights, as published by torchMoji",
            "pytorch_model.bin",
            "https://www.dropbox.com/s/q8lax9ary32c7t9/pytorch_model.bin?dl=1",
        ),
        remark="Put `vocabulary.json` from torchMoji's repository beside it, and pass the folder with "
        "`--deepmoji-weights`.",
        data=_TWEETS,
    )


def _download(name: str, title: str, file: str, url: str) -> ZooModel:
    model = ZooModel(name, title, None, (), file=file, url=url)
    return replace(model, remark=_BEGIN.format(path=model.path))


MODELS = {
    model.name: model
    for model in (
        *_retrieval(),
        *_generative(),
        *_classifiers(),
        *_empathy(),
        *_parts("retrieval"),
        *_parts("generative"),
        *_published(),
    )
}
