"""Token ids of context and reply: which tokens are kept, and their segments and lengths."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_judge import write_bert
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from parlai_empathy.modules.encoders.pair_tokens import pair_tokens, twin_tokens


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a tokenizer that splits words into characters."""
    return AutoTokenizer.from_pretrained(write_bert(tmp_path_factory.mktemp("tokenizer") / "bert"))


def roberta() -> Any:
    """Return a tokenizer like RoBERTa's: tokens are bytes, and a pair gets four special tokens."""
    letters = ["<s>", "<pad>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    special = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def test_lone_surrogates_become_question_marks(bert: Any) -> None:
    """Broken terminal input contains lone surrogates, which the tokenizers library rejects."""
    for found, expected in zip(
        pair_tokens(bert, ["a \ud83d"], ["\udcff b"], 64), pair_tokens(bert, ["a ?"], ["? b"], 64), strict=True
    ):
        assert torch.equal(found, expected)


def read(tokenizer: Any, context: str, reply: str, longest: int = 64) -> tuple[list[str], list[int]]:
    """Return tokens and segments of one pair."""
    tokens, segments, lengths = pair_tokens(tokenizer, [context], [reply], longest)
    assert lengths.tolist() == [tokens.size(1)], "of one text nothing is padding"
    return tokenizer.convert_ids_to_tokens(tokens[0].tolist()), segments[0].tolist()


def test_pair_matches_the_tokenizers_own_pair_encoding(bert: Any) -> None:
    for tokenizer in (bert, roberta()):
        tokens, segments, _ = pair_tokens(tokenizer, ["how do you do"], ["well"], 64)
        expected = tokenizer("how do you do", "well", return_token_type_ids=True)
        assert tokens[0].tolist() == expected["input_ids"]
        if tokenizer is bert:  # RoBERTa has no segments
            assert segments[0].tolist() == expected["token_type_ids"]


def test_empty_context_gives_single_text_encoding(bert: Any) -> None:
    assert read(bert, "", "hi") == (["[CLS]", "h", "##i", "[SEP]"], [0] * 4)


def test_segments_distinguish_context_and_reply(bert: Any) -> None:
    tokens, segments = read(bert, "ab", "cde")
    assert tokens == ["[CLS]", "a", "##b", "[SEP]", "c", "##d", "##e", "[SEP]"]
    assert segments == [0, 0, 0, 0, 1, 1, 1, 1]


def test_separator_in_context_is_one_token(bert: Any) -> None:
    assert read(bert, "a [SEP] b", "c")[0] == ["[CLS]", "a", "[SEP]", "b", "[SEP]", "c", "[SEP]"]


def test_long_context_is_truncated_at_the_start(bert: Any) -> None:
    # 10 tokens, 3 of them special: 7 remain, 3 for the reply and 4 for the context.
    assert "".join(read(bert, "a b c d e f g", "x y z", 10)[0]) == "[CLS]defg[SEP]xyz[SEP]"


def test_long_reply_is_truncated_at_the_end_using_space_left_by_context(bert: Any) -> None:
    # Of 7 tokens the reply is guaranteed half, 3; it gets 5 if the context has only two.
    assert "".join(read(bert, "a b c d e f g", "t u v w x y z", 10)[0]) == "[CLS]defg[SEP]tuv[SEP]"
    assert "".join(read(bert, "a b", "t u v w x y z", 10)[0]) == "[CLS]ab[SEP]tuvwx[SEP]"


def test_long_reply_without_context_is_truncated_at_the_end(bert: Any) -> None:
    assert "".join(read(bert, "", "a b c d e f g h i j", 8)[0]) == "[CLS]abcdef[SEP]"


def test_truncation_counts_tokens_not_characters() -> None:
    """An emoji is one character but four bytes, each of them a token."""
    tokens, _ = read(roberta(), "\U0001f600" * 9, "\U0001f622" * 6, 16)
    assert len(tokens) == 16  # 4 special tokens, 6 of the context, 6 of the reply
    assert tokens[0] == "<s>"
    assert [place for place, token in enumerate(tokens) if token == "</s>"] == [7, 8, 15]


def test_much_longer_texts_are_cut_in_the_same_way(bert: Any) -> None:
    """The tokenizer's own truncation would join each part cut off from one with each of the other: gigabytes here."""
    assert read(bert, "a b " * 3_000, "c d " * 3_000) == read(bert, "a b " * 20, "c d " * 20)


def test_empty_replies_are_encoded(bert: Any) -> None:
    assert read(bert, "", "")[0] == ["[CLS]", "[SEP]"]
    assert read(bert, "a", "")[0] == ["[CLS]", "a", "[SEP]"]
    assert read(bert, "abcdefgh", "", 8)[0] == ["[CLS]", "##c", "##d", "##e", "##f", "##g", "##h", "[SEP]"]


def test_twin_tokens_encode_each_distinct_text_once(bert: Any) -> None:
    tokens, segments, lengths, contexts, replies = twin_tokens(bert, ["ab", "", "ab"], ["c", "c", "ab"], 64)
    assert lengths.tolist() == [4, 3, 4]  # the context ab, the replies c and ab
    assert tokens[1].tolist() == [*bert("c")["input_ids"], bert.pad_token_id]
    assert tokens[0].tolist() == tokens[2].tolist() == bert("ab")["input_ids"]
    assert segments.sum() == 0
    assert contexts.tolist() == [0, -1, 0]
    assert replies.tolist() == [1, 1, 2]


def test_twin_tokens_truncate_context_at_start_and_reply_at_end(bert: Any) -> None:
    tokens, *_ = twin_tokens(bert, ["abcdefgh"], ["abcdefgh"], 5)
    assert bert.convert_ids_to_tokens(tokens[0].tolist()) == ["[CLS]", "##f", "##g", "##h", "[SEP]"]
    assert bert.convert_ids_to_tokens(tokens[1].tolist()) == ["[CLS]", "a", "##b", "##c", "[SEP]"]


def test_empty_text_gets_one_token_without_special_tokens() -> None:
    tokenizer = roberta()
    tokenizer.backend_tokenizer.post_processor = processors.ByteLevel()
    tokens, segments, lengths = pair_tokens(tokenizer, ["", ""], ["", "ab"], 16)
    assert lengths.tolist() == [1, 2]
    assert tokens[0].tolist() == [tokenizer.pad_token_id] * 2
    assert segments.tolist() == [[0, 0], [0, 0]]


def test_batch_is_padded_on_the_right(bert: Any) -> None:
    tokens, segments, lengths = pair_tokens(bert, ["", "ab"], ["c", "d"], 64)
    assert tokens.shape == segments.shape == (2, 6)
    assert lengths.tolist() == [3, 6]
    assert tokens[0, 3:].tolist() == [bert.pad_token_id] * 3
    assert tokens.dtype == torch.long


def test_tokenizer_truncation_and_padding_settings_are_ignored(bert: Any) -> None:
    """Some tokenizers, such as the default encoder's, come with truncation and padding settings."""
    bert.backend_tokenizer.enable_truncation(4)
    bert.backend_tokenizer.enable_padding(length=30)
    assert read(bert, "ab", "cde")[0] == ["[CLS]", "a", "##b", "[SEP]", "c", "##d", "##e", "[SEP]"]


TEXTS = st.text(alphabet="ab \U0001f600é", max_size=40)


@given(TEXTS, TEXTS, st.integers(8, 24))
def test_truncation_keeps_as_many_tokens_as_allowed(context: str, reply: str, longest: int) -> None:
    tokenizer = roberta()
    tokens, _ = read(tokenizer, context, reply, longest)
    whole = len(context.encode()) + len(reply.encode()) + (4 if context and reply else 2)
    assert len(tokens) == min(whole, longest)
