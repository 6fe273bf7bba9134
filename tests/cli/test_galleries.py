"""What the commands about indexes share; the commands' own tests show the rest."""

import pytest
import torch

from samekind.cli import galleries
from samekind.errors import SettingError
from samekind.index import Exact, Faiss


@pytest.mark.parametrize(
    ("kind", "count", "expected", "structure"),
    [
        ("auto", 20_000, Exact, None),
        ("auto", 20_001, Faiss, "auto"),
        ("exact", 10**7, Exact, None),
        ("flat", 1, Faiss, "flat"),
        ("pq", 1, Faiss, "pq"),
    ],
)
def test_the_kind_is_chosen_by_size(kind, count, expected, structure):
    index = galleries.new_index(kind, 4, count=count, fingerprint="f", url=None, name=None)
    assert type(index) is expected
    assert (index.fingerprint, index.dimension) == ("f", 4)
    assert structure is None or index.kind == structure


class Far(Exact):
    """On a server, where every question is a journey."""

    url = "x://y"
    asked = 0

    def __contains__(self, id):
        self.asked += 1
        return super().__contains__(id)


def test_a_server_is_not_asked_about_every_id():
    index = Far(2)
    galleries.check_new(index, [str(place) for place in range(1000)])
    assert index.asked == galleries.MOST_ASKED
    index.add(["5"], torch.zeros(1, 2))
    with pytest.raises(SettingError, match='the id "5" is already there'):
        galleries.check_new(index, ["4", "5"])
