"""A training that collapses goes back to its start at a lower rate, twice, and no further."""

import pytest
import torch

from samekind.data import clusters
from samekind.recipes import house
from samekind.recipes.recovering import ATTEMPTS, SLOWER, lowered, train_recovering
from samekind.training import Nobody, RunFolder

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def items():
    return clusters(classes=4, items=10, dimension=6, seed=1)


@pytest.fixture
def run(items):
    return house(items).override(["epochs=2", "space.encoder.hidden=[8]", "space.encoder.dimension=5"])


class Rates(Nobody):
    def __init__(self):
        self.begun = 0

    def begin(self, *, steps, done):
        self.begun += 1


def collapsing(above):
    """A validation that sets weights so that all embeddings are equal, as long as the attempt is to fail."""

    def validate(space):
        with torch.no_grad():
            if above():
                for weight in space.encoder.parameters():
                    weight.zero_()
                space.encoder.encoder.embedding.bias.fill_(100.0)
        return {"recall@1": 0.5, "eer": 0.5}

    return validate


@pytest.mark.parametrize("too_fast", [0, 1, ATTEMPTS, 9])
def test_the_rate_is_lowered_until_it_holds(run, items, tmp_path, too_fast):
    watcher = Rates()
    train_recovering(
        run.override(["optimiser.weight_decay=0"]),
        items,
        folder=tmp_path,
        validate=collapsing(lambda: watcher.begun <= too_fast),
        watcher=watcher,
        device="cpu",
    )
    attempts = min(too_fast, ATTEMPTS) + 1
    assert watcher.begun == attempts
    rate = RunFolder(tmp_path).run().optimiser.rate
    assert rate == pytest.approx(run.optimiser.rate / SLOWER ** (attempts - 1))
    assert len(RunFolder(tmp_path).record.lines()) == 2


def test_all_rates_are_lowered(run):
    slower = lowered(run, 10).optimiser
    assert slower.rate == pytest.approx(run.optimiser.rate / 10)
    assert slower.rates["prototypes"] == pytest.approx(run.optimiser.rates["prototypes"] / 10)
