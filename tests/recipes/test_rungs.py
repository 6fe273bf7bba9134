"""The rungs: the raw input, and an encoder trained on some rows that embeds all of them."""

import pytest
import torch

from samekind.data import clusters
from samekind.prototypes import SupportMeans
from samekind.recipes import house
from samekind.recipes.rungs import Rungs

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def rungs():
    items = clusters(classes=4, items=10, dimension=6, seed=1)
    small = ["epochs=1", "space.encoder.hidden=[8]", "space.encoder.dimension=5"]
    return Rungs(items, house(items).override(small), "cpu")


def test_the_first_rung_is_the_standardised_input(rungs):
    space, embedded, _ = rungs.untrained()
    assert rungs.first == "raw input"
    inputs = rungs.items.inputs
    by_hand = (inputs - inputs.mean(0)) / inputs.std(0, correction=0)
    torch.testing.assert_close(embedded.inputs, by_hand, atol=1e-5, rtol=1e-4)
    assert torch.equal(embedded.labels, rungs.items.labels)
    assert space.kinds == ["similarity"]


def test_a_trained_rung_knows_only_its_rows(rungs, tmp_path):
    rows = (rungs.items.labels < 3).nonzero().flatten()
    states = torch.get_rng_state()
    space, embedded, _ = rungs.trained(
        rows, validate=lambda space: {"recall@1": float(len(space.classes))}, folder=tmp_path
    )
    assert torch.equal(torch.get_rng_state(), states)
    assert embedded.inputs.shape == (40, 5)
    assert isinstance(space.prototypes, SupportMeans)
