"""Which index is made: by its name, and by the number of vectors."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.index import Exact, Faiss, making, new_index


@pytest.mark.parametrize(
    ("index_type", "count", "expected", "structure"),
    [
        ("auto", 20_000, Exact, None),
        ("auto", 20_001, Faiss, "auto"),
        ("exact", 10**7, Exact, None),
        ("flat", 1, Faiss, "flat"),
        ("pq", 1, Faiss, "pq"),
    ],
)
def test_the_type_is_chosen_by_size(index_type, count, expected, structure):
    index = new_index(index_type, 2, count=count, fingerprint="mark")
    assert type(index) is expected
    assert (index.fingerprint, index.dimension) == ("mark", 2)
    assert structure is None or index.structure == structure


class OnAServer(Exact):
    def __init__(self, dimension, *, score, url, name, fingerprint):
        super().__init__(dimension, score=score, fingerprint=fingerprint)
        self.url, self.name = url, name
        if name == "filled":
            self.add(["there"], torch.zeros(1, dimension))


@pytest.mark.parametrize("index_type", ["postgres", "milvus"])
def test_an_index_on_a_server_is_new_and_has_a_name(monkeypatch, index_type):
    monkeypatch.setattr(making, index_type.title(), OnAServer)
    assert new_index(index_type, 2, count=1, url="x://y", name="mine").url == "x://y"
    monkeypatch.setenv("SAMEKIND_INDEX_URL", "x://from-there")
    assert new_index(index_type, 2, count=1, name="mine").url == "x://from-there"
    assert new_index(index_type, 2, count=1, score="dot", name="mine").score == "dot"
    with pytest.raises(SettingError, match='there is an index "filled" with 1 vectors on that server'):
        new_index(index_type, 2, count=1, name="filled")
    with pytest.raises(SettingError, match="give its address"):
        new_index(index_type, 2, count=1)


def test_refuses_an_unknown_type_and_a_server_without_use():
    with pytest.raises(SettingError, match='no index type "hsnw"; did you mean "hnsw"'):
        new_index("hsnw", 2, count=1)
    with pytest.raises(SettingError, match="exact is kept in a folder"):
        new_index("exact", 2, count=1, name="mine")
