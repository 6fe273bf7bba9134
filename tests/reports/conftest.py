"""A space anyone can see through: the embedding is the item itself, the similarity minus the distance."""

import pytest
import torch
from torch import nn

from samekind.data import Items, clusters
from samekind.evaluation import Row
from samekind.inference import settle
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace


@pytest.fixture
def vectors():
    """Three classes of eight vectors that overlap a little."""
    return clusters(classes=3, items=8, dimension=4, spread=0.6, seed=0)


@pytest.fixture
def images():
    """Two classes of six grey pictures, dark and light; the last dark one is nearer to the light ones."""
    inputs = torch.rand(12, 1, 4, 4, generator=torch.Generator().manual_seed(0)) / 4
    labels = torch.tensor([0] * 6 + [1] * 6)
    inputs[5] += 0.45
    inputs[6:] += 0.7
    return Items(inputs, labels, ("dark", "<b>light"), "pictures")


@pytest.fixture
def space_for():
    """From items to a space that knows their classes and has its thresholds."""

    def build(items):
        dimension = items.inputs[0].numel()
        space = MetricSpace(nn.Flatten(), Euclidean(), SupportMeans(dimension=dimension))
        settle(space, items, items)
        return space

    return build


@pytest.fixture
def record():
    """Three epochs of two terms, the second epoch the last that was best."""
    return [
        {
            "epoch": epoch,
            "loss": 3.0 / epoch,
            "terms": {"pair": 1.0 / epoch, "class": 2.0 / epoch},
            "rate": 0.1,
            "validation": {"eer": 0.1 / epoch, "eer similarity": 0.1 / epoch, "eer cosine": 0.4 / epoch},
            "best": epoch <= 2,
        }
        for epoch in (1, 2, 3)
    ]


@pytest.fixture
def rows():
    """A few rows as an evaluation gives them."""
    return [
        Row("verification", "seen", "EER", "similarity", 0.02),
        Row("verification", "seen", "EER", "cosine", 0.01),
        Row("verification", "unseen", "EER", "similarity", 0.2),
        Row("verification", "unseen", "EER", "cosine", 0.3),
        Row("clustering", "seen", "NMI", "embedding", 0.9254),
        Row("few-shot", "seen", "5-way 1-shot", "similarity", 0.9, 0.88, 0.92),
    ]
