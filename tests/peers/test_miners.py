"""The miners against pytorch-metric-learning's, where both have the same one."""

import pytest
import torch

from samekind.miners import informative, semi_hard
from samekind.miners.distance_weighted import chords, draw_chances
from samekind.pairs import pair_masks
from samekind.similarities import Cosine, Euclidean

peers = pytest.importorskip("pytorch_metric_learning.miners", reason="needs the extra `peers`")
distances = pytest.importorskip("pytorch_metric_learning.distances")
weighting = pytest.importorskip("pytorch_metric_learning.miners.distance_weighted_miner")

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])


@pytest.fixture(params=range(3))
def z(request):
    generator = torch.Generator().manual_seed(request.param)
    return torch.randn(len(LABELS), 5, dtype=torch.double, generator=generator)


def listed(*indices):
    return set(zip(*(column.tolist() for column in indices), strict=True))


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.4])
def test_informative_is_their_multi_similarity_miner(z, margin):
    theirs = peers.MultiSimilarityMiner(epsilon=margin)(z, LABELS)
    rows, positive, negative = informative(Cosine().score_all(z, z), *pair_masks(LABELS), margin=margin)
    assert rows.tolist() == list(range(len(LABELS)))
    assert listed(*positive.nonzero(as_tuple=True)) == listed(*theirs[:2])
    assert listed(*negative.nonzero(as_tuple=True)) == listed(*theirs[2:])
    assert len(theirs[0])
    assert len(theirs[2])


@pytest.mark.parametrize("margin", [0.1, 0.5])
@pytest.mark.parametrize("normalise", [True, False])
def test_semi_hard_is_their_triplet_margin_miner(z, margin, normalise):
    distance = distances.LpDistance(normalize_embeddings=normalise)
    miner = peers.TripletMarginMiner(margin=margin, type_of_triplets="semihard", distance=distance)
    scores = Euclidean(normalise=normalise).score_all(z, z)
    rows, positive, negative = semi_hard(scores, *pair_masks(LABELS), margin=margin)
    row, rivals = negative.nonzero(as_tuple=True)
    ours = listed(rows[row], positive.int().argmax(1)[row], rivals)
    assert ours == listed(*miner(z, LABELS))
    assert ours


@pytest.mark.parametrize("kind", ["negative distance", "cosine"])
def test_distance_weighted_draws_by_their_weights(z, kind, monkeypatch):
    """Theirs are caught where they are drawn from; only anchors with a near negative have any there."""
    caught = {}

    def catch(labels, ref_labels, weights):
        caught["weights"] = weights
        return (torch.zeros(0, dtype=torch.long),) * 3

    monkeypatch.setattr(weighting.lmu, "get_random_triplet_indices", catch)
    peers.DistanceWeightedMiner(cutoff=0.5, nonzero_loss_cutoff=1.4)(z, LABELS)
    similarity = Cosine() if kind == "cosine" else Euclidean(normalise=True)
    ours = draw_chances(
        chords(similarity.score_all(z, z), kind),
        pair_masks(LABELS)[1],
        dimension=5,
        nearest=0.5,
        farthest=1.4,
    )
    near = caught["weights"].isfinite().all(1)
    assert near.sum() >= 5
    torch.testing.assert_close(ours[near], caught["weights"][near], atol=1e-5, rtol=1e-5)
