"""The x-vector network: contexts, sizes, and any number of frames."""

import pytest
import torch

from samekind.encoders import XVector


@pytest.mark.parametrize(("variant", "lost"), [("kaldi", 14), ("authors", 4)])
def test_contexts_are_those_of_the_variant(variant, lost):
    """A frame of the last layer sees 7 frames to either side with Kaldi's contexts."""
    network = XVector(coefficients=3, width=4, last_width=4, variant=variant).eval()
    x = torch.randn(1, 3, 40)
    for layer in network.layers:
        x = layer(x)
    assert x.shape[-1] == 40 - lost
    reach = torch.zeros(1, 3, 41, requires_grad=True)
    y = reach
    for layer in network.layers:
        y = layer[0](y)
    y[0, :, y.shape[-1] // 2].sum().backward()
    seen = reach.grad[0].abs().sum(0).nonzero().flatten()
    assert int(seen.max() - seen.min()) + 1 == (15 if variant == "kaldi" else 19)


def test_sizes_of_the_recipe():
    network = XVector()
    shapes = [tuple(layer[0].weight.shape) for layer in network.layers]
    assert shapes == [(512, 30, 5), (512, 512, 3), (512, 512, 3), (512, 512, 1), (1500, 512, 1)]
    assert tuple(network.embedding.weight.shape) == (512, 3000)


@pytest.mark.parametrize("variant", ["kaldi", "authors"])
def test_one_frame_is_enough(variant):
    network = XVector(width=8, last_width=8, dimension=4, variant=variant).eval()
    assert network(torch.randn(2, 30, 1)).isfinite().all()
