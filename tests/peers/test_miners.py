"""The miners against pytorch-metric-learning's, where both have the same one."""

import pytest
import torch
import torch.nn.functional as F

from samekind.miners import angular, easy_hard, informative, pair_margin, semi_hard, triplet_margin
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


def triplets_of(rows, positive, negative):
    row, rivals = negative.nonzero(as_tuple=True)
    return listed(rows[row], positive.int().argmax(1)[row], rivals)


@pytest.mark.parametrize("triplets", ["all", "hard", "semi-hard", "easy"])
def test_triplet_margin(z, triplets):
    miner = peers.TripletMarginMiner(margin=0.3, type_of_triplets=triplets.replace("-", ""))
    scores = Euclidean(normalise=True).score_all(z, z)
    ours = triplets_of(*triplet_margin(scores, *pair_masks(LABELS), margin=0.3, triplets=triplets))
    assert ours == listed(*miner(z, LABELS))
    assert ours


def test_pair_margin(z):
    theirs = peers.PairMarginMiner(pos_margin=0.9, neg_margin=1.1)(z, LABELS)
    scores = Euclidean(normalise=True).score_all(z, z)
    _, positive, negative = pair_margin(scores, *pair_masks(LABELS), positive_margin=0.9, margin=1.1)
    assert listed(*positive.nonzero(as_tuple=True)) == listed(*theirs[:2])
    assert listed(*negative.nonzero(as_tuple=True)) == listed(*theirs[2:])


@pytest.mark.parametrize("negatives", ["hard", "semi-hard", "easy"])
@pytest.mark.parametrize("positives", ["hard", "semi-hard", "easy"])
def test_easy_hard_is_their_batch_easy_hard_miner(z, positives, negatives):
    if positives == negatives == "semi-hard":
        return  # refused by both
    miner = peers.BatchEasyHardMiner(
        pos_strategy=positives.replace("-", ""), neg_strategy=negatives.replace("-", "")
    )
    anchors, their_positives, _, their_negatives = miner(z, LABELS)
    scores = Euclidean(normalise=True).score_all(z, z)
    ours = easy_hard(scores, *pair_masks(LABELS), positives=positives, negatives=negatives)
    assert triplets_of(*ours) == listed(anchors, their_positives, their_negatives)


def test_easy_hard_is_their_batch_hard_miner(z):
    scores = Euclidean(normalise=True).score_all(z, z)
    ours = triplets_of(*easy_hard(scores, *pair_masks(LABELS)))
    assert ours == listed(*peers.BatchHardMiner()(z, LABELS))


@pytest.mark.parametrize("angle", [20, 40])
def test_angular(z, angle):
    """Theirs does not put the embeddings on the sphere, so here they are."""
    z = F.normalize(z)
    ours = triplets_of(
        *angular(Cosine().score_all(z, z), *pair_masks(LABELS), angle=float(angle), quantity="cosine")
    )
    assert ours == listed(*peers.AngularMiner(angle=angle)(z, LABELS))
    assert ours
