"""AdaCos against its formulas."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import AdaCosScale
from samekind.similarities.adacos_scale import log_rivals


@pytest.mark.parametrize(
    ("classes", "value"),
    [(10, 3.1073), (52, 5.5604), (100, 6.4985), (102, 6.5268), (109, 6.6215), (555, 8.9338), (1000, 9.7676)],
)
def test_the_fixed_value(classes, value):
    assert AdaCosScale(classes=classes)().item() == pytest.approx(value, abs=5e-5)
    assert AdaCosScale(classes=classes, dynamic=True)().item() == pytest.approx(value, abs=5e-5)


def batch(items=5, classes=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    cosines = torch.rand(items, classes, dtype=torch.double, generator=generator) * 1.6 - 0.6
    labels = torch.randint(classes, (items,), generator=generator)
    return cosines, labels[:, None] == torch.arange(classes), labels.tolist()


def by_hand(scale, cosines, labels):
    """ln(B) / cos(min(π/4, the median angle)), where B is the mean of the items' sums."""
    sums, angles = [], []
    for row, label in zip(cosines.tolist(), labels, strict=True):
        sums.append(sum(math.exp(scale * value) for place, value in enumerate(row) if place != label))
        angles.append(math.acos(row[label]))
    median = sorted(angles)[len(angles) // 2]
    return math.log(sum(sums) / len(sums)) / math.cos(min(math.pi / 4, median))


@pytest.mark.parametrize("raised", [False, True])
def test_a_dynamic_scale_follows_the_formula(raised):
    """With the true classes far, where the angle is cut at π/4, and near."""
    scale = AdaCosScale(classes=6, dynamic=True).double()
    value = scale().item()
    for seed in range(4):
        cosines, positive, labels = batch(seed=seed)
        if raised:
            cosines[positive] = torch.linspace(0.8, 0.99, 5).double()
        scale.after_step(cosines, positive)
        value = by_hand(value, cosines, labels)
        assert value > 0
        assert scale().item() == pytest.approx(value)


def test_a_fixed_one_stays():
    scale = AdaCosScale(classes=6)
    before = scale()
    scale.after_step(*batch()[:2])
    assert torch.equal(scale(), before)


def test_stays_where_the_formula_gives_nothing_above_zero():
    scale = AdaCosScale(classes=3, dynamic=True)
    before = scale()
    positive = torch.eye(3, dtype=torch.bool)
    scale.after_step(torch.where(positive, 1.0, -1.0), positive)
    assert torch.equal(scale(), before)


def test_the_sum_over_wrong_classes_never_overflows():
    scores, positive = torch.full((2, 3), 50.0), torch.tensor([[True, False, False]] * 2)
    scores[:, 0] = 1e30  # the true class is no rival
    assert log_rivals(torch.tensor(100.0), scores, positive).item() == pytest.approx(5000 + math.log(2))


@pytest.mark.parametrize("classes", [0, 1, 2])
def test_refuses_too_few_classes(classes):
    with pytest.raises(SettingError, match=f"at least 3 classes, got {classes}; use FixedScale"):
        AdaCosScale(classes=classes)
