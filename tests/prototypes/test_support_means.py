"""Prototypes that are filled by enrolment and left alone by training."""

import torch

from samekind.prototypes import SupportMeans, class_means


def test_begins_empty_and_at_zero():
    assert SupportMeans(dimension=3).classes == []
    assert SupportMeans(dimension=3).vectors.shape == (0, 1, 3)
    assert (SupportMeans(["ant", "bee"], dimension=3, count=2).vectors == 0).all()


def test_training_leaves_them_alone():
    means = SupportMeans(["ant", "bee"], dimension=3)
    means.assign(["ant", "bee"], torch.ones(2, 1, 3))
    for hook in (means.before_loss, means.after_step):
        hook(torch.randn(4, 3), torch.tensor([0, 0, 1, 1]))
    assert (means.vectors == 1).all()
    assert list(means.parameters()) == []


def test_holds_the_mean_of_the_examples_it_is_given():
    z = torch.tensor([[1.0, 3.0], [3.0, 5.0], [7.0, 7.0]])
    means = SupportMeans(dimension=2)
    means.assign(["ant", "bee"], class_means(z, torch.tensor([0, 0, 1]), 2)[0][:, None])
    assert means.vectors.tolist() == [[[2.0, 4.0]], [[7.0, 7.0]]]


def test_may_hold_the_examples_themselves():
    means = SupportMeans(dimension=2, count=1, pooling="max")
    means.assign(["ant", "bee"], torch.randn(2, 5, 2))
    assert means.count == 5
    assert means.pooling == "max"
