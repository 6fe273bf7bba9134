"""A head on an encoder."""

import torch

from samekind.encoders import MLP, Headed, ResNet18


def test_it_is_one_after_the_other():
    torch.manual_seed(0)
    below, head = MLP(inputs=3, dimension=5), MLP(inputs=5, dimension=2, hidden=[4])
    whole, x = Headed(encoder=below, head=head), torch.rand(4, 3)
    assert torch.equal(whole(x), head(below(x)))
    assert torch.equal(whole.features(x), below(x))
    assert (whole.feature_dimension, whole.dimension) == (5, 2)


def test_the_head_is_part_of_the_last_stage():
    below, head = ResNet18(dimension=5), MLP(inputs=5)
    assert Headed(encoder=below, head=head).stages()["embedding"] == [below.embedding, head]
