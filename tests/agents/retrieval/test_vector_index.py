"""Search (whole, in blocks and through the index), against plain Python sums of products and full sorting."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from parlai_empathy.agents.retrieval import vector_index
from parlai_empathy.agents.retrieval.vector_index import VectorIndex, exact_search
from parlai_empathy.errors import MissingDependencyError

small = st.integers(-3, 3)  # integers, so that sums are exact and many scores are equal


@st.composite
def problems(draw: st.DrawFn) -> tuple[Tensor, Tensor, int]:
    dim, n, m = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 12))
    row = st.lists(small, min_size=dim, max_size=dim)
    queries = draw(st.lists(row, min_size=n, max_size=n))
    vectors = draw(st.lists(row, min_size=m, max_size=m))
    return torch.tensor(queries).float(), torch.tensor(vectors).float(), draw(st.integers(1, 14))


@settings(max_examples=150)
@given(problem=problems(), block=st.sampled_from([1, 3, 5, 2**16]))
def test_exact_search_matches_sorting_for_any_block_size(problem: tuple[Tensor, Tensor, int], block: int) -> None:
    queries, vectors, k = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_index, "_BLOCK", block)
        scores, places = exact_search(queries, vectors, k)
    for query, row, found in zip(queries.tolist(), scores.tolist(), places.tolist(), strict=True):
        dots = [sum(a * b for a, b in zip(query, vector, strict=True)) for vector in vectors.tolist()]
        assert row == sorted(dots, reverse=True)[:k]
        assert [dots[place] for place in found] == row
        assert len(set(found)) == len(found)
        # Of equal scores the earlier comes first; which of those tied at the end are included is unspecified.
        assert all(row[i] > row[i + 1] or found[i] < found[i + 1] for i in range(len(row) - 1))


def test_exact_search_returns_equal_vectors_in_order() -> None:
    vectors = torch.ones(300, 2)
    assert exact_search(torch.ones(1, 2), vectors, 300)[1].tolist() == [list(range(300))]


# --- the index -------------------------------------------------------------------------------------------------------


def clustered(number: int, dim: int = 8, seed: int = 0) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    centres = torch.randn(30, dim, generator=draw)
    return centres[torch.randint(30, (number,), generator=draw)] + 0.3 * torch.randn(number, dim, generator=draw)


VECTORS, QUERIES = clustered(3000), clustered(200)


@pytest.fixture(scope="module")
def index() -> VectorIndex:
    pytest.importorskip("faiss")
    return VectorIndex.build(VECTORS, lambda places: VECTORS[places], QUERIES)


def recall(index: VectorIndex, queries: Tensor) -> float:
    best = exact_search(queries, VECTORS, 1)[0]
    return float((index.search(queries, 1)[0] >= best - 1e-5 * best.abs()).double().mean())


def test_index_finds_nearly_all_best_vectors(index: VectorIndex) -> None:
    assert index.recall >= 0.99
    assert recall(index, QUERIES) == index.recall
    assert recall(index, clustered(400, seed=5)) >= 0.97  # different queries than those it was built with


def test_index_results_have_exact_scores_in_descending_order(index: VectorIndex) -> None:
    scores, places = index.search(QUERIES, 20)
    assert scores.shape == places.shape == (200, 20)
    torch.testing.assert_close(scores, (QUERIES @ VECTORS.T).gather(1, places))
    assert (scores[:, :-1] >= scores[:, 1:]).all()
    assert all(len(set(row)) == 20 for row in places.tolist())


def test_index_searching_all_lists_matches_exact_search(index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then only the quantisation could cause errors, and all vectors are scored again."""
    monkeypatch.setattr(index, "shortlist", len(VECTORS))
    monkeypatch.setattr(index._index, "nprobe", index._index.nlist)
    for found, expected in zip(index.search(QUERIES, 50), exact_search(QUERIES, VECTORS, 50), strict=True):
        torch.testing.assert_close(found, expected)


def test_missing_results_are_padded(index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index._index, "nprobe", 1)
    scores, places = index.search(QUERIES[:3], len(VECTORS))
    assert ((places >= 0) == scores.isfinite()).all()
    assert (places[:, -1] == -1).all()
    assert (places[:, 0] >= 0).all()


def test_near_duplicates_enlarge_the_shortlist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four-bit codes cannot distinguish them: as many must be scored again as there are copies."""
    pytest.importorskip("faiss")
    monkeypatch.setattr(vector_index, "_SHORTLIST", 10)
    draw = torch.Generator().manual_seed(1)
    texts = torch.randn(20, 16, generator=draw)
    vectors = texts.repeat(150, 1) + 0.001 * torch.randn(3000, 16, generator=draw)
    queries = texts.repeat(10, 1) + 0.1 * torch.randn(200, 16, generator=draw)
    index = VectorIndex.build(vectors, lambda places: vectors[places], queries)
    assert index.recall >= 0.99
    assert 80 <= index.shortlist < 3000
    best = exact_search(queries, vectors, 1)[0]
    assert ((index.search(queries, 1)[0] >= best - 1e-5 * best.abs()).double().mean()) == index.recall


def test_queries_far_from_centroids_probe_more_lists() -> None:
    """Their best matches are far from the centroids most similar to them."""
    pytest.importorskip("faiss")
    draw = torch.Generator().manual_seed(2)
    vectors = clustered(3000, dim=16) * (0.1 + torch.rand(3000, 1, generator=draw) * 3)
    queries = torch.randn(200, 16, generator=draw)
    index = VectorIndex.build(vectors, lambda places: vectors[places], queries)
    assert index.recall >= 0.99
    assert index._index.nprobe > 16


def test_unreachable_recall_stops_the_build_and_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """If only one vector is scored again, searching more lists does not help, so the build does not try."""
    pytest.importorskip("faiss")
    monkeypatch.setattr(vector_index, "_SHORTLIST", 1)
    monkeypatch.setattr(vector_index, "_LONGEST", 1)
    draw = torch.Generator().manual_seed(3)
    vectors = torch.ones(3000, 16) + 0.001 * torch.randn(3000, 16, generator=draw)
    index = VectorIndex.build(vectors, lambda places: vectors[places], torch.randn(100, 16, generator=draw))
    assert index.recall < 0.9
    assert index._index.nprobe < index._index.nlist


def test_odd_number_of_dimensions_can_be_indexed() -> None:
    pytest.importorskip("faiss")
    vectors = clustered(1000, dim=7)
    index = VectorIndex.build(vectors, lambda places: vectors[places], clustered(50, dim=7))
    assert index.search(vectors[:5], 1)[0].shape == (5, 1)


# --- the file --------------------------------------------------------------------------------------------------------


def test_saved_and_loaded_index_gives_same_results(index: VectorIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "pool.index", "f00d")
    assert [path.name for path in tmp_path.iterdir()] == ["pool.index"]
    loaded = VectorIndex.load(tmp_path / "pool.index", "f00d", lambda places: VECTORS[places])
    assert loaded is not None
    assert (loaded.recall, loaded.shortlist) == (index.recall, index.shortlist)
    for found, expected in zip(loaded.search(QUERIES, 10), index.search(QUERIES, 10), strict=True):
        assert torch.equal(found, expected)


def test_index_of_other_vectors_is_not_loaded(index: VectorIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "pool.index", "f00d")
    assert VectorIndex.load(tmp_path / "pool.index", "beef", lambda places: VECTORS[places]) is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_truncated_index_is_not_loaded(index: VectorIndex, tmp_path: Path, share: float) -> None:
    path = tmp_path / "pool.index"
    index.save(path, "f00d")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert VectorIndex.load(path, "f00d", lambda places: VECTORS[places]) is None


def test_index_of_earlier_version_is_not_loaded(index: VectorIndex, tmp_path: Path) -> None:
    """It does not contain the shortlist size."""
    path = tmp_path / "pool.index"
    index.save(path, "f00d")
    whole, _, about = path.read_bytes().rpartition(b"\n")
    earlier = {key: value for key, value in json.loads(about).items() if key != "shortlist"}
    path.write_bytes(whole + b"\n" + json.dumps(earlier).encode())
    assert VectorIndex.load(path, "f00d", lambda places: VECTORS[places]) is None


def test_invalid_or_missing_index_file_is_not_loaded(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    (tmp_path / "pool.index").write_bytes(b'no index\n{"fingerprint": "f00d", "recall": 1.0}')
    assert VectorIndex.load(tmp_path / "pool.index", "f00d", lambda places: VECTORS[places]) is None
    assert VectorIndex.load(tmp_path / "none.index", "f00d", lambda places: VECTORS[places]) is None


def test_missing_faiss_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingDependencyError, match=r"parlai-empathy\[index\]"):
        VectorIndex.build(VECTORS, lambda places: VECTORS[places], QUERIES)
