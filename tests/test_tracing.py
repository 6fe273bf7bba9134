"""The plain path is taken while a graph is written, and only then."""

import torch
from torch import nn

from samekind.tracing import exporting


class Told(nn.Module):
    def forward(self, x):
        return x + (1.0 if exporting() else 0.0)


def test_only_an_export_is_one():
    x = torch.zeros(2, 3)
    assert not exporting()
    assert Told()(x).sum() == 0
    program = torch.export.export(Told(), (x,))
    assert program.module()(x).sum() == 6
    assert not exporting()
