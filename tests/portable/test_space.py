"""An exported space answers as the space does."""

import copy

import numpy as np
import pytest
import torch

from samekind.errors import DataError, SpaceError
from samekind.inference import identify
from samekind.portable import PortableSpace
from samekind.questions.compare import compare_embedded


@pytest.fixture(scope="module")
def portable(exported):
    return PortableSpace.open(exported)


@pytest.fixture(scope="module")
def items():
    return torch.randn(12, 4, generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module")
def z(known_space, items):
    with torch.no_grad():
        return known_space.embed(items)


def test_embeds_as_the_space_does(portable, items, z):
    np.testing.assert_allclose(portable.embed(list(items.numpy())), z.numpy(), atol=1e-5)
    assert portable.embed([]).shape == (0, 5)
    with pytest.raises(DataError, match="different shapes"):
        portable.embed([np.zeros(4, np.float32), np.zeros(3, np.float32)])


def test_has_every_kind_of_score(portable, known_space, z):
    assert portable.kinds == known_space.kinds == ["similarity", "cosine", "fused", "fitted", "normalised"]
    with torch.no_grad():
        for kind in known_space.kinds:
            pairs = known_space.score_all(z[:5], z[5:], kind=kind).numpy()
            np.testing.assert_allclose(
                portable.score(z[:5].numpy(), z[5:].numpy(), kind=kind), pairs, atol=1e-4
            )
            classes = known_space.score_classes(z, kind=kind).numpy()
            np.testing.assert_allclose(portable.score_classes(z.numpy(), kind=kind), classes, atol=1e-4)


@pytest.mark.parametrize("kind", [None, "similarity", "cosine", "fused", "fitted", "normalised"])
def test_names_classes_as_the_space_does(portable, known_space, z, kind):
    with torch.no_grad():
        expected = known_space.classify(z, kind=kind)
    answer = portable.classify(z.numpy(), kind=kind)
    assert answer.classes == expected.classes
    np.testing.assert_allclose(answer.probabilities, expected.probabilities.numpy(), atol=1e-4)
    named, _ = portable.identify(z.numpy(), kind=kind)
    for one, other in zip(named, identify(known_space, z, kind=kind), strict=True):
        assert one.name == other.name
        assert one[1:] == pytest.approx(other[1:], abs=1e-4)


def test_some_items_are_none_of_these(portable, z):
    named, _ = portable.identify(z.numpy())
    assert {answer.name is None for answer in named} == {True, False}


@pytest.mark.parametrize("kind", [None, "similarity", "cosine", "fused", "normalised"])
def test_compares_as_the_space_does(portable, known_space, z, kind):
    answer = portable.compare(z[:2].numpy(), kind=kind, prior=0.2)
    expected = compare_embedded(known_space, z[:2], kind=kind, prior=0.2)
    assert answer.same == expected.same
    assert (answer.score, answer.probability) == pytest.approx(
        (expected.score, expected.probability), abs=1e-4
    )


def test_what_it_does_not_have_is_named(portable, z):
    with pytest.raises(SpaceError, match='no score "cosin"; did you mean "cosine"'):
        portable.classify(z.numpy(), kind="cosin")
    with pytest.raises(SpaceError, match="no threshold"):
        portable.compare(z[:2].numpy(), kind="unknown")


def test_enrols_as_the_space_does(exported, known_space, z, tmp_path):
    space, portable = copy.deepcopy(known_space), PortableSpace.open(exported, state=tmp_path)
    space.enroll("new", z[:3])
    portable.enrolments.enroll("new", z[:3].numpy(), replace=False)
    again = PortableSpace.open(exported, state=tmp_path)
    with torch.no_grad():
        expected = space.classify(z)
    for opened in (portable, again):
        answer = opened.classify(z.numpy())
        assert answer.classes == expected.classes
        np.testing.assert_allclose(answer.probabilities, expected.probabilities.numpy(), atol=1e-4)
    for name in [*known_space.classes, "new"]:
        portable.enrolments.remove(name)
    with pytest.raises(SpaceError, match="knows no class"):
        portable.classify(z.numpy())
    portable.close()
