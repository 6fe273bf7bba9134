"""The pieces of an affine change, one at a time."""

import pytest
import torch

from samekind.augmentations import Affine, Rotation
from samekind.errors import SettingError

BATCH = torch.empty(400, 1, 20, 40)


def parts(**options):
    """Over many images: the matrices from the result to the input."""
    return Affine(**{"degrees": 0.0, **options}).matrices(BATCH, generator=torch.Generator().manual_seed(0))


def test_neutral_settings_change_nothing():
    assert torch.equal(parts(), torch.eye(3, dtype=torch.float64).expand(400, 3, 3))


def test_the_shift_is_a_share_of_each_side():
    matrices = parts(translate=0.1)
    assert torch.equal(matrices[:, :2, :2], torch.eye(2, dtype=torch.float64).expand(400, 2, 2))
    assert 3.9 < matrices[:, 0, 2].abs().max() <= 4
    assert 1.9 < matrices[:, 1, 2].abs().max() <= 2


def test_the_size_changes_both_sides_alike():
    matrices = parts(scale=(0.5, 2.0))
    factors = 1 / matrices[:, 0, 0]
    torch.testing.assert_close(matrices[:, 1, 1], matrices[:, 0, 0])
    assert 0.5 <= factors.min() < 0.52
    assert 1.98 < factors.max() <= 2


def test_the_slant_is_an_angle():
    matrices = parts(shear=45.0)
    assert 0.98 < matrices[:, 0, 1].abs().max() <= 1
    assert (matrices[:, 1, 0] == 0).all()


def test_the_defaults_only_turn(images, chances):
    matrices = Affine().matrices(BATCH, generator=chances())
    turns = Rotation().matrices(BATCH, generator=chances())
    assert torch.allclose(matrices @ matrices.mT, torch.eye(3, dtype=torch.float64), atol=1e-9)
    assert matrices[:, 0, 1].abs().max().item() == pytest.approx(turns[:, 0, 1].abs().max().item(), abs=0.01)


@pytest.mark.parametrize(
    "wrong",
    [{"degrees": 200.0}, {"translate": 1.5}, {"scale": (2.0, 1.0)}, {"scale": (1.0,)}, {"shear": 90.0}],
    ids=str,
)
def test_refuses_impossible_settings(wrong):
    with pytest.raises(SettingError, match=f"{next(iter(wrong))}: expected"):
        Affine(**wrong)
