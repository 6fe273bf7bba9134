"""What is said about a shortlist: which case it is, and what can be done about it."""

import pytest
import torch

from samekind.index import Exact, Faiss
from samekind.inference.distil import QueryMap
from samekind.inference.shortlist import Shortlist
from samekind.questions import shortlists

FINDS = (
    "similarity: a shortlist of 37 of 17,970 finds 96.2% (95.0 to 97.3) of the 10 best "
    "(wanted 95.0%; 200 queries)"
)
WHOLE = "similarity: everything is compared"


def shortlist_of(**changes):
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


class OnAServer(Exact):
    remote = True


def structured(structure):
    index = Faiss(2, structure=structure)
    index.add([str(place) for place in range(300)], torch.randn(300, 2))
    index.build()
    return index


@pytest.mark.parametrize(
    ("shortlist", "held", "says"),
    [
        (shortlist_of(), 17_970, FINDS),
        (
            shortlist_of(plain_size=1258, query_map=QueryMap(dimension=2)),
            17_970,
            f"{FINDS}; distilled, without that 1,258",
        ),
        (
            shortlist_of(query_map=QueryMap(dimension=2)),
            17_970,
            f"{FINDS}; distilled, without that more than is worth it",
        ),
        (
            shortlist_of(size=None, count=36),
            40,
            f"{WHOLE}: with up to 1,000 vectors that is quick, and needs no shortlist",
        ),
        (
            shortlist_of(size=None, count=1_100, k=200),
            1_100,
            f"{WHOLE}: with up to 1,600 vectors that is quick, and needs no shortlist",
        ),
        (
            shortlist_of(size=None, count=36),
            1_236,
            f"{WHOLE}: the index held 36 when that was measured, and holds 1,236 now",
        ),
        (
            shortlist_of(size=None),
            40_000,
            f"{WHOLE}: the index held 17,970 when that was measured, and holds 40,000 now",
        ),
        (
            shortlist_of(size=None, wanted=1.0),
            40_000,
            f"{WHOLE}: a recall of 1 was asked for",
        ),
        (
            shortlist_of(size=None, sample=1200, count=1200, wanted=0.999),
            1200,
            f"{WHOLE}: 1,200 vectors are too few to promise a recall of 0.999",
        ),
        (
            shortlist_of(size=None),
            17_970,
            f"{WHOLE}: no shortlist of up to 4,492 finds 95.0% of the 10 best",
        ),
        (
            shortlist_of(size=None, count=1_000_000),
            1_000_000,
            f"{WHOLE}: no shortlist of up to 16,383 finds 95.0% of the 10 best",
        ),
    ],
)
def test_a_shortlist_in_a_sentence(shortlist, held, says):
    assert shortlists.sentence(shortlist, held=held) == says


@pytest.mark.parametrize(
    ("index", "distilled", "structures"),
    [
        (Exact(2), True, ()),
        (Exact(2), False, ()),
        (OnAServer(2), True, ()),
        ("flat", True, ()),
        ("hnsw", True, ("flat",)),
        ("ivf", True, ("hnsw", "flat")),
        ("pq", False, ("hnsw", "flat")),
    ],
)
def test_advice_depends_on_how_the_index_was_built(index, distilled, structures):
    index = structured(index) if isinstance(index, str) else index
    shortlist = shortlist_of(size=None, distilled=distilled)
    assert shortlists.warning(shortlist, held=17_970) == (
        "every search compares all 17,970 vectors, which is slow"
    )
    expected = shortlists.Advice("rebuild", structures=structures, distil=not distilled)
    assert shortlists.advice(shortlist, index, held=17_970) == expected


@pytest.mark.parametrize(
    ("shortlist", "held", "expected"),
    [
        (shortlist_of(), 17_970, None),
        (shortlist_of(size=None, count=36), 40, None),
        (shortlist_of(size=None), 40_000, shortlists.Advice("add")),
        (shortlist_of(size=None, wanted=1.0), 40_000, shortlists.Advice("lower recall", recall=0.95)),
    ],
)
def test_advice_is_for_those_who_need_it(shortlist, held, expected):
    assert shortlists.advice(shortlist, Exact(2), held=held) == expected


def test_names_the_highest_recall_that_can_be_promised():
    shortlist = shortlist_of(size=None, sample=1200, count=1200, wanted=0.999)
    assert shortlists.advice(shortlist, Exact(2), held=1200).recall == 0.996
    assert 0.025 ** (1 / 1200) > 0.996  # of 1,200 that all find it, so many would at the least


@pytest.mark.parametrize(
    ("shortlist", "held"),
    [
        (shortlist_of(), 17_970),
        (shortlist_of(size=None, count=36), 36),
        (shortlist_of(size=None, wanted=1.0), 17_970),
        (shortlist_of(size=None), 40_000),  # may no longer be so
    ],
)
def test_gives_no_warning_otherwise(shortlist, held):
    assert shortlists.warning(shortlist, held=held) is None


def test_json_has_the_reason_and_no_weights():
    content = shortlists.to_json(shortlist_of(query_map=QueryMap(dimension=2)), Exact(2), held=17_970)
    assert (content["query_map"], content["size"], content["why"], content["warning"]) == (
        True,
        37,
        None,
        None,
    )
    content = shortlists.to_json(shortlist_of(size=None), Exact(2), held=17_970)
    assert (content["query_map"], content["why"]) == (False, "too long")
    assert content["warning"].startswith("every search compares all 17,970 vectors")
    assert content["advice"]["what"] == "rebuild"
