"""What the commands about indexes share; the commands' own tests show the rest."""

import pytest
import torch

from samekind.cli import galleries
from samekind.errors import SettingError
from samekind.index import Exact, Faiss
from samekind.inference import QueryMap, Shortlist


def made(**changes):
    fields = {
        "kind": "similarity",
        "size": 37,
        "k": 10,
        "recall": 0.9615,
        "interval": (0.9503, 0.9727),
        "wanted": 0.95,
        "sample": 200,
        "count": 17_970,
        "similarity": "abc",
    }
    return Shortlist(**fields | changes)


@pytest.mark.parametrize(
    ("shortlist", "says"),
    [
        (
            made(),
            "similarity: a shortlist of 37 of 17,970 finds 96.2% (95.0 to 97.3) of the 10 best "
            "(wanted 95.0%; 200 queries)",
        ),
        (
            made(plain_size=1258, query_map=QueryMap(dimension=2)),
            "similarity: a shortlist of 37 of 17,970 finds 96.2% (95.0 to 97.3) of the 10 best "
            "(wanted 95.0%; 200 queries); distilled, without that 1,258",
        ),
        (
            made(query_map=QueryMap(dimension=2)),
            "similarity: a shortlist of 37 of 17,970 finds 96.2% (95.0 to 97.3) of the 10 best "
            "(wanted 95.0%; 200 queries); distilled, without that more than is worth it",
        ),
        (made(size=None), "similarity: everything is compared (measured with 17,970 vectors)"),
    ],
)
def test_a_shortlist_in_a_sentence(shortlist, says):
    assert galleries.sentence(shortlist) == says


def test_programs_are_spared_the_weights():
    told = galleries.as_json(made(query_map=QueryMap(dimension=2)))
    assert (told["query_map"], told["size"]) == (True, 37)
    assert galleries.as_json(made())["query_map"] is False


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
