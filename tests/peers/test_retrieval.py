"""Measures of retrieval and clustering against pytorch-metric-learning's, on the same embeddings."""

import pytest
import torch
from torch import nn

from samekind.inference import search
from samekind.measures import (
    adjusted_mutual_information,
    mean_average_precision,
    mean_over_classes,
    normalised_mutual_information,
    relevant_counts,
    retrieval_means,
    retrieval_values,
)
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

calculators = pytest.importorskip(
    "pytorch_metric_learning.utils.accuracy_calculator", reason="needs the extra `peers`"
)
inference = pytest.importorskip("pytorch_metric_learning.utils.inference")
distances = pytest.importorskip("pytorch_metric_learning.distances")

GENERATOR = torch.Generator().manual_seed(0)
LABELS = torch.randint(12, (80,), generator=GENERATOR)
LABELS[:2] = torch.tensor([20, 21])  # each alone in its class
Z = torch.randn(22, 6, generator=GENERATOR)[LABELS] + torch.randn(80, 6, generator=GENERATOR)
SPACE = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=6)).eval()
NAMES = {
    "precision_at_1": "Precision@1",
    "r_precision": "R-precision",
    "mean_average_precision_at_r": "MAP@R",
}


def calculator(k, **settings):
    """Its neighbours by its own distance, exactly; FAISS is for the benchmark."""
    plain = inference.CustomKNN(distances.LpDistance(normalize_embeddings=False))
    return calculators.AccuracyCalculator(
        include=(*NAMES, "mean_average_precision", "mean_reciprocal_rank", "NMI", "AMI"),
        k=k,
        device=torch.device("cpu"),
        knn_func=plain,
        kmeans_func=lambda z, groups: z[:, 0].ge(0).long() + 2 * z[:, 1].ge(0).long(),
        **settings,
    )


@pytest.mark.parametrize("same", [True, False])
def test_agree_on_lists_of_as_many_as_are_relevant(same):
    queries, gallery = (Z, Z) if same else (Z[:30], Z[30:])
    labels, gallery_labels = (LABELS, LABELS) if same else (LABELS[:30], LABELS[30:])
    relevant = relevant_counts(labels, gallery=None if same else gallery_labels)
    places = search(SPACE, queries, gallery, k=int(relevant.max()), same_items=same).indices
    values = retrieval_values(
        gallery_labels[places],
        labels,
        relevant=relevant,
        ks=(1,),
        measures=("Precision", "R-precision", "MAP@R"),
    )
    ours = retrieval_means(values)
    assert ours.left_out >= 2
    theirs = calculator("max_bin_count").get_accuracy(
        queries, labels, *(() if same else (gallery, gallery_labels)), include=tuple(NAMES)
    )
    for name, mine in NAMES.items():
        assert ours.means[mine] == pytest.approx(theirs[name], abs=1e-9)


def test_agree_on_whole_rankings():
    places = search(SPACE, Z, Z, k=len(Z) - 1, same_items=True).indices
    ours = mean_average_precision(LABELS[places], LABELS, relevant=relevant_counts(LABELS))
    theirs = calculator(None).get_accuracy(Z, LABELS, include=("mean_average_precision",))
    assert ours == pytest.approx(theirs["mean_average_precision"], abs=1e-9)


@pytest.mark.parametrize("k", [3, 20])
def test_agree_on_lists_cut_after_k_and_on_averages_by_class(k):
    """Theirs divides an average precision by R, also where no more than k can be found."""
    places, relevant = search(SPACE, Z, Z, k=k, same_items=True).indices, relevant_counts(LABELS)
    values = retrieval_values(
        LABELS[places], LABELS, relevant=relevant, ks=(1, k), measures=("Precision", "MRR@k", "MAP@k")
    )
    values[f"MAP@{k}"] *= relevant.clamp(max=k) / relevant
    names = {"mean_average_precision": f"MAP@{k}", "precision_at_1": "Precision@1"}
    names["mean_reciprocal_rank"] = f"MRR@{k}"
    for by_class in (False, True):
        theirs = calculator(k, avg_of_avgs=by_class).get_accuracy(Z, LABELS, include=tuple(names))
        for name, mine in names.items():
            mean = mean_over_classes(values[mine], LABELS) if by_class else values[mine].nanmean().item()
            assert mean == pytest.approx(theirs[name], abs=1e-6)


def test_agree_on_the_same_groups():
    peer = calculator(None)
    theirs = peer.get_accuracy(Z, LABELS, include=("NMI", "AMI"))
    groups = peer.kmeans_func(Z, 4)
    assert normalised_mutual_information(groups, LABELS) == pytest.approx(theirs["NMI"], abs=1e-9)
    assert adjusted_mutual_information(groups, LABELS) == pytest.approx(theirs["AMI"], abs=1e-9)
