"""A fingerprint changes with what makes vectors, and with nothing else."""

import copy

import pytest
import torch
from torch import nn

from samekind.data import ImageReader, VectorReader
from samekind.encoders import MLP, Standardised
from samekind.index import space_fingerprint
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Euclidean
from samekind.space import MetricSpace


def space_of(encoder, *, similarity=None, reader=None):
    return MetricSpace(
        encoder, similarity or Cosine(), SupportMeans(classes=[], dimension=3), reader=reader
    ).eval()


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return MLP(inputs=4, dimension=3, hidden=[5])


def test_a_copy_and_a_loaded_space_have_the_same_fingerprint(encoder, tmp_path):
    space = space_of(encoder, reader=VectorReader(dimension=4))
    space.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space")
    assert space_fingerprint(space) == space_fingerprint(copy.deepcopy(space)) == space_fingerprint(again)


def test_classes_and_the_similarity_do_not_count(encoder):
    space = space_of(encoder)
    before = space_fingerprint(space)
    space.enroll("new", torch.ones(2, 3))
    assert space_fingerprint(space) == before
    assert space_fingerprint(space_of(encoder, similarity=Euclidean())) == before


def test_weights_settings_and_the_reader_count(encoder):
    other = copy.deepcopy(encoder)
    with torch.no_grad():
        next(other.parameters()).view(-1)[0] += 1e-6
    readers = [VectorReader(dimension=4), ImageReader(height=2, width=2)]
    spaces = [space_of(encoder), space_of(other), *(space_of(encoder, reader=reader) for reader in readers)]
    assert len({space_fingerprint(space) for space in spaces}) == len(spaces)


def test_a_standardised_foreign_encoder_has_a_fingerprint():
    def standardised(shift):
        encoder = nn.Linear(2, 3)
        nn.init.ones_(encoder.weight)
        nn.init.zeros_(encoder.bias)
        return space_of(Standardised(encoder=encoder, means=[shift, 0.0], deviations=[1.0, 1.0]))

    one, same, other = (space_fingerprint(standardised(mean)) for mean in (0.0, 0.0, 1.0))
    assert one == same != other


def test_a_foreign_encoder_has_a_fingerprint():
    one, other = nn.Linear(2, 3), nn.Linear(2, 3)
    assert space_fingerprint(space_of(one)) == space_fingerprint(space_of(copy.deepcopy(one)))
    assert space_fingerprint(space_of(one)) != space_fingerprint(space_of(other))
