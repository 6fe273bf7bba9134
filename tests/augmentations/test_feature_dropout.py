"""Features left out."""

import pytest
import torch

from samekind.augmentations import FeatureDropout
from samekind.errors import DataError


@pytest.mark.parametrize("means", [None, [7.0, 8.0, 9.0]])
def test_a_feature_is_itself_or_its_mean(means, chances):
    x = torch.randn(3000, 3, generator=chances(1))
    left = FeatureDropout(probability=0.2, means=means)(x, generator=chances())
    gone = left == torch.tensor(means or [0.0, 0.0, 0.0])
    assert torch.equal(left[~gone], x[~gone])
    assert gone.double().mean(0).tolist() == pytest.approx([0.2] * 3, abs=0.03)


def test_with_certainty_nothing_is_left(chances):
    assert (FeatureDropout(probability=1.0)(torch.ones(4, 2), generator=chances()) == 0).all()


def test_as_many_means_as_features(chances):
    with pytest.raises(DataError, match=r"vectors of 1 features, got \(2, 4\)"):
        FeatureDropout(means=[1.0])(torch.zeros(2, 4), generator=chances())
