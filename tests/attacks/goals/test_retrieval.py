"""Retrieval under attack: the nearest of the gallery by a plain sort."""

import pytest
import torch

from samekind.attacks import PGD, PICTURES, Linf
from samekind.attacks.goals import Retrieval
from samekind.errors import DataError


def first_own(known, goal, x, *, itself=False):
    """The rank, from 0, of the first gallery item of each query's own class; ``itself`` is left out."""
    with torch.no_grad():
        scores = known.space.score_all(known.space.embed(x), goal.gallery, kind=goal.kind)
    ranks = []
    for query, row in enumerate(scores):
        order = [place for place in row.argsort(descending=True).tolist() if not itself or place != query]
        ranks.append([bool(goal.same[query, place]) for place in order].index(True))
    return torch.tensor(ranks)


@pytest.mark.parametrize(
    ("rank", "kind"), [(1, "cosine"), (3, "cosine"), (1, "fused"), (2, "fitted"), (1, "normalised")]
)
def test_as_many_others_come_first_after_the_attack(known, rank, kind):
    goal = Retrieval(
        known.space, known.z, known.labels, known.labels, own=torch.arange(12), rank=rank, kind=kind
    )
    before = first_own(known, goal, known.x, itself=True)
    attacked = PGD(Linf(0.25), steps=15)(goal, known.x, limits=PICTURES)
    after = first_own(known, goal, attacked.x, itself=True)
    assert torch.equal(attacked.succeeded, after >= rank)
    assert (before < rank).sum() > 6
    assert attacked.succeeded[before < rank].any()


def test_a_query_that_is_not_in_the_gallery(known):
    goal = Retrieval(known.space, known.z[:8], known.labels[:8], known.labels[8:], kind="cosine")
    attacked = PGD(Linf(0.3), steps=10)(goal, known.x[8:], limits=PICTURES)
    assert torch.equal(attacked.succeeded, first_own(known, goal, attacked.x) >= 1)


def test_the_rank_must_exist(known):
    with pytest.raises(DataError, match="expected a rank from 1 to 9"):
        Retrieval(known.space, known.z, known.labels, known.labels, rank=10)
