"""Several encoders as one."""

import pytest
import torch
import torch.nn.functional as F

from samekind.encoders import MLP, Conv4, SideBySide, SmallConvnet
from samekind.errors import SettingError


def test_embeddings_of_length_1_in_a_row():
    torch.manual_seed(0)
    first, second, x = MLP(inputs=6, dimension=2), MLP(inputs=6, dimension=3), torch.rand(4, 6)
    both = SideBySide(encoders=[first, second])
    assert both.dimension == 5
    torch.testing.assert_close(both(x), torch.cat([F.normalize(first(x)), F.normalize(second(x))], dim=1))
    torch.testing.assert_close(both(x).norm(dim=1), torch.full((4,), 2**0.5))


def test_each_gets_pictures_of_its_size():
    networks = [SmallConvnet(channels=2, size=8, dimension=3), Conv4(channels=2, size=16, freeze="features")]
    both = SideBySide(encoders=networks, sizes=[8, 16]).train()
    assert both(torch.rand(2, 2, 12, 12)).shape == (2, 3 + 64)
    assert list(both.stages()) == ["encoder1", "encoder2", "embedding"]
    assert not networks[1].layer1.training


@pytest.mark.parametrize("wrong", [{"encoders": []}, {"encoders": [MLP(inputs=2)], "sizes": [8, 9]}])
def test_a_size_for_each_or_none(wrong):
    with pytest.raises(SettingError, match="one encoder or more, and a size for each"):
        SideBySide(**wrong)
