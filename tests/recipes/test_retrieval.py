"""The two systems for retrieval: what they see of pictures, and one batch that trains them."""

import pytest
import torch

from samekind.data import Items
from samekind.errors import SettingError
from samekind.recipes import retrieval
from samekind.recipes.retrieval import SYSTEMS
from samekind.training import build_space

BIRDS = (3, 64, 64)


@pytest.mark.parametrize("system", SYSTEMS)
def test_large_pictures_are_looked_at_by_a_part_of_them(system):
    run = retrieval(BIRDS, system=system)
    assert run.space.encoder.arguments["middle"] == 56
    crop = next(part for part in run.augment if part.name == "RandomResizedCrop")
    assert crop.arguments == {"size": 56}
    items = Items(torch.rand(4, *BIRDS), torch.tensor([0, 0, 1, 1]), ("a", "b"), "birds")
    space = build_space(run, items).eval()
    assert space.embed(items.inputs).shape == (4, 128 if system == "verification-retrieval" else 1280)


def test_other_items_have_no_crops():
    assert retrieval((6,)).augment == ()
    assert retrieval((6,)).space.encoder.name == "MLP"


def test_an_unknown_system_is_refused():
    with pytest.raises(SettingError, match='there is no system "prototypical" here; did you mean'):
        retrieval((6,), system="prototypical")
