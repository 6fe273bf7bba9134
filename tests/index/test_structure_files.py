"""Structures as plain arrays: the same after reading, and refused if any number is not what it may be."""

import subprocess
import sys

import pytest
import torch

from samekind.index import structure as structures
from samekind.index.structure_files import from_arrays, to_arrays

SCORES = ("cosine", "dot", "euclidean")
STRUCTURES = ("hnsw", "ivf", "pq")


@pytest.fixture(scope="module")
def random():
    draw = torch.Generator().manual_seed(0)
    return torch.randn(10, 6, generator=draw), 3 * torch.randn(700, 6, generator=draw)


def built(name, score, vectors, seed=0):
    structure = structures.build(name, 6, score, count=len(vectors), sample=vectors, seed=seed)
    structure.add(vectors)
    return structure


def again(arrays, name, score, vectors):
    return from_arrays(arrays, name, 6, score, built_for=5, count=len(vectors), at=lambda rows: vectors[rows])


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_is_the_same_after_reading_and_can_be_added_to(random, name, score, monkeypatch):
    monkeypatch.setattr("samekind.index.structure_files.CHUNK", 250)
    queries, vectors = random
    one = built(name, score, vectors[:600])
    other, rows = again(to_arrays(one, torch.arange(600)), name, score, vectors[:600])
    assert (len(other), other.lists, other.built_for) == (600, one.lists, 5)
    assert torch.equal(rows, torch.arange(600))
    for effort in (3, 700):
        answers = [structure.nearest(queries, 9, effort=effort, alive=None) for structure in (one, other)]
        assert torch.equal(*answers)
    for structure in (one, other):
        structure.add(vectors[600:])
    assert torch.equal(*(structure.nearest(queries, 9, effort=700, alive=None) for structure in (one, other)))


@pytest.mark.parametrize("name", STRUCTURES)
def test_removed_vectors_lead_on_in_a_graph_and_are_left_out_of_lists(random, name):
    queries, vectors = random
    one, gone = built(name, "euclidean", vectors), torch.arange(700) % 7 == 3
    moved = torch.where(gone, -1, (~gone).cumsum(0) - 1)  # rows of the store once its gaps are closed
    arrays = to_arrays(one, moved)
    assert len(arrays["rows"]) == (700 if name == "hnsw" else 600)
    other, rows = again(arrays, name, "euclidean", vectors[~gone])
    alive = rows >= 0
    want = one.nearest(queries, 9, effort=700, alive=~gone)
    have = other.nearest(queries, 9, effort=700, alive=None if alive.all() else alive)
    assert torch.equal(rows[have], moved[want])


@pytest.mark.parametrize("name", ["ivf", "pq"])
def test_the_same_seed_gives_the_same_lists(random, name):
    first, second, third = (
        to_arrays(built(name, "euclidean", random[1], seed=seed), torch.arange(700)) for seed in (1, 1, 2)
    )
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["centres"], third["centres"])


def test_the_vectors_of_a_graph_and_of_lists_are_not_written_again(random):
    for name in ("hnsw", "ivf"):
        arrays = to_arrays(built(name, "dot", random[1]), torch.arange(700))
        floats = sum(array.numel() for array in arrays.values() if array.dtype == torch.float32)
        assert floats < 700


def test_every_changed_number_is_refused_or_harmless(random):
    """Any array cut, of another type, or with one number changed: ValueError, or a structure that answers."""
    queries, vectors = random
    draw = torch.Generator().manual_seed(1)
    for chosen in STRUCTURES:
        arrays = to_arrays(built(chosen, "dot", vectors), torch.arange(700))
        for name, array in arrays.items():
            if not array.numel():
                continue
            for broken in (array[:-1], array[None], array.double(), array[:0]):
                with pytest.raises(ValueError, match=r"\w"):
                    again(arrays | {name: broken}, chosen, "dot", vectors)
            with pytest.raises(ValueError, match=f'there is no array "{name}"'):
                again({other: arrays[other] for other in arrays if other != name}, chosen, "dot", vectors)
            for value in (-2, -1, 0, 1, 5, 699, 700, 2**31 - 1):
                changed = array.clone()
                place = torch.randint(array.numel(), (3,), generator=draw)
                changed.view(-1)[place] = torch.tensor(value).to(array.dtype)
                try:
                    structure, _ = again(arrays | {name: changed}, chosen, "dot", vectors)
                except ValueError:
                    continue
                labels = structure.nearest(queries, 9, effort=700, alive=None)
                assert ((labels >= -1) & (labels < 700)).all()
                structure.add(vectors[:9])


def test_a_neighbour_above_its_own_floors_is_refused(random):
    """FAISS would read behind the end of the neighbours."""
    arrays = to_arrays(built("hnsw", "dot", random[1]), torch.arange(700))
    levels, neighbours = arrays["levels"], arrays["neighbours"].clone()
    high, low = int(levels.argmax()), int(levels.argmin())
    width = torch.tensor([0, 48, 72, 96, 120, 144])
    neighbours[int(width[levels[:high].long()].sum()) + 48] = low
    with pytest.raises(ValueError, match="not on the level"):
        again(arrays | {"neighbours": neighbours}, "hnsw", "dot", random[1])


def test_another_package_may_have_faiss_give_tensors():
    """faiss.contrib.torch_utils, which pytorch-metric-learning imports, changes what FAISS returns."""
    program = f"""
import torch, faiss.contrib.torch_utils
from samekind.index import structure as structures
from samekind.index.structure_files import to_arrays
vectors = torch.randn(300, 6, generator=torch.Generator().manual_seed(0))
for name in {STRUCTURES}:
    structure = structures.build(name, 6, "cosine", count=300, sample=vectors, seed=0)
    structure.add(vectors)
    rows = torch.arange(300)
    rows[5] = -1
    to_arrays(structure, rows)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
