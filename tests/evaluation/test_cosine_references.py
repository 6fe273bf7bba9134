"""Two better cosines, against their definitions item by item."""

import pytest
import torch
import torch.nn.functional as F

from samekind.data import clusters
from samekind.evaluation import cosine_references
from samekind.measures import equal_error_rate

ITEMS = clusters(classes=4, items=6, dimension=5, spread=1.5, seed=1)
KNOWN = torch.randn(30, 5, generator=torch.Generator().manual_seed(2)) + 3


def rates(scores):
    """EER of all pairs, earlier item first."""
    first, second = torch.triu_indices(len(scores), len(scores), 1)
    same = ITEMS.labels[first] == ITEMS.labels[second]
    return equal_error_rate(scores[first, second], same).rate


def first_neighbours(scores):
    nearest = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -torch.inf).argmax(1)
    return float((ITEMS.labels[nearest] == ITEMS.labels).double().mean())


def cosines(a, b):
    return F.normalize(a, dim=1) @ F.normalize(b, dim=1).T


def test_one_is_centred_and_the_other_is_normalised_by_its_cohort():
    z = ITEMS.inputs + 3
    rows = cosine_references(ITEMS, z, KNOWN, name="unseen", ks=(1,))
    values = {(row.kind, str(row.measure)): row.value for row in rows}
    assert {row.items for row in rows} == {"unseen"}

    centred = cosines(z - KNOWN.mean(0), z - KNOWN.mean(0))
    assert values["centred cosine", "EER"] == pytest.approx(rates(centred))
    assert values["centred cosine", "Recall@1"] == pytest.approx(first_neighbours(centred))

    closest = cosines(z, KNOWN).sort(descending=True).values[:, :29]
    means, deviations = closest.mean(1), closest.std(1, correction=0)
    plain = cosines(z, z)
    normalised = (plain - means[:, None]) / deviations[:, None] + (plain - means) / deviations
    assert values["AS-norm cosine", "EER"] == pytest.approx(rates(normalised))
    assert values["AS-norm cosine", "Recall@1"] == pytest.approx(first_neighbours(normalised))
    assert values["centred cosine", "EER"] != values["AS-norm cosine", "EER"]


def test_embeddings_in_one_corner_are_separated_after_centring():
    """Far from the origin every cosine is near 1."""
    z = F.one_hot(ITEMS.labels, 5) * 0.1 + torch.tensor([100.0, 0, 0, 0, 0])
    rows = cosine_references(ITEMS, z, z, name="seen", ks=(1,))
    recall = next(row for row in rows if row.kind == "centred cosine" and row.measure == "Recall@1")
    assert recall.value == 1
