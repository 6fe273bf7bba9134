"""The structures against all scores at once."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from samekind.errors import SettingError
from samekind.index import structure as structures
from samekind.index.structure_sizes import STRUCTURES

SCORES = ("cosine", "dot", "euclidean")


@pytest.fixture(scope="module")
def random():
    draw = torch.Generator().manual_seed(0)
    return torch.randn(10, 6, generator=draw), 3 * torch.randn(700, 6, generator=draw)


def structure_of(name, score, vectors, seed=0):
    structure = structures.build(name, 6, score, count=len(vectors), sample=vectors, seed=seed)
    for start in range(0, len(vectors), 300):
        structure.add(vectors[start : start + 300])
    return structure


def by_hand(score, queries, vectors, k):
    if score == "cosine":
        queries, vectors = F.normalize(queries, dim=1), F.normalize(vectors, dim=1)
    scores = -torch.cdist(queries, vectors) if score == "euclidean" else queries @ vectors.T
    return scores.topk(k).indices


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_finds_the_nearest(random, name, score):
    queries, vectors = random
    structure = structure_of(name, score, vectors)
    assert (len(structure), structure.name) == (700, name)
    labels = structure.nearest(queries, 50, effort=700, alive=None)
    best = by_hand(score, queries, vectors, 5)
    assert labels.shape == (10, 50)
    if name == "pq":  # what it loses, it loses in the order
        hits = (best[:, :, None] == labels[:, None, :]).any(2)
        assert hits.float().mean() > 0.95
    else:
        assert torch.equal(labels[:, :5], best)


@pytest.mark.parametrize("name", STRUCTURES)
def test_passes_over_removed_vectors(random, name):
    queries, vectors = random
    alive = torch.ones(700, dtype=torch.bool)
    alive[by_hand("dot", queries, vectors, 8).flatten()] = False
    labels = structure_of(name, "dot", vectors).nearest(queries, 20, effort=700, alive=alive)
    assert alive[labels].all()
    left = alive.nonzero().flatten()
    if name != "pq":
        assert torch.equal(labels[:, :5], left[by_hand("dot", queries, vectors[left], 5)])


@pytest.mark.parametrize("name", STRUCTURES)
def test_fills_up_with_minus_one(random, name):
    queries, vectors = random
    labels = structure_of(name, "dot", vectors).nearest(queries, 701, effort=700, alive=None)
    assert (labels[:, -1] == -1).all()


@pytest.mark.parametrize("name", ["hnsw", "ivf", "pq"])
def test_more_effort_looks_further(random, name):
    queries, vectors = random
    structure = structure_of(name, "dot", vectors)
    best = by_hand("dot", queries, vectors, 1)[:, 0]
    hits = [
        int((structure.nearest(queries, 1, effort=effort, alive=None)[:, 0] == best).sum())
        for effort in (1, 700)
    ]
    assert hits[0] <= hits[1]
    if name == "ivf":
        assert hits[0] < hits[1] == len(queries)


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(SettingError, match='install "faiss-cpu", or use Exact'):
        structures.package()


def test_works_after_another_library_patched_faiss():
    """In a process of its own, because it cannot be undone."""
    code = """
import faiss.contrib.torch_utils, torch
from samekind.index import Faiss

index = Faiss(4, structure="hnsw")
torch.manual_seed(0)
z = torch.randn(300, 4)
index.add([str(place) for place in range(300)], z)
index.build()
assert [row[0] for row in index.search(z[:5], 1).ids] == list("01234")
print("found")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "found", ran.stderr[-1000:]
