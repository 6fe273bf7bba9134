"""The look: distinct colours."""

from itertools import combinations

import numpy as np
from matplotlib.colors import to_rgb

from samekind.reports import style

#: Machado et al., "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009.
DEUTERANOPE = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
]
PROTANOPE = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
]
#: From linear RGB to the three lights of CIE 1931, white being 1.
LIGHTS = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen_by(matrix, colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return [sum(m * c for m, c in zip(row, linear, strict=True)) for row in matrix]


def seen_by_a_deuteranope(colour):
    return seen_by(DEUTERANOPE, colour)


def difference(matrix, one, other):
    """As the eye judges it: the distance in CIELAB (1976), in which dark colours are not all alike."""
    places = []
    for colour in (one, other):
        lights = LIGHTS @ np.clip(seen_by(matrix, colour), 0, 1) / LIGHTS.sum(1)
        x, y, z = np.where(lights > 0.008856, np.cbrt(lights), 7.787 * lights + 16 / 116)
        places.append(np.array([116 * y, 500 * (x - y), 200 * (y - z)]))
    return float(np.linalg.norm(places[0] - places[1]))


def nearest_two(colours):
    eyes = (np.eye(3), DEUTERANOPE, PROTANOPE)
    return min(difference(eye, *two) for eye in eyes for two in combinations(colours, 2))


def test_colours_stay_apart_for_the_colour_blind():
    for colours in combinations(style.SERIES, 2):
        a, b = map(seen_by_a_deuteranope, colours)
        assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 > 0.1, colours


def test_ten_colours_are_no_harder_to_tell_apart_than_seven():
    assert len(set(style.MANY)) == 10
    assert nearest_two(style.MANY) == nearest_two(style.SERIES) > 15
    # As ten colours can be: the usual ones of matplotlib.
    assert nearest_two([f"C{index}" for index in range(10)]) < 5


def test_red_and_green_would_not_pass():
    a, b = seen_by_a_deuteranope("#b03030"), seen_by_a_deuteranope("#507020")
    assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 < 0.1
