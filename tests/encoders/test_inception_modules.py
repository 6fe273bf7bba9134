"""The modules of Inception-v3: how many channels and places each gives, and from which branch."""

import pytest
import torch

from samekind.encoders.inception_modules import (
    InceptionA,
    InceptionB,
    InceptionC,
    InceptionD,
    InceptionE,
    unit,
)


@pytest.mark.parametrize(
    ("make", "inputs", "side", "expected"),
    [
        (lambda: InceptionA(192, pooled=32), 192, 35, (256, 35)),
        (lambda: InceptionA(288, pooled=64), 288, 35, (288, 35)),
        (lambda: InceptionB(288), 288, 35, (768, 17)),
        (lambda: InceptionC(768, narrow=128), 768, 17, (768, 17)),
        (lambda: InceptionD(768), 768, 17, (1280, 8)),
        (lambda: InceptionE(1280), 1280, 8, (2048, 8)),
    ],
    ids=["A32", "A64", "B", "C", "D", "E"],
)
def test_channels_and_places(make, inputs, side, expected):
    with torch.device("meta"):
        output = make()(torch.empty(1, inputs, side, side))
    assert output.shape == (1, expected[0], expected[1], expected[1])


def test_units_have_no_bias_and_the_epsilon_of_the_paper():
    convolution = unit(2, 3, 1)
    assert convolution.conv.bias is None
    assert convolution.bn.eps == 1e-3


def test_a_reduction_passes_the_largest_of_each_window_on():
    torch.manual_seed(0)
    x = torch.rand(1, 8, 7, 7)
    for module in (InceptionB(8), InceptionD(8)):
        last = module.eval()(x)[:, -8:]
        assert torch.equal(last, x.unfold(2, 3, 2).unfold(3, 3, 2).amax((4, 5)))


def test_a_row_sees_its_row_and_a_column_its_column():
    torch.manual_seed(0)
    module, x = InceptionE(4).eval(), torch.zeros(1, 4, 5, 5)
    x[:, :, 2, 2] = 1
    with torch.no_grad():
        changed = (module(x) != module(torch.zeros_like(x))).any(1)[0]
        row = (module.branch3x3_2a(module.branch3x3_1(x)) != 0).any(1)[0]
        column = (module.branch3x3_2b(module.branch3x3_1(x)) != 0).any(1)[0]
    assert row.nonzero().tolist() == [[2, 1], [2, 2], [2, 3]]
    assert column.nonzero().tolist() == [[1, 2], [2, 2], [3, 2]]
    assert changed[2, 2]
