"""How sure a classifier is: the definitions by hand, and where it is surest as the paper derives it."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.reports import Confidence
from samekind.reports.confidence import FORMS, MOST_CLASSES, OF_DIRECTIONS, REACH


def every_map():
    """All that can be drawn with three classes."""
    for form in FORMS:
        for surface in MOST_CLASSES:
            for angle in (False, True):
                if surface == "sphere" or not (angle or form in OF_DIRECTIONS):
                    yield Confidence(form, 3, 1.5, surface, angle)


each_map = pytest.mark.parametrize("drawn", list(every_map()), ids=str)


def by_hand(drawn, point):
    """The definition: powers of e, or of distances, of the first class over those of all."""
    weights = []
    for place, prototype in enumerate(drawn.prototypes.tolist()):
        product = sum(a * b for a, b in zip(point, prototype, strict=True))
        chord = math.dist(point, prototype)
        distance = math.acos(max(-1.0, min(1.0, product))) if drawn.angle else chord
        turn = math.acos(max(-1.0, min(1.0, product)))
        margins = {"cosface": product - 0.35, "arcface": product - 0.5 * math.sin(0.5)}
        if turn + 0.5 <= math.pi:
            margins["arcface"] = math.cos(turn + 0.5)
        margins["sphereface"] = math.cos(2 * turn) if turn <= math.pi / 2 else -math.cos(2 * turn) - 2
        weights.append(
            {
                **{
                    form: math.exp(drawn.scale * (product if place else cosine))
                    for form, cosine in margins.items()
                },
                "normface": math.exp(drawn.scale * product),
                "squared": math.exp(-drawn.scale * distance**2),
                "distance": math.exp(-drawn.scale * distance),
                "ratio": distance**-drawn.scale,
            }[drawn.form]
        )
    return weights[0] / sum(weights)


def random_points(drawn, count=50):
    generator = torch.Generator().manual_seed(0)
    return drawn.onto(torch.randn(count, drawn.dimension, dtype=torch.double, generator=generator))


@each_map
def test_the_probability_is_the_definition(drawn):
    points = random_points(drawn)
    expected = torch.tensor([by_hand(drawn, point) for point in points.tolist()], dtype=torch.double)
    torch.testing.assert_close(drawn.probability(points), expected)


@each_map
def test_no_point_is_surer_than_the_surest(drawn):
    surest = drawn.surest()
    torch.testing.assert_close(drawn.onto(surest), surest)
    assert (drawn.log_odds(random_points(drawn, 20_000)) <= drawn.log_odds(surest[None]) + 1e-9).all()


def test_log_odds_differ_where_probabilities_are_equal():
    drawn = Confidence("squared", scale=100.0)
    points = torch.tensor([[0.0, 1.5], [0.0, 2.0]], dtype=torch.double)
    assert drawn.probability(points).tolist() == [1.0, 1.0]
    near, far = drawn.log_odds(points).tolist()
    assert far > near


# --- where it is surest -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "classes", "scale", "angle", "place", "probability", "at_prototype"),
    [
        ("normface", 2, 2.0, False, (-(0.5**0.5), 0.5**0.5), 0.944193, 0.880797),
        ("normface", 3, 2.0, False, (-(6**-0.5), -(6**-0.5), 2 * 6**-0.5), 0.852751, 0.786986),
        ("squared", 3, 1.0, True, (-0.60397, -0.60397, 0.52003), 0.960214, 0.854986),
    ],
)
def test_softmaxes_are_surest_away_from_the_prototype(
    form, classes, scale, angle, place, probability, at_prototype
):
    drawn = Confidence(form, classes, scale, "sphere", angle)
    surest = drawn.surest()
    assert surest.tolist() == pytest.approx(place, abs=1e-5)
    assert drawn.probability(surest[None]).item() == pytest.approx(probability, abs=1e-6)
    assert drawn.probability(drawn.prototypes[:1]).item() == pytest.approx(at_prototype, abs=1e-6)


@pytest.mark.parametrize("scale", [0.5, 2.0, 30.0])
def test_for_cosines_the_place_is_the_same_at_every_scale(scale):
    surest = Confidence("normface", 3, scale, "sphere").surest()
    assert surest.tolist() == pytest.approx([-(6**-0.5), -(6**-0.5), 2 * 6**-0.5], abs=1e-5)


@pytest.mark.parametrize("angle", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scale", [0.5, 2.0, 30.0])
def test_a_ratio_is_surest_at_the_prototype(classes, scale, angle):
    drawn = Confidence("ratio", classes, scale, "sphere", angle)
    assert torch.equal(drawn.surest(), drawn.prototypes[0])
    assert Confidence("ratio", classes, scale).surest().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_distances_are_surest_at_the_prototype_too(classes):
    """By the triangle inequality: nowhere is another class farther behind."""
    assert Confidence("distance", classes).surest().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_squared_distances_rise_to_the_edge_of_the_plane(classes):
    drawn = Confidence("squared", classes)
    surest = drawn.surest()
    assert drawn.at_edge(surest)
    assert surest[1] == REACH
    assert not drawn.at_edge(drawn.prototypes[0])


def test_of_points_as_sure_the_nearest_to_the_prototype_is_the_surest():
    """With two classes the whole edge of the plane is."""
    drawn = Confidence("squared", 2)
    edge = torch.tensor([[x, REACH] for x in (-REACH, 0.0, 1.0)], dtype=torch.double)
    assert drawn.log_odds(edge).tolist() == pytest.approx([drawn.log_odds(edge[:1]).item()] * 3)
    assert drawn.surest().tolist() == pytest.approx([0.0, REACH], abs=1e-5)


def test_cosines_are_squared_chords_at_half_the_scale():
    points = random_points(Confidence("normface", 3, 4.0, "sphere"))
    torch.testing.assert_close(
        Confidence("normface", 3, 4.0, "sphere").probability(points),
        Confidence("squared", 3, 2.0, "sphere").probability(points),
    )


def test_margins_leave_the_surest_point_of_cosines_or_move_it_towards_the_prototype():
    """A constant moves nothing; wider angles do. On the circle, where the ring is at -45 degrees for none."""
    places = {form: Confidence(form, 2, surface="sphere").surest() for form in OF_DIRECTIONS}
    turns = {
        form: math.degrees(math.atan2(float(place[0]), float(place[1]))) for form, place in places.items()
    }
    assert turns["normface"] == pytest.approx(-45, abs=1e-3)
    assert turns["cosface"] == pytest.approx(-45, abs=1e-3)
    assert turns["normface"] < turns["arcface"] < turns["sphereface"] < 0


def test_all_forms_of_a_surface():
    plane, sphere = (Confidence.of_all_forms(surface=surface) for surface in ("plane", "sphere"))
    assert [drawn.form for drawn in plane] == ["squared", "distance", "ratio"]
    assert [drawn.form for drawn in sphere] == list(FORMS)
    angles = Confidence.of_all_forms(surface="sphere", angle=True)
    assert [(drawn.form, drawn.angle) for drawn in angles] == [(drawn.form, True) for drawn in plane]


# --- what is put in ---------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", range(2, MOST_CLASSES["plane"] + 1))
def test_prototypes_on_the_plane_are_evenly_around_the_circle_from_the_top(classes):
    prototypes = Confidence("ratio", classes).prototypes
    assert prototypes[0].tolist() == [0, 1]
    torch.testing.assert_close(prototypes.norm(dim=1), torch.ones(classes, dtype=torch.double))
    neighbours = (prototypes - prototypes.roll(1, 0)).norm(dim=1)
    torch.testing.assert_close(neighbours, neighbours[:1].expand(classes))


def test_prototypes_on_the_sphere_are_the_axes():
    assert Confidence("ratio", 3, surface="sphere").prototypes.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert Confidence("ratio", 2, surface="sphere").prototypes.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"form": "ration"}, 'there is no form "ration"; did you mean "ratio"'),
        ({"form": "ratio", "surface": "torus"}, 'the surface is "plane" or "sphere"; got "torus"'),
        ({"form": "normface"}, "normface compares directions, so it is drawn on the sphere"),
        ({"form": "ratio", "angle": True}, "an angle compares directions, so it is drawn on the sphere"),
        ({"form": "ratio", "classes": 1}, "expected 2 to 7 classes on the plane, got 1"),
        ({"form": "ratio", "classes": 8}, "expected 2 to 7 classes on the plane, got 8"),
        (
            {"form": "ratio", "classes": 4, "surface": "sphere"},
            "expected 2 to 3 classes on the sphere, got 4",
        ),
        ({"form": "ratio", "scale": 0.0}, "a scale must be a positive number, got 0.0"),
        ({"form": "ratio", "scale": math.nan}, "a scale must be a positive number, got nan"),
        ({"form": "ratio", "scale": math.inf}, "a scale must be a positive number, got inf"),
    ],
)
def test_refuses_invalid_settings(arguments, says):
    with pytest.raises(SettingError, match=says):
        Confidence(**arguments)
