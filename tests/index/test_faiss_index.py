"""The index on FAISS: its structures are used, what they miss is bounded, and the disk is not trusted."""

import contextlib
import hashlib
import io
import json

import faiss
import numpy as np
import pytest
import torch

from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, Faiss, arrangement, faiss_index
from samekind.index import folder as folders
from samekind.similarities import PairsNetwork


@pytest.fixture(scope="module")
def clustered():
    """Queries and vectors around common centres, as embeddings are."""
    draw = torch.Generator().manual_seed(0)
    centres = torch.randn(40, 16, generator=draw)

    def some(count):
        which = torch.randint(40, (count,), generator=draw)
        return centres[which] + 0.5 * torch.randn(count, 16, generator=draw)

    return some(50), some(3000)


def filled(vectors, structure, **settings):
    index = Faiss(vectors.shape[1], structure=structure, **settings)
    index.add([str(place) for place in range(len(vectors))], vectors)
    return index


def recall(answer, truth):
    pairs = zip(answer.ids, truth.ids, strict=True)
    return sum(len({*a} & {*b}) for a, b in pairs) / truth.scores.numel()


@pytest.fixture
def only_structures(monkeypatch):
    """No search may compare all vectors."""

    def refuse(*_, **__):
        raise AssertionError("all vectors were compared")

    monkeypatch.setattr(faiss_index, "exhaustive", refuse)


@pytest.mark.parametrize("score", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize(
    ("structure", "least"), [("auto", 1), ("flat", 1), ("hnsw", 0.98), ("ivf", 0.9), ("pq", 0.9)]
)
def test_finds_nearly_all_by_its_structure(clustered, only_structures, structure, least, score):
    queries, vectors = clustered
    exact = Exact(16, score=score)
    exact.add([str(place) for place in range(3000)], vectors)
    index = filled(vectors, structure, score=score)
    answer, truth = index.search(queries, 10), exact.search(queries, 10)
    assert index.built == ("flat" if structure == "auto" else structure)
    assert recall(answer, truth) >= least
    # What it found has the exact scores, in their order.
    for query, ids, scores in zip(queries, answer.ids, answer.scores, strict=True):
        one_by_one = exact.search(query[None], 3000)
        known = dict(zip(one_by_one.ids[0], one_by_one.scores[0].tolist(), strict=True))
        assert scores.tolist() == pytest.approx([known[id] for id in ids], abs=1e-4)
        assert scores.tolist() == sorted(scores.tolist(), reverse=True)


def test_more_effort_finds_more_and_is_saved(clustered, tmp_path):
    queries, vectors = clustered
    index = filled(vectors, "ivf", effort=1)
    truth = filled(vectors, "flat").search(queries, 10)
    hits = []
    for effort in (1, 4, 10_000):
        index.effort = effort
        hits.append(recall(index.search(queries, 10), truth))
    assert hits[0] < hits[1] < hits[2] == 1
    index.effort = 3
    index.save(tmp_path / "index")
    assert Faiss.open(tmp_path / "index").effort == 3


def test_too_few_candidates_fall_back_to_all_vectors(clustered):
    """200 are wanted, and one list holds fewer: all vectors are compared for the queries that lack some."""
    queries, vectors = clustered
    index = filled(vectors, "ivf", effort=1)
    answer = index.search(queries, 200)
    assert answer.scores.shape == (50, 200)
    assert {len(set(row)) for row in answer.ids} == {200}
    assert recall(answer, filled(vectors, "flat").search(queries, 200)) > 0.9


@pytest.mark.parametrize("structure", ["flat", "hnsw", "ivf", "pq"])
def test_another_scorer_compares_all_vectors(clustered, structure):
    torch.manual_seed(0)
    network, (queries, vectors) = PairsNetwork(dimension=16, hidden=6).eval(), clustered
    exact = Exact(16)
    exact.add([str(place) for place in range(1200)], vectors[:1200])
    index = filled(vectors[:1200], structure)
    index.build()
    answer, truth = (one.search(queries[:3], 5, scorer=network) for one in (index, exact))
    assert answer.ids == truth.ids
    assert torch.equal(answer.scores, truth.scores)
    assert torch.equal(index.vectors(), vectors[:1200])  # to the last digit, codes or not


def test_equal_scores_come_in_the_order_they_were_added(clustered, only_structures):
    vectors = torch.zeros(2000, 2)
    vectors[[5, 700, 1500, 1999]] = torch.tensor([3.0, 4.0])
    for structure in ("flat", "ivf"):
        index = filled(vectors, structure, score="dot", effort=10_000)
        assert index.search(torch.tensor([[1.0, 1.0]]), 4).ids == [["5", "700", "1500", "1999"]]


def test_zero_vectors_and_many_equal_ones_are_found():
    index = filled(torch.zeros(1500, 3), "ivf")
    assert index.search(torch.ones(2, 3), 4).scores.tolist() == [[0] * 4] * 2
    index = filled(torch.ones(1500, 3), "pq", score="euclidean")
    assert index.search(torch.ones(2, 3), 4).scores.tolist() == [[0] * 4] * 2


def test_nothing_is_built_before_it_is_needed(clustered, monkeypatch):
    index = filled(clustered[1], "ivf")
    assert index.built is None
    index.build()
    assert index.built == "ivf"
    before = index._arrangement.structure
    index.search(clustered[0], 3)
    assert index._arrangement.structure is before


def test_a_structure_that_was_saved_is_not_built_again(clustered, tmp_path, monkeypatch):
    index = filled(clustered[1], "hnsw")
    index.save(tmp_path / "index")
    assert index.built == "hnsw"
    expected = index.search(clustered[0], 5)

    def refuse(*_, **__):
        raise AssertionError("was built again")

    monkeypatch.setattr(arrangement.structure, "build", refuse)
    again = Faiss.open(tmp_path / "index", verify=True)
    answer = again.search(clustered[0], 5)
    assert answer.ids == expected.ids
    assert torch.equal(answer.scores, expected.scores)
    header = json.loads((tmp_path / "index" / "index.json").read_text())
    assert header["structure"] == {"kind": "hnsw", "built for": 3000}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"structure": "hsnw"}, 'there is no FAISS structure "hsnw"; did you mean "hnsw"?'),
        ({"effort": 0}, "effort is at least 1, got 0"),
    ],
)
def test_an_impossible_setting_is_refused(settings, says):
    with pytest.raises(SettingError, match=says):
        Faiss(2, **settings)


@pytest.fixture
def folder(clustered, tmp_path):
    filled(clustered[1], "ivf").save(tmp_path / "index")
    return tmp_path / "index"


@pytest.mark.parametrize("name", ["structure.1.safetensors", "vectors.1.npy", "ids.1.txt"])
def test_a_changed_byte_in_any_file_is_named(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 4
    (folder / name).write_bytes(content)
    with pytest.raises(SpaceError, match=f"is damaged: {name} is not the file it was saved with"):
        Faiss.open(folder)


@pytest.mark.parametrize("key", ["settings", "structure"])
def test_a_header_without_its_settings_is_damage(folder, key):
    header = json.loads((folder / "index.json").read_text())
    del header[key]
    (folder / "index.json").write_text(json.dumps(header))
    with pytest.raises(SpaceError, match=f"is damaged: .*{key}"):
        Faiss.open(folder)


def test_is_exact_until_it_has_a_structure(tmp_path):
    index = Faiss(2)
    index.add(["a", "b"], torch.eye(2))
    index.save(tmp_path / "index")
    assert json.loads((tmp_path / "index" / "index.json").read_text())["structure"] is None
    again = Faiss.open(tmp_path / "index")
    assert (again.search(torch.eye(2), 1).ids, again.built) == ([["a"], ["b"]], None)


@pytest.mark.parametrize("version", [2, 3])
def test_a_folder_of_somebody_else_cannot_have_faiss_write_to_a_file(folder, version):
    """Lists on the disk name a file, which FAISS opens with the structure and writes to with every addition.
    The folder is as its maker would have it: all sizes and hashes fit.
    """
    target = folder.parent / "of the user"
    before = Faiss.open(folder)
    centres, vectors = faiss.IndexFlat(before.dimension), before.vectors().numpy()
    hostile = faiss.IndexIVFFlat(centres, before.dimension, 4)
    hostile.train(vectors)
    lists = faiss.OnDiskInvertedLists(4, hostile.code_size, str(target))
    hostile.replace_invlists(lists)
    hostile.add(vectors)
    content = faiss.serialize_index(hostile).tobytes()
    harmless = bytes(target.stat().st_size)
    target.write_bytes(harmless)
    header = json.loads((folder / "index.json").read_text())
    files = {"structure.faiss": content, "structure.safetensors": content, "rows.npy": _as_npy(len(before))}
    for name, file in files.items():
        (folder / folders.numbered(name, 1)).write_bytes(file)
        header["files"][name] = {"bytes": len(file), "sha256": hashlib.sha256(file).hexdigest()}
    header["structure"]["graph only"], header["version"] = False, version
    (folder / "index.json").write_text(json.dumps(header))
    with contextlib.suppress(SpaceError):  # refused, or built anew from the vectors
        index = Faiss.open(folder)
        index.add([f"new {place}" for place in range(1500)], torch.ones(1500, index.dimension))
        index.search(torch.ones(1, index.dimension), 3)
    assert target.read_bytes() == harmless


def _as_npy(count):
    content = io.BytesIO()
    np.save(content, np.arange(count))
    return content.getvalue()
