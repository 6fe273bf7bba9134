"""A small space that knows every kind of score, with thresholds, and items it was not fitted to."""

from types import SimpleNamespace

import pytest
import torch

from samekind.decisions import Decision
from samekind.encoders import MLP
from samekind.inference import fit_decision
from samekind.inference.fitting import neighbourhood
from samekind.inference.trials import Trials
from samekind.prototypes import SupportMeans
from samekind.similarities import CorrectedCosine, TwoCovariance
from samekind.space import MetricSpace


def drawn(count, *, seed):
    """Items (n, 6) in [0, 1] around four corners, and their classes."""
    labels = torch.arange(count) % 4
    corners = torch.rand(4, 6, generator=torch.Generator().manual_seed(5)) * 0.6 + 0.2
    noise = 0.08 * torch.randn(count, 6, generator=torch.Generator().manual_seed(seed))
    return (corners[labels] + noise).clamp(0, 1), labels


def thresholds(space, z, labels):
    """A decision at equal errors for every kind of score, from all pairs of embeddings."""
    first, second = torch.triu_indices(len(z), len(z), 1)
    same = labels[first] == labels[second]
    for kind in space.kinds:
        scores = space.score(z[first], z[second], kind=kind).double()
        trials = Trials(scores, same, labels[first].int(), labels[second].int())
        space.decisions[kind] = fit_decision(trials, kind=kind, description="pairs")


@pytest.fixture(scope="session")
def known():
    """The space, items ``x``, their ``labels`` and embeddings ``z``."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = MLP(inputs=6, dimension=4, hidden=(16,))
        similarity = CorrectedCosine(dimension=4, hidden=8)
        torch.nn.init.normal_(similarity.network.last.weight, std=0.1)
    with torch.no_grad():
        x, labels = drawn(80, seed=1)
        z = encoder(x)
        prototypes = SupportMeans([f"class {name}" for name in range(4)], dimension=4)
        prototypes.assign(
            prototypes.classes, torch.stack([z[labels == name].mean(0) for name in range(4)])[:, None]
        )
        space = MetricSpace(encoder, similarity, prototypes)
        space.fitted = TwoCovariance(dimension=4)
        space.fitted.fit(z, labels)
        space.normalised = neighbourhood(space.scorer("cosine"), z)
        space.eval()
        thresholds(space, z, labels)
        best = space.score_classes(z, kind="cosine").amax(1)
        space.open_set = Decision(
            "cosine", float(best.quantile(0.1)), "eer", "ten known", 0.1, 0.1, (10.0, 0.0)
        )
        x, labels = drawn(12, seed=2)
        return SimpleNamespace(space=space, x=x, labels=labels, z=space.embed(x))
