"""A small training run: items, settings, a validation, and ways to look at what came of it."""

import pytest
import torch

from samekind.data import clusters
from samekind.evaluation import validation
from samekind.recipes import prototypical
from samekind.training import build_space


@pytest.fixture(scope="session")
def items():
    """48 vectors in 4 classes: three batches of 16 an epoch."""
    return clusters(classes=4, items=12, dimension=6, seed=1)


@pytest.fixture(scope="session")
def validate(items):
    return validation(clusters(classes=4, items=12, dimension=6, seed=1, spread=0.5))


@pytest.fixture(scope="session")
def run(items):
    """All that has a state, in small: dropout, running averages, momentum, random targets."""
    small = ["space.encoder.dimension=5", "space.encoder.hidden=[8]", "space.encoder.dropout=0.2"]
    small += ["space.similarity.hidden=8", "batches.size=16", "epochs=3", "schedule={name='constant'}"]
    small += ["space.standardise=none"]
    fixed = ["optimiser={name='SGD', rate=0.05, momentum=0.9, weight_decay=5e-4}", "clip=10"]
    return prototypical(items.shape).override(small + fixed)


@pytest.fixture
def plain(run):
    """The prototypical run without anything random."""
    plain = ["terms.class.smoothing=0", "terms.pair.smoothing=0", "terms.auxiliary.smoothing=0"]
    return run.override([*plain, "space.similarity.dropout=0", "space.encoder.dropout=0"])


@pytest.fixture
def space(plain, items):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return build_space(plain, items)


@pytest.fixture
def z():
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()


@pytest.fixture(autouse=True)
def one_thread():
    """Bit-equal results are promised for one way of adding up."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
