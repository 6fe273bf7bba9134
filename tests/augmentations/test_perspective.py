"""Images seen from aside; the matrices are tested with the warping."""

import pytest
import torch

from samekind.augmentations import Perspective
from samekind.errors import SettingError


def seen_from(perspective, count, *, places):
    """Where places in the result, in pixels from the centre, come from in the input."""
    matrices = perspective.matrices(torch.empty(count, 1, 10, 20), generator=torch.Generator().manual_seed(0))
    points = torch.cat([places, torch.ones(len(places), 1)], dim=1).double()
    seen = points @ matrices.mT
    return seen[..., :2] / seen[..., 2:]


def test_the_whole_image_is_inside_and_its_corners_moved_inwards_only():
    corners = torch.tensor([[-10.0, -5.0], [10.0, -5.0], [10.0, 5.0], [-10.0, 5.0]])
    seen = seen_from(Perspective(distortion=0.5, probability=1.0), 300, places=corners)
    # A corner of the result shows what is beyond the corner of the input, or the corner itself.
    beyond = (seen.abs() - corners.abs().double()).amax(-1)
    assert (beyond > -1e-9).all()
    inner = seen_from(Perspective(distortion=0.5, probability=1.0), 300, places=corners / 2)
    assert (inner.abs() <= corners[0].abs().double() + 1e-9).all(), "no corner moves by more than half way"


def test_about_as_many_as_the_probability_says():
    matrices = Perspective(probability=0.3).matrices(torch.empty(2000, 1, 4, 4), generator=torch.Generator())
    same = (matrices == torch.eye(3, dtype=torch.float64)).all(-1).all(-1)
    assert same.double().mean().item() == pytest.approx(0.7, abs=0.04)


def test_no_distortion_changes_nothing(images, chances):
    x = images()
    seen = Perspective(distortion=0.0, probability=1.0)(x, generator=chances())
    torch.testing.assert_close(seen, x, atol=1e-5, rtol=0)


def test_so_much_that_an_image_may_fold_is_refused():
    with pytest.raises(SettingError, match=r"distortion: expected a number from 0 to 0\.5, got 0\.9"):
        Perspective(distortion=0.9)
