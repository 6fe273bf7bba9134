"""The discriminant of an exported space, against that of the space."""

import numpy as np
import pytest
import torch

from samekind.auxiliary_head import AuxiliaryHead
from samekind.portable.discriminant import Discriminant
from samekind.prototypes import SupportMeans
from samekind.similarities import Dot

NAMES = ("a", "b", "c")


@pytest.fixture
def both():
    """A linear head, and the same as a value."""
    generator = torch.Generator().manual_seed(0)
    weights, offsets = torch.randn(3, 4, generator=generator), torch.randn(3, generator=generator)
    head = AuxiliaryHead(Dot(), SupportMeans(classes=[], dimension=4), normalise=True, bias=True)
    head.prototypes.assign(NAMES, weights[:, None])
    head.offsets = torch.nn.Parameter(offsets)
    return head, Discriminant(NAMES, torch.cat([weights, offsets[:, None]], dim=1).numpy())


def numbers():
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(6, 4, generator=generator)
    z[0] = 0
    return torch.randn(6, 5, generator=generator, dtype=torch.float64), z


def same(head, value, classes):
    logits, z = numbers()
    with torch.no_grad():
        expected = head.ordered(logits, z, classes).numpy()
    np.testing.assert_allclose(value.ordered(logits.numpy(), z.numpy(), classes), expected, atol=1e-5)


def test_orders_classes_as_the_head_of_the_space(both):
    same(*both, ["x", "c", "a", "y", "b"])


def test_a_renamed_class_keeps_its_row_and_one_that_is_gone_has_none(both):
    head, value = both
    head.prototypes.classes = ["a", "new", "c"]
    same(head, value.renamed("b", "new"), ["x", "c", "a", "y", "new"])
    head.drop("new")
    same(head, value.without("b"), ["x", "c", "a", "y", "b"])


def test_one_class_alone_keeps_its_logits(both):
    logits, z = (part.numpy() for part in numbers())
    alone = both[1].without("a").without("b")
    assert alone.ordered(logits, z, list("abcde")) is logits
