"""An index of mapped vectors finds by a fitted or normalised score what a scan of everything finds."""

import pytest
import torch
from torch import nn

from samekind.errors import SpaceError
from samekind.index import Exact, Faiss, open_index, space_fingerprint
from samekind.index.mapped import (
    can_be_stored,
    check_stored,
    index_fingerprint,
    is_of,
    stored_dimension,
    stored_kind,
    vectors_to_find,
    vectors_to_store,
)
from samekind.inference import search, search_index
from samekind.inference.fitting import neighbourhood
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork, TwoCovariance, WithinClass
from samekind.space import MetricSpace

GENERATOR = torch.Generator().manual_seed(0)
GALLERY, QUERIES = torch.randn(300, 6, generator=GENERATOR), torch.randn(20, 6, generator=GENERATOR)
IDS = [str(number) for number in range(300)]


def a_space(form=TwoCovariance, similarity=None):
    space = MetricSpace(nn.Identity(), similarity or Cosine(), SupportMeans(dimension=6)).eval()
    space.fitted = form(dimension=6).fit(GALLERY, torch.arange(300) % 9)
    space.normalised = neighbourhood(space.fitted, GALLERY[::3])
    return space


def filled(space, kind, make=Exact):
    index = make(stored_dimension(space, kind), score="dot", fingerprint=index_fingerprint(space, kind))
    index.add(IDS[:200], vectors_to_store(space, index, GALLERY[:200]))
    index.add(IDS[200:], vectors_to_store(space, index, 1.2 * GALLERY[200:]))
    return index


def places(answer):
    return torch.tensor([[int(id) for id in row] for row in answer.ids])


@pytest.mark.parametrize("kind", ["fitted", "normalised"])
@pytest.mark.parametrize("form", [WithinClass, TwoCovariance])
@pytest.mark.parametrize("make", [Exact, Faiss])
def test_finds_what_a_scan_of_everything_finds(kind, form, make):
    if make is Faiss:
        pytest.importorskip("faiss")
    space = a_space(form)
    gallery = torch.cat([GALLERY[:200], 1.2 * GALLERY[200:]])
    expected = search(space, QUERIES, gallery, k=10, kind=kind)
    answer = search_index(space, filled(space, kind, make), QUERIES, 10, kind=kind)
    torch.testing.assert_close(answer.scores, expected.scores, atol=1e-4, rtol=1e-4)
    assert (places(answer) == expected.indices).float().mean() > 0.99  # but for ties in the last digit
    embeddings = Exact(6, fingerprint=index_fingerprint(space))
    embeddings.add(IDS, gallery)
    plain = search_index(space, embeddings, QUERIES, 10, kind=kind)
    torch.testing.assert_close(plain.scores, expected.scores, atol=1e-4, rtol=1e-4)


def test_is_for_one_kind_of_score_and_one_similarity(tmp_path):
    space = a_space()
    filled(space, "fitted").save(tmp_path / "index")
    index = open_index(tmp_path / "index")
    assert stored_kind(index) == "fitted"
    assert is_of(index, space)
    with pytest.raises(SpaceError, match='for the score "fitted" and finds by nothing else'):
        search_index(space, index, QUERIES, 3, kind="cosine")
    other = a_space(WithinClass)
    assert not is_of(index, other)
    other.fitted = None
    assert not is_of(index, other)


def test_an_index_of_embeddings_is_for_every_kind():
    space = a_space()
    index = Exact(6, fingerprint=index_fingerprint(space))
    assert index.fingerprint == space_fingerprint(space)
    assert stored_kind(index) is None
    assert check_stored(index, "fitted") is None
    assert is_of(index, space)
    assert is_of(index, a_space(WithinClass))


def test_only_inner_products_can_be_stored():
    space = a_space()
    kinds = ["similarity", "cosine", "fitted", "normalised"]
    assert [can_be_stored(space, kind) for kind in kinds] == [False, False, True, True]
    torch.manual_seed(0)
    learned = a_space(similarity=PairsNetwork(dimension=6, hidden=4).eval())
    learned.normalised = neighbourhood(learned.similarity, GALLERY[:50])
    assert can_be_stored(learned, "fitted")
    assert not can_be_stored(learned, "normalised")
    learned.fitted = None
    assert not can_be_stored(learned, "fitted")


def test_stores_embeddings_unless_a_kind_is_named():
    space = a_space()
    index = Exact(6, fingerprint=index_fingerprint(space))
    assert vectors_to_store(space, index, GALLERY) is GALLERY
    assert vectors_to_find(space, index, GALLERY) is GALLERY
    assert index.notes == {}
    assert [stored_dimension(space, kind) for kind in (None, "fitted", "normalised")] == [6, 9, 11]


def test_stored_vectors_are_equally_long_and_products_are_the_scores(tmp_path):
    """So that a graph of neighbours finds by them; a later vector that is longer still scores right."""
    space = a_space()
    index = Exact(9, score="dot", fingerprint=index_fingerprint(space, "fitted"))
    stored, asked = vectors_to_store(space, index, GALLERY), vectors_to_find(space, index, QUERIES)
    torch.testing.assert_close(stored.norm(dim=1), torch.full((300,), index.notes["mapped length"]))
    torch.testing.assert_close(
        asked @ stored.T, space.score_all(QUERIES, GALLERY, kind="fitted"), atol=1e-4, rtol=1e-4
    )
    index.add(IDS, stored)
    index.save(tmp_path / "index")
    again = open_index(tmp_path / "index")
    long = vectors_to_store(space, again, 9 * GALLERY[:3])
    assert again.notes == index.notes
    scores = space.score_all(QUERIES, 9 * GALLERY[:3], kind="fitted")
    torch.testing.assert_close(asked @ long.T, scores, atol=1e-3, rtol=1e-4)


def test_what_is_no_inner_product_is_refused():
    torch.manual_seed(0)
    space = a_space(similarity=PairsNetwork(dimension=6, hidden=4).eval())
    space.normalised = neighbourhood(space.similarity, GALLERY[:50])
    with pytest.raises(SpaceError, match='"normalised" are no inner products'):
        stored_dimension(space, "normalised")
