"""The metrics of generated replies, and the signature of the generation."""

from __future__ import annotations

import pytest

from parlai_empathy.agents.generative.reply_metrics import decoding_name, reply_metrics
from parlai_empathy.metrics.avg_bleu import avg_bleu, bleu_statistics
from parlai_empathy.metrics.distinct import distinct


def test_reply_metrics_match_the_metric_functions() -> None:
    replies, references = [["a", "b", "a"], ["a", "b"]], [["a", "b"], ["a", "c"]]
    metrics = reply_metrics(replies, references, tokens="re", case="lower", decoding="greedy", split="test")
    totals = {name: sum(values[1:], values[0]) for name, values in metrics.items()}
    statistics = bleu_statistics(replies[0], references[0]) + bleu_statistics(replies[1], references[1])
    assert totals["avg_bleu"].value() == pytest.approx(avg_bleu(statistics))
    assert totals["dist_1"].value() == pytest.approx(distinct(replies, 1))
    assert totals["dist_2"].value() == pytest.approx(distinct(replies, 2))
    assert {len(values) for values in metrics.values()} == {2}, "one for each reply, as ParlAI wants it"
    for total in totals.values():
        assert all(f"|{part}|" in total.signature for part in ("tokens:re", "decoding:greedy", "n:2", "split:test"))
    assert "|case:lower|" in totals["avg_bleu"].signature


OPTIONS = {
    "beam_size": 5,
    "beam_groups": 5,
    "diversity_strength": 0.5,
    "beam_length_penalty": 0.65,
    "beam_min_length": 1,
    "beam_block_ngram": -1,
    "beam_context_block_ngram": -1,
    "topk": 10,
    "topp": 0.9,
    "temperature": 0.7,
    "beam_delay": 30,
    "lambda_decay": 0.9,
    "omega_bound": 0.3,
    "label_truncate": 100,
    "batchsize": 16,
}


@pytest.mark.parametrize(
    ("inference", "name"),
    [
        ("greedy", "greedy,min_length=1,max_length=100"),
        ("beam", "beam,size=5,length_penalty=0.65,temperature=0.7,min_length=1,max_length=100"),
        (
            "diversebeam",
            "diversebeam,size=5,groups=5,diversity_strength=0.5,length_penalty=0.65,temperature=0.7,min_length=1,"
            "max_length=100",
        ),
        (
            "nucleus",
            "nucleus,topp=0.9,temperature=0.7,size=5,length_penalty=0.65,min_length=1,max_length=100,batchsize=16",
        ),
        ("topk", "topk,topk=10,temperature=0.7,size=5,length_penalty=0.65,min_length=1,max_length=100,batchsize=16"),
        (
            "delayedbeam",
            "delayedbeam,topk=10,delay=30,temperature=0.7,size=5,length_penalty=0.65,min_length=1,max_length=100,"
            "batchsize=16",
        ),
        (
            "delayednucleusbeam",
            "delayednucleusbeam,topp=0.9,delay=30,temperature=0.7,size=5,length_penalty=0.65,min_length=1,"
            "max_length=100,batchsize=16",
        ),
    ],
)
def test_decoding_name_lists_the_settings_of_each_search(inference: str, name: str) -> None:
    assert decoding_name({**OPTIONS, "inference": inference}) == name
    assert decoding_name({**OPTIONS, "inference": inference}, bfloat16=True) == f"{name},bfloat16"


def test_decoding_name_has_the_batch_size_of_the_evaluation() -> None:
    drawn = {**OPTIONS, "inference": "topk", "eval_batchsize": 5}
    assert decoding_name({**drawn, "datatype": "train"}).endswith(",batchsize=5")
    assert decoding_name({**drawn, "datatype": "test"}).endswith(",batchsize=16")


def test_decoding_name_of_a_single_draw_has_no_length_penalty() -> None:
    single = decoding_name({**OPTIONS, "inference": "nucleus", "beam_size": 1})
    assert single == "nucleus,topp=0.9,temperature=0.7,size=1,min_length=1,max_length=100,batchsize=16"


def test_decoding_name_hashes_blocked_phrases_in_any_order() -> None:
    def named(*phrases: str) -> str:
        return decoding_name({**OPTIONS, "inference": "greedy"}, blocked=set(phrases))

    # sha256 of the sorted phrases, one per line, as from `printf 'oh\nwow' | sha256sum`
    assert named("wow", "oh") == named("oh", "wow") == "greedy,min_length=1,max_length=100,block_list=d56bf152"
    assert named() == "greedy,min_length=1,max_length=100"
    assert named("oh") not in (named("oh", "wow"), named())


def test_decoding_name_includes_ngram_blocking() -> None:
    greedy = {**OPTIONS, "inference": "greedy"}
    assert decoding_name({**greedy, "beam_block_ngram": 3}) == "greedy,min_length=1,max_length=100,block_ngram=3"
    both = {**greedy, "beam_block_ngram": 1, "beam_context_block_ngram": 1}
    assert decoding_name(both) == "greedy,min_length=1,max_length=100,block_ngram=1,context_block_ngram=1"
    assert decoding_name({**both, "beam_block_ngram": 0}) == "greedy,min_length=1,max_length=100,context_block_ngram=1"
