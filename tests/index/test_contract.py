"""What every index promises, checked on all of them; a new index is covered by one line in MAKERS."""

from functools import partial

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samekind import index
from samekind.errors import SamekindError, SettingError, SpaceError
from samekind.index import Exact, Faiss, contract, open_index, opening

VECTORS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

#: A function (dimension, score=..., fingerprint=...) for each kind; a text names the fixture that is one.
MAKERS = {
    "Exact": Exact,
    "Faiss": Faiss,
    "Faiss flat": partial(Faiss, structure="flat"),
    "Faiss hnsw": partial(Faiss, structure="hnsw", effort=10_000),
    "Faiss ivf": partial(Faiss, structure="ivf", effort=10_000),
    "Faiss pq": partial(Faiss, structure="pq", effort=10_000),
    "Postgres": "make_postgres",
    "Milvus": "make_milvus",
}
KINDS = [
    pytest.param(name, marks=pytest.mark.servers if isinstance(maker, str) else (), id=name)
    for name, maker in MAKERS.items()
]


@pytest.fixture(params=KINDS)
def make(request):
    maker = MAKERS[request.param]
    return request.getfixturevalue(maker) if isinstance(maker, str) else maker


@pytest.fixture
def filled(make):
    index = make(2, score="dot", fingerprint="that space")
    index.add(["a", "b", "c"], VECTORS, [{"label": "first"}, {"label": None, "page": 3}, {}])
    return index


def told(stored):
    """All that can be seen of an index."""
    answer = stored.search(torch.tensor([[1.0, 2.0]]), 10)
    return (
        len(stored),
        stored.dimension,
        stored.fingerprint,
        answer.ids,
        answer.scores.tolist(),
        stored.metadata(answer.ids[0]),
        list(stored),
        stored.vectors().tolist(),
        stored.notes,
    )


def test_every_kind_is_checked_here():
    assert {name.partition(" ")[0] for name in MAKERS} >= set(index.INDEXES)


def test_says_whether_it_is_exact_remote_and_built(filled):
    assert opening.CLASSES[filled.backend] is type(filled)
    assert filled.exact == isinstance(filled, Exact)
    assert filled.remote == (filled.backend in ("Milvus", "Postgres"))
    assert (filled.url is not None) == (filled.name is not None) == filled.remote
    assert filled.built is None or isinstance(filled, Faiss)


def test_finds_what_was_added(filled):
    answer = filled.search(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), 2)
    assert answer.ids == [["c", "a"], ["b", "c"]]
    assert answer.scores.tolist() == [[3, 2], [3, 3]]
    assert (len(filled), filled.dimension, "a" in filled, "d" in filled) == (3, 2, True, False)
    assert filled.metadata(["c", "b", "c"]) == [{}, {"label": None, "page": 3}, {}]


@pytest.mark.parametrize(
    ("score", "expected"),
    [("cosine", [1, 0.5**0.5, 0]), ("dot", [2, 2, 0]), ("euclidean", [-1, -(2**0.5), -(5**0.5)])],
)
def test_scores_by_the_score_it_was_made_for(make, score, expected):
    index = make(2, score=score)
    index.add(["a", "b", "c"], VECTORS)
    answer = index.search(torch.tensor([[2.0, 0.0]]), 3)
    assert sorted(answer.ids[0]) == ["a", "b", "c"]
    assert answer.scores[0].tolist() == pytest.approx(expected)


def test_k_beyond_its_size_is_cut(filled):
    answer = filled.search(torch.zeros(2, 2), 100)
    assert answer.scores.shape == (2, 3)
    assert answer.ids == [["a", "b", "c"]] * 2  # all tie: in the order they were added


def test_no_vectors_and_no_queries(make):
    empty = make(2)
    answer = empty.search(torch.zeros(3, 2), 4)
    assert (answer.scores.shape, answer.ids, len(empty)) == ((3, 0), [[], [], []], 0)
    assert (list(empty), empty.vectors().shape, empty.vectors([]).shape) == ([], (0, 2), (0, 2))
    assert empty.metadata([]) == []
    empty.add([], torch.empty(0, 2))
    empty.add(["a"], VECTORS[:1])
    assert empty.search(torch.empty(0, 2), 4).scores.shape == (0, 1)
    empty.remove([])
    assert len(empty) == 1


def test_a_removed_id_is_not_found_and_can_be_added_again(filled):
    filled.remove(["a", "c"])
    assert told(filled)[3] == [["b"]]
    filled.add(["a"], torch.tensor([[9.0, 9.0]]))
    assert told(filled)[3] == [["a", "b"]]
    assert filled.metadata(["a"]) == [{}]


def test_replacing_gives_an_id_its_new_vector_and_its_new_place(filled):
    filled.add(["a", "d"], torch.tensor([[0.0, 1.0], [0.0, 1.0]]), [{"new": True}, {}], replace=True)
    answer = filled.search(torch.tensor([[0.0, 1.0]]), 9)
    assert answer.ids == [["b", "c", "a", "d"]]
    assert filled.metadata(["a"]) == [{"new": True}]


MISTAKES = [
    (lambda it: it.add(["a"], VECTORS[:1]), '"a" is already there; ask to replace it'),
    (lambda it: it.add(["a", "x", "b"], VECTORS), '"a" and 1 more is already there'),
    (lambda it: it.add(["x", "y", "x"], VECTORS), '"x" comes twice'),
    (lambda it: it.add(["x", "x"], VECTORS[:2], replace=True), '"x" comes twice'),
    (lambda it: it.add(["x", ""], VECTORS[:2]), "texts, none of them empty"),
    (lambda it: it.add([1, 2, 3], VECTORS), "ids are a list of texts"),
    (lambda it: it.add(["x\0y"], VECTORS[:1]), "the character NUL"),
    (lambda it: it.add("xyz", VECTORS), "ids are a list of texts"),
    (lambda it: it.add(["x"], VECTORS), r"expected vectors \(1, 2\), got \(3, 2\)"),
    (lambda it: it.add(["x"], torch.zeros(1, 3)), r"expected vectors \(1, 2\), got \(1, 3\)"),
    (lambda it: it.add(["x"], torch.full((1, 2), torch.nan)), "not finite"),
    (lambda it: it.add(["x"], VECTORS[:1], []), "metadata for each of 1 ids, got 0"),
    (lambda it: it.add(["a"], VECTORS[:1], [{"b": object()}], replace=True), "what JSON can hold"),
    (lambda it: it.add(["x"], VECTORS[:1], [{"b": float("nan")}]), "what JSON can hold"),
    (lambda it: it.remove(["a", "aa"]), 'there is no id "aa"; did you mean "a"?'),
    (lambda it: it.metadata(["a", "z"]), 'there is no id "z"'),
    (lambda it: it.metadata("abc"), r'for one id give a list of one, \["abc"\]'),
    (lambda it: it.vectors(["a", "z"]), 'there is no id "z"'),
    (lambda it: it.search(torch.zeros(1, 3), 1), r"expected vectors \(1, 2\), got \(1, 3\)"),
    (lambda it: it.search(torch.full((1, 2), torch.inf), 1), "not finite"),
    (lambda it: it.search(torch.zeros(1, 2), 0), "ask for 1 or more"),
]


def test_a_refused_call_changes_nothing(filled):
    before = told(filled)
    for mistake, says in MISTAKES:
        with pytest.raises(SettingError, match=says):
            mistake(filled)
        assert told(filled) == before, says


def test_an_unknown_score_and_an_impossible_dimension_are_refused(make):
    with pytest.raises(SettingError, match='no score "cosin"; did you mean "cosine"'):
        make(2, score="cosin")
    with pytest.raises(SettingError, match="at least 1"):
        make(0)


def test_vectors_come_in_the_order_of_the_ids(filled):
    assert list(filled) == ["a", "b", "c"]
    assert torch.equal(filled.vectors(), VECTORS)
    assert torch.equal(filled.vectors(["c", "a", "c"]), VECTORS[[2, 0, 2]])
    filled.remove(["b"])
    filled.add(["a"], torch.tensor([[5.0, 5.0]]), replace=True)
    assert list(filled) == ["c", "a"]
    assert filled.vectors().tolist() == [[1, 1], [5, 5]]


def test_a_scorer_gets_the_query_first_and_all_vectors(filled):
    def first_minus_second(a, b):
        return a[:, :1] - b[:, 1]

    answer = filled.search(torch.tensor([[1.0, 7.0], [3.0, 7.0]]), 2, scorer=first_minus_second)
    assert answer.ids == [["a", "b"]] * 2  # "b" ties with "c"
    assert answer.scores.tolist() == [[1, 0], [3, 2]]


def test_is_the_same_after_saving_and_opening(filled, tmp_path):
    filled.notes["shortlist"] = {"size": 12, "recall": [0.5, None]}
    filled.save(tmp_path / "index")
    before = told(filled)
    filled.close()
    again = open_index(tmp_path / "index")
    assert type(again) is type(filled)
    assert told(again) == before
    again.add(["d\nnew line \u2028 ü"], VECTORS[:1])
    del again.notes["shortlist"]
    again.save(str(tmp_path / "index"))
    after = told(again)
    again.close()
    assert told(open_index(tmp_path / "index")) == after != before


def test_an_addition_after_a_save_is_durable(filled, tmp_path):
    filled.save(tmp_path / "index")
    filled.add(["d", "e"], VECTORS[:2], [{"x": [1]}, {}])
    filled.remove(["b"])
    filled.add(["a"], VECTORS[2:], [{"new": True}], replace=True)
    before = told(filled)
    filled.close()
    filled.close()
    again = open_index(tmp_path / "index")
    assert told(again) == before
    again.remove(["c"])
    again.close()
    assert list(open_index(tmp_path / "index")) == ["d", "e", "a"]


def test_an_empty_index_is_saved_and_opened(make, tmp_path):
    make(5).save(tmp_path / "index")
    again = open_index(tmp_path / "index")
    assert (len(again), again.dimension, again.vectors().shape) == (0, 5, (0, 5))
    again.add(["a"], torch.ones(1, 5))
    again.close()
    assert list(open_index(tmp_path / "index")) == ["a"]


def test_refuses_the_index_of_another_space(filled, tmp_path):
    filled.save(tmp_path / "index")
    assert len(open_index(tmp_path / "index", fingerprint="that space")) == 3
    with pytest.raises(SpaceError, match="made with another space"):
        open_index(tmp_path / "index", fingerprint="this space")


def test_stored_vectors_do_not_change_with_the_given_tensor(make):
    index, vectors, held = make(2, score="dot"), VECTORS.clone(), {"label": ["x"]}
    index.add(["a", "b", "c"], vectors, [held, {}, {}])
    before = told(index)
    vectors.zero_()
    held["label"].append("y")
    assert told(index) == before
    index.metadata(["a"])[0]["label"].append("z")
    assert told(index) == before


@pytest.mark.parametrize("score", ["cosine", "dot", "euclidean"])
def test_finds_what_the_exact_index_finds(make, score, tmp_path):
    """Enough vectors for every kind to build what it is named after; effort at its most."""
    draw = torch.Generator().manual_seed(3)
    vectors, queries = torch.randn(1500, 8, generator=draw), torch.randn(20, 8, generator=draw)
    ids = [f"item {place}" for place in range(1500)]
    index, exact = make(8, score=score), Exact(8, score=score)

    def agree(stored):
        answer, expected = stored.search(queries, 3), exact.search(queries, 3)
        assert answer.ids == expected.ids
        torch.testing.assert_close(answer.scores, expected.scores)

    for one in (index, exact):
        one.add(ids[:1300], vectors[:1300])
    if hasattr(index, "build"):
        index.build()
    agree(index)
    for one in (index, exact):
        one.remove(ids[100:400])
        one.add(ids[1300:], vectors[1300:])
    agree(index)
    if score == "cosine" or not index.remote:  # of a server the folder has no more than the address
        index.save(tmp_path / "index")
        index.close()
        agree(open_index(tmp_path / "index"))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**16),
    steps=st.lists(st.tuples(st.sampled_from(["add", "replace", "remove"]), st.integers(0, 7)), max_size=12),
)
def test_any_history_agrees_with_a_dictionary(make, seed, steps):
    """A plain dictionary goes through the same steps; afterwards both give the same answers."""
    draw = torch.Generator().manual_seed(seed)
    index, plain = make(3, score="dot"), {}
    for step, number in steps:
        id, vector = f"item {number}", torch.randint(-2, 3, (1, 3), generator=draw).float()
        if step == "remove":
            if id in plain:
                del plain[id]
                index.remove([id])
            continue
        if id in plain and step == "add":
            with pytest.raises(SamekindError):
                index.add([id], vector)
            continue
        plain.pop(id, None)
        plain[id] = vector[0]
        index.add([id], vector, replace=step == "replace")
    query = torch.tensor([[1.0, 2.0, -1.0]])
    scores = {id: float(query[0] @ vector) for id, vector in plain.items()}
    best = sorted(scores, key=lambda id: -scores[id])[:4]
    answer = index.search(query, 4)
    assert answer.ids == [best]
    assert answer.scores[0].tolist() == [scores[id] for id in best]


def test_no_nearest_id_is_named_among_very_many():
    with pytest.raises(SettingError, match='there is no id "x"; the index has 20000 other ids'):
        contract.refuse_unknown("x", [str(number) for number in range(20_000)])
