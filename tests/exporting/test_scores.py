"""Every similarity of the room as graphs: the same scores."""

import numpy as np
import pytest
import torch

from samekind import similarities as room
from samekind.exporting.scores import score_graphs
from samekind.portable.scores import Score
from samekind.portable.sessions import Session

DIMENSION = 6


def network():
    return room.PairsNetwork(dimension=DIMENSION, hidden=8, depth=2)


def embeddings(count, seed=0):
    return torch.randn(count, DIMENSION, generator=torch.Generator().manual_seed(seed))


def fitted(similarity):
    return similarity.fit(embeddings(40), torch.arange(40) % 8)


def normalised(similarity, form):
    space = room.Neighbourhood(similarity, size=40, dimension=DIMENSION, form=form)
    return space.with_cohort(embeddings(40))


def plain(name):
    sized = {"CorrectedCosine", "Mahalanobis", "PairsNetwork"}
    return getattr(room, name)(**({"dimension": DIMENSION} if name in sized else {}))


CASES = {
    **{name: (lambda name=name: plain(name)) for name in room.SIMILARITIES},
    "Fused": lambda: room.Fused(network()),
    "on the sphere": lambda: room.LogDistance(normalise=True),
    "WithinClass": lambda: fitted(room.WithinClass(dimension=DIMENSION)),
    "TwoCovariance": lambda: fitted(room.TwoCovariance(dimension=DIMENSION)),
    "with a rank": lambda: fitted(room.TwoCovariance(dimension=DIMENSION, rank=4, normalise=True)),
    "Neighbourhood": lambda: normalised(room.Cosine(), "mean"),
    "of logits": lambda: normalised(network(), "as"),
    "of likelihoods": lambda: normalised(CASES["TwoCovariance"](), "s"),
}


def test_no_similarity_is_forgotten():
    assert {*room.SIMILARITIES, *room.FITTED} <= set(CASES)


@pytest.mark.parametrize("name", list(CASES))
def test_agrees_with_pytorch(name):
    torch.manual_seed(0)
    similarity = CASES[name]().eval()
    graphs = score_graphs(similarity, DIMENSION, kind="similarity")
    sessions = [None if part is None else Session(part, name) for part in (graphs.map, graphs.pairs)]
    score = Score(*sessions, graphs.counted, graphs.pair_bytes, 1.0)
    for rows, columns in ((1, 1), (5, 3), (2, 9)):
        a, b = embeddings(rows, seed=1), embeddings(columns, seed=2)
        with torch.no_grad():
            expected = room.score_all(similarity, a, b).numpy()
        scores = score.between(score.first(a.numpy()), score.second(b.numpy()))
        np.testing.assert_allclose(scores, expected, atol=2e-5, rtol=1e-4)
    if graphs.counted:
        a, counts = embeddings(5, seed=1), torch.tensor([0, 1, 2, 7, 1])
        with torch.no_grad():
            expected = room.score_enrolled(similarity, a, b, counts).numpy()
        scores = score.between(score.first(a.numpy(), counts.numpy()), score.second(b.numpy()))
        np.testing.assert_allclose(scores, expected, atol=2e-5, rtol=1e-4)


def test_where_two_meet_the_score_stays_finite():
    """The exporter's own optimiser would take epsilon for 0."""
    graphs = score_graphs(room.LogDistance(), DIMENSION, kind="similarity")
    z = embeddings(1)
    [[score]] = Session(graphs.pairs, "x").run(z.numpy(), z.numpy())
    assert score == pytest.approx(float(room.LogDistance()(z, z)), rel=1e-5)


def test_zero_and_huge_vectors_have_a_cosine():
    graphs = score_graphs(room.Cosine(), DIMENSION, kind="cosine")
    z = torch.cat([torch.zeros(1, DIMENSION), 1e30 * embeddings(1), 1e-30 * embeddings(1)])
    mapped = Session(graphs.map, "x").run(z.numpy(), output="first")
    np.testing.assert_allclose(mapped, room.Cosine().mapped(z).numpy(), atol=1e-6)
