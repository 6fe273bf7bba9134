"""The store against a dictionary, in memory, written and read."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError, SpaceError
from samekind.index import folder as folders
from samekind.index import store as stores
from samekind.index.changes import Change
from samekind.index.store import FILES, Store

steps = st.lists(
    st.tuples(st.sampled_from(["come", "go", "compact", "rebase"]), st.sets(st.integers(0, 9), max_size=4)),
    max_size=10,
)


def wrote(store, folder):
    content = {"kind": "Test", "count": len(store), "dimension": store.dimension}
    return folders.write(folder, content, files=FILES, fill=store.write)


def check(store, plain, *, texts):
    """The store holds what the dictionary holds, in its order."""
    assert list(store) == list(plain)
    assert store.vectors().tolist() == [[value, 0.0] for value in plain.values()]
    some = list(plain)[::-2]
    assert store.vectors(some).tolist() == [[plain[id], 0.0] for id in some]
    assert store.metadata(list(plain)) == [texts[value] for value in plain.values()]
    alive = store.alive()
    rows = torch.arange(store.height) if alive is None else alive.nonzero().flatten()
    assert store.names(rows.tolist()) == list(plain)
    whole = torch.cat([torch.empty(0, 2), *(vectors for _, vectors in store.segments())])
    assert torch.equal(whole[rows], store.vectors())
    starts = [start for start, _ in store.segments()]
    assert all(torch.equal(whole[start], store.at(torch.tensor([start]))[0]) for start in starts)


@settings(max_examples=40)
@given(steps)
def test_any_history_agrees_with_a_dictionary(tmp_path_factory, history):
    folder = tmp_path_factory.mktemp("store") / "index"
    store, plain, texts = Store(2), {}, {}
    for what, numbers in history:
        ids, before = (
            [f"id {number}\n" for number in numbers],
            [store.names([row])[0] for row in range(store.height)],
        )
        gone = store.alive()
        if what == "come":
            values = [float(len(texts) + place) for place in range(len(ids))]
            texts |= {value: {"value": value, "text": "\u2028\n"} for value in values}
            lines = [f'{{"value": {value}, "text": "\\u2028\\n"}}' for value in values]
            vectors = torch.tensor([[value, 0.0] for value in values]).reshape(-1, 2)
            store.apply(Change(ids, lines, vectors))
            for id, value in zip(ids, values, strict=True):
                plain.pop(id, None)
                plain[id] = value
        elif what == "go":
            store.apply(Change([id for id in ids if id in plain]))
            for id in ids:
                plain.pop(id, None)
        else:
            expected = store.closed()
            moved = store.rebase(folder, wrote(store, folder)) if what == "rebase" else store.compact()
            assert torch.equal(moved, expected)
            for row, place in enumerate(moved.tolist()):
                if place < 0:
                    assert gone is not None
                    assert not gone[row]
                else:
                    assert store.names([place]) == [before[row]]
            assert (store.height, store.alive()) == (len(plain), None)
        check(store, plain, texts=texts)
    check(Store.read(folder, wrote(store, folder)), plain, texts=texts)


def test_keeps_half_a_surrogate_pair_in_an_id(tmp_path):
    store = Store(1)
    store.apply(Change(["caf\udce9.png"], ["{}"], torch.ones(1, 1)))
    assert list(Store.read(tmp_path / "index", wrote(store, tmp_path / "index"))) == ["caf\udce9.png"]


def test_room_grows_by_doubling_and_not_at_every_addition(monkeypatch):
    shapes = []
    real = torch.empty
    monkeypatch.setattr(
        stores.torch, "empty", lambda *shape, **more: shapes.append(shape) or real(*shape, **more)
    )
    store = Store(3)
    del shapes[:]
    for place in range(1000):
        store.apply(Change([str(place)], ["{}"], torch.full((1, 3), float(place))))
    assert len(shapes) <= 11
    assert torch.equal(store.vectors()[:, 0], torch.arange(1000.0))


def test_is_wasteful_when_most_is_removed(monkeypatch):
    monkeypatch.setattr(stores, "FEWEST_GONE", 2)
    store = Store(1)
    store.apply(Change(list("abcdef"), ["{}"] * 6, torch.ones(6, 1)))
    store.apply(Change(list("abc")))
    assert not store.wasteful
    store.apply(Change(["d"]))
    assert store.wasteful
    store.compact()
    assert not store.wasteful


def test_an_unknown_id_is_named():
    with pytest.raises(SettingError, match='there is no id "a"; Known: none'):
        Store(1).rows(["a"])


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros((2, 2), np.float32), r"vectors.1.npy holds float32 \(2, 2\), expected float32 \(1, 2\)"),
        (np.zeros((1, 2), np.float64), "holds float64"),
    ],
)
def test_vectors_that_do_not_fit_the_header_are_damage(tmp_path, array, says):
    store = Store(2)
    store.apply(Change(["a"], ["{}"], torch.ones(1, 2)))
    header = wrote(store, tmp_path / "index")
    np.save(tmp_path / "index" / "vectors.1.npy", array)
    with pytest.raises(SpaceError, match=says):
        Store.read(tmp_path / "index", header)


def test_ids_that_do_not_fit_the_header_are_damage(tmp_path):
    header = wrote(Store(2), tmp_path / "index")
    with pytest.raises(SpaceError, match="0 ids for 1 vectors"):
        Store.read(tmp_path / "index", header | {"count": 1})


@pytest.mark.parametrize(
    "lines",
    [b"", b'{"a": 1}\n', b'{"a": 1}\n{"a"\n', b'{"a": 1}\n[1]\n', b'{"a": 1}\n{"\xff": 1}\n{', b"\n\n"],
)
def test_metadata_that_is_missing_or_no_object_is_damage(tmp_path, lines):
    store = Store(2)
    store.apply(Change(["a", "b"], ["{}", "{}"], torch.ones(2, 2)))
    header = wrote(store, tmp_path / "index")
    (tmp_path / "index" / "metadata.1.jsonl").write_bytes(lines)
    again = Store.read(tmp_path / "index", header)
    if b"\xff" in lines:  # some letters are lost, and nothing else
        assert again.metadata(["a", "b"]) == [{"a": 1}, {"\ufffd": 1}]
        return
    with pytest.raises(SpaceError, match=r'is damaged: it has no metadata of "[ab]"; make it again'):
        again.metadata(["a", "b"])


def test_an_id_that_comes_twice_is_damage(tmp_path):
    store = Store(2)
    store.apply(Change(["a", "b"], ["{}", "{}"], torch.ones(2, 2)))
    header = wrote(store, tmp_path / "index")
    (tmp_path / "index" / "ids.1.txt").write_bytes(b"a\0a\0")
    with pytest.raises(SpaceError, match="an id comes twice"):
        Store.read(tmp_path / "index", header)
