"""Known classes as a value, against what a space does with its own."""

import numpy as np
import pytest
import torch

from samekind.encoders import Unchanged
from samekind.errors import SettingError, SpaceError
from samekind.portable.classes import KnownClasses
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


def both():
    prototypes = SupportMeans(classes=[], dimension=3)
    prototypes.assign(["a", "b"], torch.eye(3)[:2, None], [0, 4])
    space = MetricSpace(Unchanged(inputs=3), Cosine(), prototypes)
    return space, KnownClasses(("a", "b"), prototypes.vectors.numpy(), (0, 4), ())


def same(space, known):
    assert tuple(space.classes) == known.names
    assert tuple(space.enrolled) == known.enrolled
    assert tuple(space.prototypes.counts or ()) == known.counts
    np.testing.assert_allclose(space.prototypes.vectors.numpy(), known.vectors, rtol=1e-6)


def test_changes_as_a_space_does():
    space, known = both()
    z = torch.tensor([[1.0, 2, 3], [3, 2, 5]])
    for name in ("c", "a", "d", "c"):
        space.enroll(name, z, replace=True)
        known = known.with_class(name, z.numpy().mean(0), len(z))
        same(space, known)
    space.rename("a", "A")
    known = known.renamed("a", "A")
    same(space, known)
    space.remove("c")
    same(space, known.without("c"))


def test_the_value_itself_stays_as_it_is():
    _, known = both()
    vectors = known.vectors.copy()
    known.with_class("a", np.ones(3), 1).without("b").renamed("a", "x")
    assert known.names == ("a", "b")
    assert (known.vectors == vectors).all()


def test_names_are_checked():
    _, known = both()
    assert known.new("c") == "c"
    with pytest.raises(SpaceError, match="already there"):
        known.new("a")
    with pytest.raises(SettingError, match="empty"):
        known.new("  ")
    with pytest.raises(SpaceError, match='there is no class "c"'):
        known.known("c")
    accented = known.with_class("M\u00f6we", np.ones(3), 1)
    assert accented.known("Mo\u0308we") == "M\u00f6we"
