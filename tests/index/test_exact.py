"""The exact index against scikit-learn, FAISS and a loop; and what a damaged folder is told."""

import json

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestNeighbors

from samekind.errors import SpaceError
from samekind.index import Exact, best_of
from samekind.similarities import PairsNetwork


@pytest.fixture(scope="module")
def random():
    draw = torch.Generator().manual_seed(0)
    return torch.randn(50, 8, generator=draw), torch.randn(300, 8, generator=draw)


def filled(vectors, score):
    index = Exact(vectors.shape[1], score=score)
    for start in range(0, len(vectors), 70):
        part = vectors[start : start + 70]
        index.add([str(start + place) for place in range(len(part))], part)
    return index


@pytest.mark.parametrize(("score", "metric"), [("euclidean", "euclidean"), ("cosine", "cosine")])
def test_agrees_with_scikit_learn(random, score, metric):
    queries, vectors = random
    distances, which = NearestNeighbors(metric=metric, algorithm="brute").fit(vectors).kneighbors(queries, 9)
    answer = filled(vectors, score).search(queries, 9, memory_budget=4096)
    assert answer.ids == [[str(place) for place in row] for row in which]
    expected = torch.from_numpy(-distances if score == "euclidean" else 1 - distances).float()
    torch.testing.assert_close(answer.scores, expected, rtol=1e-5, atol=1e-5)


def test_agrees_with_faiss(random):
    faiss = pytest.importorskip("faiss")
    queries, vectors = random
    peer = faiss.IndexFlatIP(8)
    peer.add(vectors.numpy())
    scores, which = peer.search(queries.numpy(), 9)
    answer = filled(vectors, "dot").search(queries, 9)
    assert answer.ids == [[str(place) for place in row] for row in which]
    torch.testing.assert_close(answer.scores, torch.from_numpy(scores))


@pytest.mark.parametrize("budget", [1, 1000, 10**6, None])
def test_a_learned_similarity_takes_the_query_first(random, budget):
    torch.manual_seed(0)
    network = PairsNetwork(dimension=8, hidden=6).eval()
    queries, vectors = random[0][:4], random[1][:40]
    answer = filled(vectors, "cosine").search(queries, 3, scorer=network, memory_budget=budget)
    for query, ids, scores in zip(queries, answer.ids, answer.scores, strict=True):
        with torch.no_grad():
            one_by_one = [float(network(query[None], vector[None])) for vector in vectors]
        best = sorted(range(len(vectors)), key=lambda place: -one_by_one[place])[:3]
        assert ids == [str(place) for place in best]
        assert scores.tolist() == pytest.approx([one_by_one[place] for place in best], abs=1e-5)


def test_a_function_can_be_the_scorer_and_is_called_in_blocks(random):
    queries, vectors = random
    largest = 0

    def first_coordinate(a, b):
        nonlocal largest
        largest = max(largest, len(a) * len(b))
        return a[:, :1] * 0 + b[:, 0]

    answer = filled(vectors, "cosine").search(queries[:2], 1, scorer=first_coordinate, memory_budget=64 * 100)
    assert answer.ids == [[str(int(vectors[:, 0].argmax()))]] * 2
    assert 0 < largest <= 100


def test_half_precision_is_stored_as_float32():
    index = Exact(2)
    index.add(["a"], torch.ones(1, 2, dtype=torch.float16))
    assert index.vectors().dtype == torch.float32
    assert index.search(torch.ones(1, 2, dtype=torch.float64), 1).ids == [["a"]]


def test_ids_come_in_the_order_they_were_added(random):
    index = filled(random[1], "dot")
    index.remove(["0", "299"])
    assert list(index) == [str(place) for place in range(1, 299)]
    assert torch.equal(index.vectors(), random[1][1:299])


def test_the_search_is_that_of_all_scores_at_once(random):
    """Small blocks, large blocks: the same scores to the last digit are needed for the same ties."""
    queries, vectors = (values.round() for values in random)  # whole numbers: sums of products are exact
    index = filled(vectors, "dot")
    whole = best_of([(slice(0, 50), slice(0, 300), queries @ vectors.T)], k=20)
    for budget in (100, 5000, None):
        answer = index.search(queries, 20, memory_budget=budget)
        assert torch.equal(answer.scores, whole[0])
        assert answer.ids == [[str(place) for place in row] for row in whole[1].tolist()]


# --- what the disk may do to it ---------------------------------------------------------------------


@pytest.fixture
def folder(random, tmp_path):
    filled(random[1][:5], "dot").save(tmp_path / "index")
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dimension", 7),
        ("dimension", "8"),
        ("score", "cosin"),
        ("score", 3),
        ("fingerprint", None),
        ("notes", []),
    ],
)
def test_refuses_a_header_that_does_not_fit_its_files(folder, key, value):
    header = json.loads((folder / "index.json").read_text())
    header[key] = value
    if value is None:
        del header[key]
    (folder / "index.json").write_text(json.dumps(header))
    with pytest.raises(SpaceError, match=r"index is damaged: .*make the index again"):
        Exact.open(folder)


def test_the_folder_holds_plain_files_and_no_code(folder, random):
    assert sorted(path.name for path in folder.iterdir()) == [
        "ids.1.txt",
        "index.json",
        "journal.1.log",
        "lock",
        "metadata.1.jsonl",
        "vectors.1.npy",
    ]
    header = json.loads((folder / "index.json").read_text())
    assert {key: header[key] for key in ("format", "version", "kind", "dimension", "score", "count")} == {
        "format": "samekind index",
        "version": 3,
        "kind": "Exact",
        "dimension": 8,
        "score": "dot",
        "count": 5,
    }
    assert np.array_equal(np.load(folder / "vectors.1.npy", allow_pickle=False), random[1][:5].numpy())
    assert (folder / "ids.1.txt").read_bytes() == b"0\x001\x002\x003\x004\0"


def test_a_saved_index_frees_its_memory(random, tmp_path):
    """What was saved is mapped from the file: the vectors in memory are given up."""
    index = filled(random[1], "dot")
    before = index.vectors().data_ptr()
    index.save(tmp_path / "index")
    assert index.vectors().data_ptr() != before
    assert torch.equal(index.vectors(), random[1])
    index.vectors()[0] = 0  # not to be written to; the file is safe all the same
    assert torch.equal(Exact.open(tmp_path / "index", verify=True).vectors(), random[1])


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("budget", [200, 5000, None])
def test_removed_vectors_are_in_no_block(random, tmp_path, saved, budget):
    """Whole blocks of empty rows, blocks with some, and blocks with none, on the disk and in memory."""
    queries, vectors = (values.round() for values in random)
    index = filled(vectors[:200], "dot")
    if saved:
        index.save(tmp_path / "index")
    index.add([str(place) for place in range(200, 300)], vectors[200:])
    gone = [*range(120), 150, 177, *range(230, 260)]
    index.remove([str(place) for place in gone])
    left = [place for place in range(300) if place not in gone]
    scores, which = best_of([(slice(0, 50), slice(0, len(left)), queries @ vectors[left].T)], k=200)
    answer = index.search(queries, 200, memory_budget=budget)
    assert torch.equal(answer.scores, scores)
    assert answer.ids == [[str(left[place]) for place in row] for row in which.tolist()]
    index.remove([str(place) for place in left if place < 200])  # a segment without anything in it
    assert sorted(index.search(queries[:1], 300).ids[0]) == sorted(
        str(number) for number in left if number >= 200
    )


def test_gaps_close_when_most_is_removed():
    index = Exact(1, score="dot")
    for round in range(5):
        index.add([str(number) for number in range(800)], torch.full((800, 1), float(round)), replace=True)
        assert index.search(torch.ones(1, 1), 1).scores.item() == round
    assert index._durable.store.height < 3 * 800
