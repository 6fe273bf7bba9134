"""Means and deviations of the training items, against scikit-learn and against all at once."""

import pytest
import torch
from sklearn.preprocessing import StandardScaler

from samekind.data import ImageReader, Items, Stored, write_image
from samekind.errors import DataError, SettingError
from samekind.training import statistics
from samekind.training.statistics import statistics_of


def items_of(inputs):
    labels = torch.zeros(len(inputs), dtype=torch.int64)
    return Items(inputs, labels, ("a",), "things")


def wild(count=1300):
    """More than two chunks of features of very different scales, far from 0, one constant."""
    x = torch.randn(count, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return x * torch.tensor([1e-3, 1.0, 1e5, 0.0]) + torch.tensor([1e4, 0.0, -1e7, 0.1])


def test_scikit_learn_agrees_and_a_constant_feature_has_a_deviation_of_one():
    x = wild()
    means, deviations = statistics_of(items_of(x), "features")
    scaler = StandardScaler().fit(x.numpy())
    assert means == pytest.approx(scaler.mean_.tolist(), rel=1e-12, abs=1e-12)
    assert deviations == pytest.approx(scaler.scale_.tolist(), rel=1e-6)
    assert deviations[3] == 1


def test_one_item_has_no_spread():
    assert statistics_of(items_of(torch.tensor([[3.0, 4.0]])), "features") == ([3.0, 4.0], [1.0, 1.0])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_channels_are_counted_over_all_their_pixels(dtype):
    levels = torch.randint(256, (600, 3, 4, 5), generator=torch.Generator().manual_seed(0))
    x = levels.to(torch.uint8) if dtype == torch.uint8 else levels.float() / 255
    means, deviations = statistics_of(items_of(x), "channels")
    numbers = (levels.double() / 255).movedim(1, 0).flatten(1)
    assert means == pytest.approx(numbers.mean(1).tolist(), abs=1e-6)
    assert deviations == pytest.approx(numbers.std(1, correction=0).tolist(), abs=1e-6)


def test_stored_pictures_are_read_evenly(tmp_path, monkeypatch):
    images = torch.linspace(0, 1, 9).round(decimals=2).reshape(9, 1, 1, 1).expand(9, 1, 3, 3)
    for place, image in enumerate(images):
        write_image(tmp_path / f"{place}.png", image)
    stored = Stored([tmp_path / f"{place}.png" for place in range(9)], ImageReader(height=3, width=3))
    (whole,), _ = statistics_of(items_of(stored), "channels")
    assert whole == pytest.approx(images.mean().item(), abs=1 / 255)
    monkeypatch.setattr(statistics, "STATISTICS_LIMIT", 3)
    (some,), _ = statistics_of(items_of(stored), "channels")
    assert some == pytest.approx(images[[0, 3, 6]].mean().item(), abs=1 / 255)


@pytest.mark.parametrize(
    ("by", "shape"), [("channels", (5, 4)), ("features", (5, 3, 8, 8)), ("features", (5, 2, 2))]
)
def test_refuses_standardising_that_does_not_fit(by, shape):
    with pytest.raises(SettingError, match=rf'run.space.standardise: "{by}" does not fit items of shape'):
        statistics_of(items_of(torch.rand(shape)), by)


def test_refuses_no_items_and_values_that_are_not_finite():
    with pytest.raises(DataError, match="things: there are no items"):
        statistics_of(items_of(torch.empty(0, 3)), "features")
    for bad in (torch.nan, torch.inf):
        x = torch.ones(4, 3)
        x[2, 1] = bad
        with pytest.raises(DataError, match=r"things: feature 1 .* not finite"):
            statistics_of(items_of(x), "features")
