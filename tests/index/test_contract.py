"""What every index promises, checked on all of them; a new index is covered by being listed."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import index
from samekind.errors import SamekindError, SettingError, SpaceError

VECTORS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@pytest.fixture(params=index.INDEXES)
def kind(request):
    return getattr(index, request.param)


@pytest.fixture
def filled(kind):
    made = kind(2, score="dot", fingerprint="that space")
    made.add(["a", "b", "c"], VECTORS, [{"label": "first"}, {"label": None, "page": 3}, {}])
    return made


def told(stored):
    """All that can be seen of an index."""
    found = stored.search(torch.tensor([[1.0, 2.0]]), 10)
    return (
        len(stored),
        stored.dimension,
        stored.fingerprint,
        found.ids,
        found.scores.tolist(),
        {each: dict(stored.metadata(each)) for each in found.ids[0]},
    )


def test_finds_what_was_added(filled):
    found = filled.search(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), 2)
    assert found.ids == [["c", "a"], ["b", "c"]]
    assert found.scores.tolist() == [[3, 2], [3, 3]]
    assert (len(filled), filled.dimension, "a" in filled, "d" in filled) == (3, 2, True, False)
    assert filled.metadata("b") == {"label": None, "page": 3}
    assert filled.metadata("c") == {}


@pytest.mark.parametrize(
    ("score", "expected"),
    [("cosine", [1, 0.5**0.5, 0]), ("dot", [2, 2, 0]), ("euclidean", [-1, -(2**0.5), -(5**0.5)])],
)
def test_scores_are_those_it_was_made_for(kind, score, expected):
    made = kind(2, score=score)
    made.add(["a", "b", "c"], VECTORS)
    found = made.search(torch.tensor([[2.0, 0.0]]), 3)
    assert sorted(found.ids[0]) == ["a", "b", "c"]
    assert found.scores[0].tolist() == pytest.approx(expected)


def test_more_than_there_is_gives_what_there_is(filled):
    found = filled.search(torch.zeros(2, 2), 100)
    assert found.scores.shape == (2, 3)
    assert found.ids == [["a", "b", "c"]] * 2  # all tie: in the order they were added


def test_nothing_stored_and_nothing_asked(kind):
    empty = kind(2)
    found = empty.search(torch.zeros(3, 2), 4)
    assert (found.scores.shape, found.ids, len(empty)) == ((3, 0), [[], [], []], 0)
    empty.add([], torch.empty(0, 2))
    empty.add(["a"], VECTORS[:1])
    assert empty.search(torch.empty(0, 2), 4).scores.shape == (0, 1)
    empty.remove([])
    assert len(empty) == 1


def test_what_is_removed_is_not_found_and_can_be_added_again(filled):
    filled.remove(["a", "c"])
    assert told(filled)[3] == [["b"]]
    filled.add(["a"], torch.tensor([[9.0, 9.0]]))
    assert told(filled)[3] == [["a", "b"]]
    assert filled.metadata("a") == {}


def test_replacing_gives_an_id_its_new_vector_and_its_new_place(filled):
    filled.add(["a", "d"], torch.tensor([[0.0, 1.0], [0.0, 1.0]]), [{"new": True}, {}], replace=True)
    found = filled.search(torch.tensor([[0.0, 1.0]]), 9)
    assert found.ids == [["b", "c", "a", "d"]]
    assert filled.metadata("a") == {"new": True}


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (lambda it: it.add(["a"], VECTORS[:1]), '"a" is already there; ask to replace it'),
        (lambda it: it.add(["a", "x", "b"], VECTORS), '"a" and 1 more is already there'),
        (lambda it: it.add(["x", "y", "x"], VECTORS), '"x" comes twice'),
        (lambda it: it.add(["x", "x"], VECTORS[:2], replace=True), '"x" comes twice'),
        (lambda it: it.add(["x", ""], VECTORS[:2]), "texts, none of them empty"),
        (lambda it: it.add([1, 2, 3], VECTORS), "ids are a list of texts"),
        (lambda it: it.add("xyz", VECTORS), "ids are a list of texts"),
        (lambda it: it.add(["x"], VECTORS), r"expected vectors \(1, 2\), got \(3, 2\)"),
        (lambda it: it.add(["x"], torch.zeros(1, 3)), r"expected vectors \(1, 2\), got \(1, 3\)"),
        (lambda it: it.add(["x"], torch.full((1, 2), torch.nan)), "not finite"),
        (lambda it: it.add(["x"], VECTORS[:1], []), "metadata for each of 1 ids, got 0"),
        (lambda it: it.add(["a"], VECTORS[:1], [{"b": object()}], replace=True), "what JSON can hold"),
        (lambda it: it.add(["x"], VECTORS[:1], [{"b": float("nan")}]), "what JSON can hold"),
        (lambda it: it.remove(["a", "aa"]), 'there is no id "aa"; did you mean "a"?'),
        (lambda it: it.metadata("z"), 'there is no id "z"'),
        (lambda it: it.search(torch.zeros(1, 3), 1), r"expected vectors \(1, 2\), got \(1, 3\)"),
        (lambda it: it.search(torch.full((1, 2), torch.inf), 1), "not finite"),
        (lambda it: it.search(torch.zeros(1, 2), 0), "ask for 1 or more"),
    ],
)
def test_a_call_that_is_refused_changes_nothing(filled, mistake, says):
    before = told(filled)
    with pytest.raises(SettingError, match=says):
        mistake(filled)
    assert told(filled) == before


def test_an_unknown_score_and_an_impossible_dimension_are_refused(kind):
    with pytest.raises(SettingError, match='no score "cosin"; did you mean "cosine"'):
        kind(2, score="cosin")
    with pytest.raises(SettingError, match="at least 1"):
        kind(0)


def test_comes_back_from_the_disk_as_it_was(filled, kind, tmp_path):
    filled.save(tmp_path / "index")
    again = kind.open(tmp_path / "index")
    assert told(again) == told(filled)
    again.add(["d\nnew line \u2028 ü"], VECTORS[:1])
    again.save(str(tmp_path / "index"))
    assert told(kind.open(tmp_path / "index")) == told(again) != told(filled)


def test_an_empty_one_too(kind, tmp_path):
    kind(5).save(tmp_path / "index")
    assert len(kind.open(tmp_path / "index")) == 0


def test_that_of_another_space_is_refused(filled, kind, tmp_path):
    filled.save(tmp_path / "index")
    assert len(kind.open(tmp_path / "index", fingerprint="that space")) == 3
    with pytest.raises(SpaceError, match="made with another space"):
        kind.open(tmp_path / "index", fingerprint="this space")


def test_what_is_added_afterwards_is_not_changed_from_outside(kind):
    made, vectors, held = kind(2, score="dot"), VECTORS.clone(), {"label": "x"}
    made.add(["a", "b", "c"], vectors, [held, {}, {}])
    before = told(made)
    vectors.zero_()
    held["label"] = "y"
    assert told(made) == before


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**16),
    steps=st.lists(st.tuples(st.sampled_from(["add", "replace", "remove"]), st.integers(0, 7)), max_size=12),
)
@pytest.mark.parametrize("name", index.INDEXES)
def test_any_history_is_like_that_of_a_dictionary(name, seed, steps):
    """A plain dictionary goes through the same steps; afterwards both give the same answers."""
    draw = torch.Generator().manual_seed(seed)
    made, plain = getattr(index, name)(3, score="dot"), {}
    for step, number in steps:
        id, vector = f"item {number}", torch.randint(-2, 3, (1, 3), generator=draw).float()
        if step == "remove":
            if id in plain:
                del plain[id]
                made.remove([id])
            continue
        if id in plain and step == "add":
            with pytest.raises(SamekindError):
                made.add([id], vector)
            continue
        plain.pop(id, None)
        plain[id] = vector[0]
        made.add([id], vector, replace=step == "replace")
    query = torch.tensor([[1.0, 2.0, -1.0]])
    scores = {id: float(query[0] @ vector) for id, vector in plain.items()}
    best = sorted(scores, key=lambda id: -scores[id])[:4]
    found = made.search(query, 4)
    assert found.ids == [best]
    assert found.scores[0].tolist() == [scores[id] for id in best]
