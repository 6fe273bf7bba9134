"""The rungs: the raw input, and an encoder trained on some rows that embeds all of them."""

from dataclasses import replace

import pytest
import torch

from samekind.data import clusters, prepare
from samekind.encoders import Compressed, Unchanged
from samekind.inference import embed
from samekind.prototypes import SupportMeans
from samekind.recipes import house
from samekind.recipes.rungs import Rungs

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def rungs():
    sets = prepare(clusters(classes=4, items=20, dimension=6, seed=1))
    small = ["epochs=1", "space.encoder.hidden=[8]", "space.encoder.dimension=5"]
    return Rungs(sets, house(sets.train).override(small), "cpu")


def every(rungs):
    return torch.arange(len(rungs.sets.train))


def test_the_first_rung_is_the_standardised_input(rungs):
    fitted = rungs.untrained()
    assert rungs.first == "raw input"
    inputs = rungs.sets.train.inputs
    by_hand = (inputs - inputs.mean(0)) / inputs.std(0, correction=0)
    torch.testing.assert_close(fitted.embedded(every(rungs)).inputs, by_hand, atol=1e-5, rtol=1e-4)
    assert fitted.space.kinds == ["similarity"]


def test_a_space_of_features_becomes_one_of_the_items(rungs):
    for fitted in (rungs.untrained(), rungs.headed(rungs.untrained(), every(rungs))):
        whole = fitted.whole(rungs.sets.train)
        z = embed(whole, rungs.sets.train.inputs)
        torch.testing.assert_close(z, fitted.embedded(every(rungs)).inputs)
        assert whole.reader is not None


def test_a_trained_rung_knows_only_its_rows(rungs, tmp_path):
    rows = (rungs.sets.train.labels < 3).nonzero().flatten()
    states, seen = torch.get_rng_state(), []

    def validate(space):
        seen.append(space.classes)
        return {"recall@1": 1.0}

    space, features, choice = rungs.trained(rows, validate=validate, folder=tmp_path)
    assert torch.equal(torch.get_rng_state(), states)
    assert features.train.inputs.shape == (len(rungs.sets.train), 5)
    assert isinstance(space.prototypes, SupportMeans)
    assert all(len(classes) == 3 for classes in seen)
    assert choice is not None


def test_features_are_compressed_where_the_run_asks_for_it(rungs):
    short = replace(rungs, run=rungs.run.override(["compress=3"]))
    fitted = short.with_similarities(short.untrained(), every(rungs))
    assert embed(fitted.whole(rungs.sets.train), rungs.sets.train.inputs).shape[1] == 3


def test_networks_in_a_row_are_projected_to_few_numbers_by_the_rows_alone(rungs, monkeypatch):
    monkeypatch.setattr("samekind.recipes.rungs.NUMBERS", 4)
    rows = torch.arange(30)
    other = Compressed(encoder=Unchanged(inputs=6), dimension=2).eval()
    plain = rungs.side_by_side(rungs.untrained(), [other])
    assert plain(rows).embedded(every(rungs)).inputs.shape[1] == 4
    assert plain(rows[:3]).embedded(every(rungs)).inputs.shape[1] == 3  # three items have three directions
    spoilt = plain(rows).features.train.inputs[30:]
    before = plain(rows).embedded(rows).inputs
    spoilt.fill_(7.0)
    torch.testing.assert_close(plain(rows).embedded(rows).inputs, before)
