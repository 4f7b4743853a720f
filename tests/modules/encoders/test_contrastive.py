"""The contrastive loss of one batch by hand, and of two processes' batches against one process with both."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor

from parlai_empathy.modules.encoders.contrastive import contrastive_losses, gather


def test_loss_matches_hand_calculation() -> None:
    # Scores: [[1, 0], [0, 2]]. Rows: log(e + 1) - 1 and log(1 + e^2) - 2. The matrix is symmetric: columns are equal.
    contexts, replies = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    expected = [math.log(math.e + 1) - 1, math.log(1 + math.e**2) - 2]
    for symmetric in (False, True):
        losses, scores, true = contrastive_losses(contexts, replies, symmetric=symmetric)
        assert losses.tolist() == pytest.approx(expected)
        assert scores.tolist() == [[1, 0], [0, 2]]
        assert true.tolist() == [0, 1]


def test_symmetric_loss_averages_rows_and_columns() -> None:
    # Scores: [[1, 3], [0, 1]]. Rows: log(e + e^3) - 1, log(1 + e) - 1. Columns: log(e + 1) - 1, log(e^3 + e) - 1.
    contexts, replies = torch.tensor([[1.0, 3.0], [0.0, 1.0]]), torch.eye(2)
    high, low = math.log(math.e + math.e**3) - 1, math.log(1 + math.e) - 1
    assert contrastive_losses(contexts, replies)[0].tolist() == pytest.approx([high, low])
    both = contrastive_losses(contexts, replies, symmetric=True)[0]
    assert both.tolist() == pytest.approx([(high + low) / 2, (low + high) / 2])


def test_hard_negatives_count_for_contexts_but_not_for_replies() -> None:
    contexts, replies, negatives = torch.eye(2), torch.eye(2), torch.tensor([[5.0, 5.0]])
    # Each row: log(e + 1 + e^5) - 1. Columns contain the true replies only: log(e + 1) - 1.
    hard, easy = math.log(math.e + 1 + math.e**5) - 1, math.log(math.e + 1) - 1
    losses, scores, _ = contrastive_losses(contexts, replies, negatives)
    assert losses.tolist() == pytest.approx([hard, hard])
    assert scores.shape == (2, 3)
    assert contrastive_losses(contexts, replies, negatives, True)[0].tolist() == pytest.approx([(hard + easy) / 2] * 2)


@pytest.mark.parametrize("symmetric", [False, True])
def test_gradients_match_their_formulas(symmetric: bool) -> None:
    """The gradient of a cross-entropy with respect to its scores is the softmax, less 1 at the true reply."""
    draw = torch.Generator().manual_seed(5)
    sides = [torch.randn(n, 4, generator=draw, requires_grad=True) for n in (3, 3, 2)]
    contexts, replies, negatives = (side.detach() for side in sides)
    contrastive_losses(*sides, symmetric)[0].sum().backward()
    candidates = torch.cat([replies, negatives])
    of_scores = (contexts @ candidates.T).softmax(dim=1) - torch.eye(3, 5)
    of_contexts, of_candidates = of_scores @ candidates, of_scores.T @ contexts
    if symmetric:
        of_columns = (replies @ contexts.T).softmax(dim=1) - torch.eye(3)
        of_candidates[:3] += of_columns @ contexts
        of_contexts, of_candidates = (of_contexts + of_columns.T @ replies) / 2, of_candidates / 2
    for side, expected in zip(sides, (of_contexts, of_candidates[:3], of_candidates[3:]), strict=True):
        torch.testing.assert_close(side.grad, expected)


def test_gather_in_single_process_returns_its_input() -> None:
    rows = torch.randn(3, 2)
    everyones, first = gather(rows)
    assert everyones is rows
    assert first == 0


# --- two processes ---------------------------------------------------------------------------------------------------

SIZES = (3, 2)  # the last batch of one process may be shorter


def data() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return both processes' contexts, replies and hard negatives, and the weights that encode them."""
    draw = torch.Generator().manual_seed(5)
    contexts, replies, negatives = (torch.randn(n, 4, generator=draw) for n in (5, 5, 5))
    return contexts, replies, negatives, torch.randn(4, 3, generator=draw)


def gradient(rank: int, size: int) -> tuple[Tensor, Tensor]:
    """Return the losses of one process, and the gradient of their sum with respect to the weights."""
    contexts, replies, negatives, weights = data()
    rows = slice(sum(SIZES[:rank]), sum(SIZES[:rank]) + SIZES[rank]) if size > 1 else slice(None)
    weights.requires_grad_()
    vectors = [part[rows] @ weights for part in (contexts, replies, negatives)]
    losses, _, _ = contrastive_losses(*vectors, symmetric=True)
    losses.sum().backward()
    assert weights.grad is not None
    return losses.detach(), weights.grad


def work(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    torch.save(gradient(rank, 2), f"{folder}/{rank}.pt")
    dist.destroy_process_group()


def test_two_processes_match_one_process_with_combined_batch(tmp_path: Path) -> None:
    mp.spawn(work, args=(str(tmp_path),), nprocs=2)
    parts = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    losses, whole = gradient(0, 1)
    torch.testing.assert_close(torch.cat([part[0] for part in parts]), losses)
    torch.testing.assert_close(parts[0][1] + parts[1][1], whole)
