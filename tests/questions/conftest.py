"""A space over the plane whose embeddings are the points themselves, and points at given angles."""

import pytest
import torch

from samekind.data import Collection, Items, VectorReader
from samekind.decisions import Decision
from samekind.encoders import MLP
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, FixedScale
from samekind.space import MetricSpace

CLASSES = {"right": 0, "up": 90, "left": 180}


def points(degrees):
    """Points (n, 2) of the unit circle."""
    angles = torch.deg2rad(torch.as_tensor(degrees, dtype=torch.float))
    return torch.stack([angles.cos(), angles.sin()], dim=1)


def decision(threshold, *, kind="similarity", calibration=(3.0, -1.0)):
    """A threshold as if it had been fitted."""
    return Decision(kind, threshold, "eer", "made up", 0.0, 0.0, calibration)


@pytest.fixture
def plane():
    """Three classes at 0, 90 and 180 degrees, compared by the cosine. It can be saved, and changed."""
    encoder = MLP(inputs=2, dimension=2, hidden=[])
    with torch.no_grad():
        encoder.embedding.weight.copy_(torch.eye(2))
        encoder.embedding.bias.zero_()
    prototypes = SupportMeans(list(CLASSES), dimension=2)
    prototypes.assign(list(CLASSES), points(list(CLASSES.values()))[:, None])
    similarity = Cosine(scale=FixedScale(10.0))
    return MetricSpace(encoder, similarity, prototypes, reader=VectorReader(dimension=2)).eval()


@pytest.fixture(scope="session")
def at():
    """A collection of points at these angles, in degrees, with these labels."""

    def collection(degrees, labels=None):
        labels = [None] * len(degrees) if labels is None else labels
        ids = tuple(f"{angle} degrees" for angle in degrees)
        return Collection(points(degrees), ids, tuple(labels), (("bad.npy", "cannot be read"),))

    return collection


@pytest.fixture(scope="session")
def items_at():
    """Labelled items at these angles."""

    def items(degrees, labels):
        classes = tuple(dict.fromkeys(labels))
        numbers = torch.tensor([classes.index(label) for label in labels])
        return Items(inputs=points(degrees), labels=numbers, classes=classes, name="points")

    return items


@pytest.fixture(scope="session")
def threshold():
    return decision


@pytest.fixture
def progress():
    """A progress callback that counts: its ``titles`` with (total, reported)."""
    from contextlib import contextmanager

    @contextmanager
    def watch(title, total):
        watch.titles[title] = [total, 0]

        def advance(count):
            watch.titles[title][1] += count

        yield advance

    watch.titles = {}
    return watch
