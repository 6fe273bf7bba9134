"""Clean and attacked answers of a small space: made up, so that every number can be computed by hand."""

import pytest
import torch

from samekind.pairs import class_masks
from samekind.prototypes import LearnedProxies
from samekind.similarities import Cosine, FixedScale
from samekind.space import MetricSpace
from samekind.training.context import Candidates
from samekind.training.defences import Answers, Both
from samekind.training.objective import Value

Y = torch.tensor([0, 0, 1, 2])


class Passing(torch.nn.Module):
    """Items are their own embeddings."""

    dimension = 5

    def forward(self, x):
        return x


@pytest.fixture
def make():
    """Both answers, compared with three classes ("prototypes"), or with the batch alone."""

    def both(against="prototypes", y=Y, seed=0):
        generator = torch.Generator().manual_seed(seed)
        proxies = LearnedProxies(dimension=5, classes=["a", "b", "c"])
        space = MetricSpace(Passing(), Cosine(scale=FixedScale(value=4.0)), proxies).double()
        with torch.no_grad():
            proxies.vectors.copy_(torch.randn(3, 1, 5, generator=generator, dtype=torch.float64))

        def answers():
            z = torch.randn(len(y), 5, generator=generator, dtype=torch.float64, requires_grad=True)
            scores = space.score_classes(z) if against == "prototypes" else space.score_all(z, z)
            masks = class_masks(y, 3) if against == "prototypes" else None
            vectors = proxies.vectors.flatten(0, 1) if against == "prototypes" else z
            candidates = Candidates(space.similarity, z, vectors, torch.arange(3), y, scores, masks)
            return Answers(z, Value({"term": z.square().mean()}, {against: candidates}, None))

        return Both(space, answers(), answers(), y)

    return both


def cosine(one, other):
    """Of two vectors, the plain way."""
    return ((one @ other) / (one.norm() * other.norm())).item()
