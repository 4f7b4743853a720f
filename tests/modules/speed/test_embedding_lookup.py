"""Embedding lookups of several texts at once: equal vectors and gradients, and only one vocabulary-sized gradient."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from parlai_empathy.modules.speed.embedding_lookup import looked_up_together

SHAPES = ((2, 3), (1, 5), (4, 2))


def embedding() -> nn.Embedding:
    torch.manual_seed(3)
    return nn.Embedding(20, 4, padding_idx=0)


def parts() -> list[Tensor]:
    torch.manual_seed(5)
    return [torch.randint(0, 20, shape) for shape in SHAPES]


def learnt(words: nn.Embedding, texts: Sequence[Tensor]) -> Tensor:
    """Return the gradient of a loss in which each element of each text has a different weight."""
    found = [words(text) for text in texts]
    loss = sum((vectors * torch.arange(float(vectors.numel())).view_as(vectors)).sum() for vectors in found)
    assert torch.is_tensor(loss)
    loss.backward()
    assert words.weight.grad is not None
    return words.weight.grad


def look_ups(vectors: Sequence[Tensor]) -> int:
    """Return how many embedding lookups the vectors come from."""
    waiting, seen = [one.grad_fn for one in vectors], set()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [before for before, _ in node.next_functions]
    return sum("Embedding" in node.name() for node in seen)


def test_vectors_and_gradients_match_separate_lookups() -> None:
    apart, together, texts = embedding(), embedding(), parts()
    with looked_up_together(together, texts):
        assert all(torch.equal(together(text), apart(text)) for text in texts)
    expected = learnt(apart, texts)
    with looked_up_together(together, texts):
        found = learnt(together, texts)
    torch.testing.assert_close(found, expected)
    assert found[0].eq(0).all()  # padding gets no gradient


def test_combined_lookup_adds_one_embedding_node_to_the_graph() -> None:
    words, texts = embedding(), parts()
    assert look_ups([words(text) for text in texts]) == len(texts)
    with looked_up_together(words, texts):
        assert look_ups([words(text) for text in texts]) == 1
    assert look_ups([words(text) for text in texts]) == len(texts)  # restored after the context manager


@pytest.mark.parametrize("kind", ["one part", "nothing learnt", "frozen"])
def test_lookups_are_not_combined_without_gradients_or_for_one_part(kind: str) -> None:
    words, texts = embedding().requires_grad_(kind != "frozen"), parts()[: 1 if kind == "one part" else None]
    asked: list[Tensor] = []
    words.register_forward_pre_hook(lambda _, inputs: asked.append(inputs[0]))
    with torch.set_grad_enabled(kind != "nothing learnt"), looked_up_together(words, texts):
        for text in texts:
            words(text)
    assert [one.shape for one in asked] == [text.shape for text in texts]


def test_unregistered_inputs_are_looked_up_separately() -> None:
    """An encoder may pad a text or look up single words in between."""
    apart, words, texts = embedding(), embedding(), parts()
    filled = nn.functional.pad(texts[1], (0, 3))
    with looked_up_together(words, texts):
        for text in (texts[0], torch.tensor([7]), filled, texts[1], texts[2], texts[2]):
            assert torch.equal(words(text), apart(text))
        assert look_ups([words(text) for text in (texts[1], filled)]) == 2


def test_other_ids_of_the_same_shape_are_looked_up_separately() -> None:
    apart, words, texts = embedding(), embedding(), parts()
    other = (texts[0] + 1) % 20
    with looked_up_together(words, texts):
        assert torch.equal(words(other), apart(other))
        assert torch.equal(words(texts[0]), apart(texts[0]))


def test_part_that_was_not_looked_up_is_looked_up_anew_afterwards() -> None:
    words, texts = embedding(), parts()
    with looked_up_together(words, texts):
        pass
    with torch.no_grad():
        words.weight.add_(1)
    assert torch.equal(words(texts[0]), words.weight[texts[0]])
