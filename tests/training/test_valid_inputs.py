"""The unit of epsilon and the range of valid inputs: pictures, tables, arrays."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.attacks import SOUNDS, Linf, Relative
from samekind.data import ImageReader, Items, SoundReader, TableReader, clusters, digits
from samekind.encoders import MLP, Standardised
from samekind.errors import DataError, SettingError
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace
from samekind.training.valid_inputs import COLUMN_UNIT, valid_inputs


def space_of(encoder, dimension):
    return MetricSpace(encoder, Euclidean(), SupportMeans(dimension=dimension))


def table():
    x = torch.tensor([[1.0, 10.0, 0.5], [2.0, 30.0, 0.25], [4.0, 20.0, 0.0]])
    reader = TableReader(columns=("age", "income", "share"))
    return Items(x, torch.tensor([0, 1, 1]), ("a", "b"), "table", reader=reader)


def test_bytes_of_pictures_go_from_0_to_1():
    items = digits().take(torch.arange(5))
    inputs = valid_inputs(space_of(nn.Flatten(), 64), items)
    assert (inputs.unit, inputs.scale) == ("in the range of a pixel, 0 to 1", None)
    assert (inputs.limits.low, inputs.limits.high) == (0, 1)
    assert inputs.x.dtype == torch.float32
    assert 0 <= float(inputs.x.min()) <= float(inputs.x.max()) <= 1
    assert inputs.in_units(Linf(0.1)) == Linf(0.1)


def test_the_plane_of_the_original_size_is_fixed():
    inputs = torch.randint(0, 256, (5, 2, 4, 3), dtype=torch.uint8)
    reader = ImageReader(height=4, width=3, original_size=True)
    items = Items(inputs, torch.zeros(5, dtype=torch.int64), ("a",), "sized", reader=reader)
    limits = valid_inputs(space_of(nn.Flatten(), 24), items).limits
    moved = limits.bound(inputs / 255 + 0.5, inputs / 255)
    assert torch.equal(moved[:, 1], inputs[:, 1] / 255)
    assert (moved[:, 0] > inputs[:, 0] / 255).any()


def test_columns_are_in_the_deviations_of_the_encoder_and_whole_numbers_stay_whole():
    encoder = Standardised(encoder=MLP(inputs=3, dimension=2), means=[0, 0, 0], deviations=[1, 10, 0.5])
    inputs = valid_inputs(space_of(encoder, 2), table(), fixed=("income",))
    assert inputs.unit == COLUMN_UNIT
    assert inputs.scale.tolist() == [1, 10, 0.5]
    assert inputs.limits.low.tolist() == [1, 10, 0]
    assert inputs.limits.high.tolist() == [4, 30, 0.5]
    assert inputs.limits.integer.tolist() == [True, True, False]
    assert inputs.limits.fixed.tolist() == [False, True, False]
    assert inputs.notes == ("2 of 3 columns stay whole numbers", "fixed: income")
    assert inputs.measured(inputs.x)[1].tolist() == [2, 3, 0.5]
    assert inputs.in_units(Linf(0.1)).distance(inputs.x[:1], inputs.x[1:2]).item() == 2


def test_without_a_standardising_encoder_the_items_say():
    items = clusters(classes=2, items=30, dimension=4)
    inputs = valid_inputs(space_of(nn.Flatten(), 4), items)
    torch.testing.assert_close(inputs.scale, items.inputs.std(0, correction=0))


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(SettingError, match=r'no column "incom" to keep fixed; .*income'):
        valid_inputs(space_of(nn.Flatten(), 3), table(), fixed=("incom",))
    with pytest.raises(SettingError, match="only the columns of a table"):
        valid_inputs(space_of(nn.Flatten(), 64), digits().take(torch.arange(5)), fixed=("a",))


def test_sounds_keep_their_padding_and_features_are_refused():
    samples = torch.tensor([[[16384, -32767, 5]], [[100, -32768, -32768]]], dtype=torch.int16)
    sounds = Items(samples, torch.tensor([0, 1]), ("a", "b"), "sounds")
    inputs = valid_inputs(space_of(nn.Flatten(), 3), sounds)
    assert inputs.unit == "in the range of a sample, -1 to 1"
    assert inputs.limits == SOUNDS
    assert inputs.x.isnan().sum() == 2
    inputs.limits.expect(inputs.x.nan_to_num(-1.0))  # the loudest samples that a file has are valid
    region = inputs.in_units(Relative(0.1))
    assert isinstance(region, Relative)
    assert region.padding == -1
    with pytest.raises(SettingError, match="only the columns of a table can be fixed"):
        valid_inputs(space_of(nn.Flatten(), 3), sounds, fixed=["a"])
    features = replace(sounds, inputs=torch.zeros(2, 30, 50), reader=SoundReader())
    with pytest.raises(DataError, match="these are features; give the sounds"):
        valid_inputs(space_of(nn.Flatten(), 1500), features)
