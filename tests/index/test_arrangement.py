"""A structure that follows its store: what is in it, what waits beside it, and when it is built anew."""

import pytest
import torch

from samekind.errors import SpaceError
from samekind.index import arrangement as arrangements
from samekind.index import folder as folders
from samekind.index.arrangement import Arrangement
from samekind.index.changes import Change
from samekind.index.store import FILES, Store


def arrangement(name="auto", **settings):
    # Not "dot": a graph may lose the way to a vector that is too short to be the best of anybody.
    return Arrangement(4, "euclidean", name=name, memory=settings.get("memory"), seed=settings.get("seed", 0))


def come(store, *numbers):
    draw = torch.Generator().manual_seed(sum(numbers))
    vectors = torch.randn(len(numbers), 4, generator=draw)
    store.apply(Change([str(number) for number in numbers], ["{}"] * len(numbers), vectors))


def go(store, *numbers):
    store.apply(Change([str(number) for number in numbers]))


@pytest.fixture
def store():
    store = Store(4)
    come(store, *range(400))
    return store


def covered(arranged, store):
    """The ids in the structure that can be found there."""
    queries = torch.ones(1, 4)
    labels = arranged.structure.nearest(
        queries, len(arranged.structure), effort=10_000, alive=arranged._alive(store)
    )
    return sorted(int(name) for name in store.names(arranged._rows[labels[labels >= 0]].tolist()))


def test_few_vectors_need_no_structure(store):
    arranged, small = arrangement(), Store(4)
    come(small, *range(30))
    arranged.arrange(small, most_beside=30)
    assert (arranged.structure, len(arranged.beside(small))) == (None, 30)
    assert arranged.describe() is None
    arranged.arrange(store, most_beside=30)
    assert (arranged.structure.name, len(arranged.structure), len(arranged.beside(store))) == ("flat", 400, 0)


def test_additions_wait_beside_the_structure_until_there_are_enough(store):
    arranged = arrangement("hnsw")
    arranged.arrange(store, most_beside=30)
    come(store, *range(400, 430))
    go(store, 425)
    arranged.arrange(store, most_beside=30)
    assert (len(arranged.structure), arranged.beside(store).tolist()) == (
        400,
        [*range(400, 425), *range(426, 430)],
    )
    come(store, 500, 501)
    arranged.arrange(store, most_beside=30)
    assert (len(arranged.structure), len(arranged.beside(store))) == (431, 0)
    assert covered(arranged, store) == [*range(425), *range(426, 430), 500, 501]


def test_rows_beside_and_inside_the_structure_are_candidates(store):
    arranged = arrangement("ivf")
    arranged.arrange(store, most_beside=30)
    come(store, *range(400, 420))
    go(store, *range(50), 403)
    queries = torch.randn(7, 4, generator=torch.Generator().manual_seed(5))
    rows = arranged.candidates(store, queries, 3, effort=10_000)
    left = torch.tensor([*range(50, 403), *range(404, 420)])
    best = left[torch.cdist(queries, store.at(left)).topk(3, largest=False).indices]
    assert all(set(want.tolist()) <= set(got.tolist()) for want, got in zip(best, rows, strict=True))
    assert set(rows.flatten().tolist()) <= {*left.tolist(), -1}


def test_is_rebuilt_when_a_third_is_removed(store):
    arranged = arrangement("hnsw")
    arranged.arrange(store, most_beside=30)
    first = arranged.structure
    go(store, *range(133))
    arranged.arrange(store, most_beside=30)
    assert arranged.structure is first
    assert covered(arranged, store) == list(range(133, 400))
    go(store, 133)
    arranged.arrange(store, most_beside=30)
    assert arranged.structure is not first
    assert (len(arranged.structure), arranged._alive(store)) == (266, None)
    go(store, *range(134, 390))
    arranged.arrange(store, most_beside=30)
    assert arranged.structure is None


@pytest.mark.parametrize(("name", "anew"), [("flat", False), ("hnsw", False), ("ivf", True), ("pq", True)])
def test_lists_are_rebuilt_for_twice_as_many_vectors(store, name, anew):
    arranged = arrangement(name)
    arranged.arrange(store, most_beside=30)
    first, lists = arranged.structure, arranged.structure.lists
    come(store, *range(400, 800))
    arranged.arrange(store, most_beside=30)
    assert (arranged.structure is first, len(first)) == (True, 800)
    come(store, *range(800, 900))
    arranged.arrange(store, most_beside=30)
    assert (arranged.structure is not first) == anew
    assert (len(arranged.structure), arranged.structure.built_for) == (900, 900)
    assert (arranged.structure.lists > lists) == anew
    assert covered(arranged, store) == list(range(900))


def test_grows_from_one_structure_into_the_next(store, monkeypatch):
    monkeypatch.setattr(arrangements.sizes, "FLAT_UP_TO", 500)
    arranged = arrangement()
    arranged.arrange(store, most_beside=30)
    assert arranged.structure.name == "flat"
    come(store, *range(400, 700))
    arranged.arrange(store, most_beside=30)
    assert arranged.structure.name == "flat"  # not yet twice as many
    come(store, *range(700, 900))
    arranged.arrange(store, most_beside=30)
    assert (arranged.structure.name, len(arranged.structure)) == ("hnsw", 900)
    assert arrangement(memory=1)._wanted(900) == "pq"


def test_a_structure_that_had_too_few_vectors_is_built_when_there_are_enough():
    arranged, store = arrangement("pq"), Store(4)
    come(store, *range(100))
    arranged.arrange(store, most_beside=0)
    assert arranged.structure.name == "flat"
    come(store, *range(100, 300))
    arranged.arrange(store, most_beside=0)
    assert arranged.structure.name == "pq"


def test_follows_a_store_whose_gaps_close(store, monkeypatch):
    arranged = arrangement("hnsw")
    arranged.arrange(store, most_beside=30)
    go(store, *range(100))
    come(store, *range(400, 420))
    arranged.follow(store.compact(), store)
    assert covered(arranged, store) == list(range(100, 400))
    assert store.names(arranged.beside(store).tolist()) == [str(number) for number in range(400, 420)]
    arranged.arrange(store, most_beside=0)
    assert covered(arranged, store) == list(range(100, 420))
    monkeypatch.setattr(Store, "wasteful", True)
    go(store, *range(100, 150))
    arranged.arrange(store, most_beside=0)
    assert store.height == 270
    assert covered(arranged, store) == list(range(150, 420))


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("name", ["flat", "hnsw", "ivf", "pq"])
def test_is_the_same_after_writing_and_reading(store, name, gone, tmp_path):
    arranged = arrangement(name)
    arranged.arrange(store, most_beside=0)
    if gone:
        go(store, *range(40))

    def fill(draft):
        store.write(draft)
        arranged.write(draft, store)

    described = arranged.describe()
    assert (described is None) == (name == "flat")
    content = {"dimension": 4, "count": len(store), "structure": described}
    header = folders.write(tmp_path / "index", content, files=(*FILES, arrangements.FILE), fill=fill)
    again, back = arrangement(name), Store.read(tmp_path / "index", header)
    come(back, 900)  # the journal may have grown since
    again.read(tmp_path / "index", header, back)
    if name == "flat":
        assert again.structure is None
        return
    assert again.beside(back).tolist() == [len(store)]
    assert covered(again, back) == sorted(int(name) for name in store)
    queries = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    names = [
        [held.names(row[row >= 0].tolist()) for row in one.candidates(held, queries, 9, effort=9999)]
        for one, held in ((arranged, store), (again, back))
    ]
    assert [[name for name in row if name != "900"] for row in names[1]] == names[0]


def test_rows_that_do_not_fit_the_structure_are_damage(store, tmp_path):
    arranged = arrangement("ivf")
    arranged.arrange(store, most_beside=0)

    def fill(draft):
        store.write(draft)
        arranged.write(draft, store)

    content = {"dimension": 4, "count": 400, "structure": arranged.describe()}
    header = folders.write(tmp_path / "index", content, files=(*FILES, arrangements.FILE), fill=fill)
    for count in (399, 401):
        with pytest.raises(SpaceError, match=r"structure.\d.safetensors is not of these vectors"):
            arrangement("ivf").read(tmp_path / "index", header | {"count": count}, store)


def test_a_structure_in_a_file_of_faiss_is_never_read(store, tmp_path):
    """As earlier versions wrote them: such a file may name another one, which FAISS would write to."""
    arranged = arrangement("ivf")
    header = {"version": 2, "structure": {"kind": "ivf", "built for": 9, "graph only": False}}
    arranged.read(tmp_path / "nowhere", header, store)
    assert arranged.structure is None
    arranged.arrange(store, most_beside=0)
    assert covered(arranged, store) == list(range(400))
