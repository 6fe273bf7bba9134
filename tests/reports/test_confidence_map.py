"""The map: the picture shows the probabilities, and the ring lies where the classifier is surest."""

import numpy as np
import pytest
import torch

from samekind.reports import Confidence, confidence_map
from samekind.reports.confidence_map import EYE, _lift, _seen
from samekind.reports.style import SERIES


def panel(**settings):
    [axes] = confidence_map([Confidence(**settings)]).axes
    return axes


def discs(axes):
    """Where the markers of prototypes and of the ring are."""
    marked = [line for line in axes.lines if line.get_marker() == "o"]
    rings = [line.get_xydata()[0] for line in marked if line.get_markerfacecolor() == "none"]
    return [line for line in marked if line.get_markerfacecolor() != "none"], rings


def words(axes):
    return " ".join(text.get_text() for text in axes.texts)


def test_the_plane_shows_the_probability_at_each_place():
    drawn = Confidence("ratio", 3, 2.0)
    image = panel(form="ratio").images[0]
    shown, (left, right, bottom, top) = image.get_array(), image.get_extent()
    rows, columns = np.array([3, 100, 238]), np.array([10, 120, 200])
    x = left + (right - left) * columns / (shown.shape[1] - 1)
    y = bottom + (top - bottom) * rows / (shown.shape[0] - 1)
    expected = drawn.probability(torch.from_numpy(np.stack([x, y], axis=1))).numpy()
    assert np.allclose(shown[rows, columns], expected)


@pytest.mark.parametrize("form", ["squared", "ratio"])
def test_the_plane_has_every_prototype_and_one_ring(form):
    drawn = Confidence(form, 4)
    prototypes, rings = discs(panel(form=form, classes=4))
    assert [line.get_markerfacecolor() for line in prototypes] == list(SERIES[:4])
    assert np.allclose([line.get_xydata()[0] for line in prototypes], drawn.prototypes)
    assert np.allclose(rings, drawn.surest())


def test_the_circle_shows_the_probability_as_height():
    drawn = Confidence("normface", 2, surface="sphere")
    axes = panel(form="normface", classes=2, surface="sphere")
    curve = torch.from_numpy(axes.patches[0].get_xy())
    lengths = curve.norm(dim=1)
    torch.testing.assert_close((lengths - 1) / 0.6, drawn.probability(curve / lengths[:, None]))
    assert np.allclose(discs(axes)[1], drawn.surest())


def test_the_sphere_is_seen_from_outside():
    generator = torch.Generator().manual_seed(0)
    flat = torch.rand(100, 2, dtype=torch.double, generator=generator) - 0.5
    points = _lift(flat)
    torch.testing.assert_close(points.norm(dim=1), torch.ones(100, dtype=torch.double))
    assert (points @ EYE > 0).all()
    assert np.allclose(_seen(points), flat)
    torch.testing.assert_close(_lift(torch.tensor([[0.0, 3.0]]).double()).norm(), torch.ones(()).double())


@pytest.mark.parametrize("form", ["normface", "squared", "distance", "ratio"])
@pytest.mark.parametrize("angle", [False, True])
def test_on_the_sphere_nothing_of_interest_is_hidden(form, angle):
    drawn = Confidence(form, 3, surface="sphere", angle=angle)
    assert (torch.stack([*drawn.prototypes, drawn.surest()]) @ EYE > 0).all()


def test_the_words_say_what_is_seen():
    assert "scale 2, surest at the prototype: 1.0000" in words(panel(form="ratio"))
    result = words(panel(form="normface", classes=2, surface="sphere"))
    assert "scale 2, surest at the ring: 0.9442\nat the prototype: 0.8808" in result
    assert "still rising at the edge: 0.9989\nat the prototype: 0.9094" in words(
        panel(form="squared", scale=1.0)
    )
    assert panel(form="squared", surface="sphere", angle=True).get_title() == "softmax of squared angles"


def test_maps_lie_side_by_side():
    figure = confidence_map([Confidence("squared"), Confidence("distance"), Confidence("ratio")])
    assert [axes.get_title() for axes in figure.axes] == [
        "softmax of squared distances",
        "softmax of distances",
        "ratio of distances (DR)",
    ]


def test_no_map_is_an_error():
    with pytest.raises(ValueError, match="at least one map"):
        confidence_map([])
