"""The field: costs and pushes of functions anyone can differentiate, and what is drawn of them."""

import numpy as np
import pytest
import torch

from samekind.reports import Field, gradient_field, measure_field
from samekind.reports.gradient_field import EVERY, REACH, arrows, levels
from samekind.reports.style import DIFFERENT, SAME

SAME_POINTS = torch.tensor([[0.2, 0.1]], dtype=torch.double)
OTHERS = torch.tensor([[-0.5, 0.3], [0.4, -0.6]], dtype=torch.double)


def field_of(cost, circle=False):
    return measure_field(cost, same=SAME_POINTS, different=OTHERS, circle=circle)


def test_a_square_field_is_the_cost_and_minus_its_gradient():
    field = field_of(lambda z: (z - SAME_POINTS).square().sum())
    assert field.places.abs().max() == REACH
    assert field.places[0].tolist() == [-REACH, -REACH]
    torch.testing.assert_close(field.costs, (field.places - SAME_POINTS).square().sum(1))
    torch.testing.assert_close(field.pushes, 2 * (SAME_POINTS - field.places))


def test_a_circle_field_goes_once_around():
    field = field_of(lambda z: z[0, 0] / z.norm(), circle=True)
    torch.testing.assert_close(field.places.norm(dim=1), torch.ones(len(field.places)).double())
    steps = (field.places - field.places.roll(1, 0)).norm(dim=1)
    torch.testing.assert_close(steps, steps[:1].expand(len(steps)))
    assert torch.allclose((field.places * field.pushes).sum(1), torch.zeros(()).double())


def test_arrows_keep_the_way_and_the_order_of_lengths():
    pushes = torch.tensor([[4.0, 0.0], [0.0, -1.0], [0.0, 0.0], *[[-16.0, 0.0]] * 20], dtype=torch.double)
    shown = arrows(pushes)
    assert shown[:4].tolist() == [[0.5, 0.0], [0.0, -0.25], [0.0, 0.0], [-1.0, 0.0]]


def test_one_pole_does_not_outshine_the_rest():
    pushes = torch.ones(100, 2, dtype=torch.double)
    pushes[0] *= 1e12
    costs = torch.linspace(0, 1, 100).double()
    costs[0] = 1e12
    assert np.allclose(np.linalg.norm(arrows(pushes), axis=1), 1)
    assert levels(costs, 5)[-1] < 1.1


def test_a_field_without_any_push_has_no_arrow():
    figure = gradient_field({"flat": field_of(lambda z: 0 * z.sum())})
    [axes] = figure.axes
    assert [arrow.N for arrow in axes.collections if hasattr(arrow, "U")] == [0]
    assert levels(torch.ones(5), 3).tolist() == [0.5, 1.0, 1.5]


def test_the_arrows_of_a_panel_go_downhill():
    field = field_of(lambda z: z[0, 0])
    [axes] = gradient_field({"slope": field}).axes
    [quiver] = [collection for collection in axes.collections if hasattr(collection, "U")]
    side = round(len(field.places) ** 0.5)
    places = len(range(1, side, EVERY)) ** 2
    assert len(quiver.U) == places
    assert (quiver.U < 0).all()
    assert np.allclose(quiver.V, 0)


@pytest.mark.parametrize(("circle", "radius"), [(False, 1.0), (True, 0.87)])
def test_the_other_points_are_shown(circle, radius):
    [axes] = gradient_field({"x": field_of(lambda z: z.sum(), circle)}).axes
    result = {line.get_color(): line for line in axes.lines if line.get_marker() in ("o", "s")}
    assert np.allclose(result[SAME].get_xydata(), radius * SAME_POINTS)
    assert np.allclose(result[DIFFERENT].get_xydata(), radius * OTHERS)
    assert (result[SAME].get_marker(), result[DIFFERENT].get_marker()) == ("o", "s")


def test_panels_fill_rows_and_are_named():
    field = field_of(lambda z: z.sum(), circle=True)
    figure = gradient_field({f"loss {n}\nnote {n}": field for n in range(7)})
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [f"loss {n}" for n in range(7)] + [""] * 3
    assert figure.axes[6].texts[0].get_text() == "note 6"
    assert len(gradient_field({"a": field, "b": field}).axes) == 2


def test_no_field_is_an_error():
    with pytest.raises(ValueError, match="at least one field"):
        gradient_field({})


def test_a_field_holds_what_it_was_given():
    field = field_of(lambda z: z.sum())
    assert isinstance(field, Field)
    assert field.same is SAME_POINTS
    assert field.different is OTHERS
