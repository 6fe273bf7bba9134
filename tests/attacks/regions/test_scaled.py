"""A region in other units."""

import pytest
import torch

from samekind.attacks import L2, PGD, Limits, Linf, Logits, Scaled
from samekind.errors import SettingError

SCALE = torch.tensor([10.0, 0.1])


def test_epsilon_is_in_units_of_the_scale():
    clean, x = torch.tensor([[100.0, 1.0]]), torch.tensor([[200.0, 1.02]])
    assert Scaled(Linf(0.5), SCALE).project(x, clean).tolist() == [pytest.approx([105.0, 1.02])]
    assert float(Scaled(Linf(0.5), SCALE).distance(x, clean)) == pytest.approx(10)
    moved = Scaled(L2(5.0), SCALE).project(clean + torch.tensor([[60.0, 0.8]]), clean)
    assert moved.tolist() == [pytest.approx([130.0, 1.4])]


def test_it_is_the_plain_region_of_items_in_these_units():
    """An attack on a model in units of the scale, and one on the model of the plain items."""
    model = torch.nn.Linear(2, 3).double()
    x, labels = torch.randn(20, 2, generator=torch.Generator().manual_seed(0)).double(), torch.arange(20) % 3
    plain = PGD(L2(0.3), steps=5)(Logits(model, labels), x, limits=Limits())
    inner = torch.nn.Linear(2, 3).double()
    inner.load_state_dict({"weight": model.weight / SCALE, "bias": model.bias})
    scaled = PGD(Scaled(L2(0.3), SCALE), steps=5)(Logits(inner, labels), x * SCALE, limits=Limits())
    torch.testing.assert_close(scaled.x / SCALE, plain.x)
    torch.testing.assert_close(scaled.distance, plain.distance)


def test_a_scale_of_nothing_is_refused():
    with pytest.raises(SettingError, match="above 0, got 0"):
        Scaled(Linf(1.0), torch.tensor([1.0, 0.0]))
