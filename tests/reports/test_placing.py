"""Names on a map: near their place, off the dots, off each other, and left out where that cannot be."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.reports.placing import DISTANCES, LITTLE, placed

AREA = np.array([0.0, 0.0, 500.0, 500.0])
SIZE = np.array([[40.0, 12.0]])


def moves_of(places, dots, *, sizes=None, weights=None, all_of_them=True):
    places, dots = np.array(places, dtype=float), np.array(dots, dtype=float).reshape(-1, 2)
    sizes = np.repeat(SIZE, len(places), 0) if sizes is None else sizes
    weights = np.ones(len(dots)) if weights is None else weights
    return placed(places, sizes, dots, weights, AREA, all_of_them=all_of_them)


def boxes_of(places, moves, sizes):
    middles = np.array(places, dtype=float) + moves
    return np.hstack([middles - sizes / 2, middles + sizes / 2])


def test_a_name_with_nothing_in_its_way_stays_on_its_place():
    assert moves_of([(100, 100)], []).tolist() == [[0, 0]]


def test_a_dot_is_not_hidden_and_the_name_stays_near():
    [[x, y]] = moves_of([(100, 100)], [(100, 100)])
    assert abs(x) > 20 or abs(y) > 6
    assert np.hypot(x, y) < 6 + 2 * DISTANCES[0]


def test_among_very_many_dots_a_name_stays_on_its_place():
    dots = np.random.default_rng(0).uniform(50, 150, (1000, 2))
    assert moves_of([(100, 100)], dots, weights=np.full(1000, 1e-3)).tolist() == [[0, 0]]


def test_a_name_at_the_edge_stays_on_the_map():
    places = [(0, 250), (500, 250), (250, 0), (250, 500)]
    boxes = boxes_of(places, moves_of(places, []), SIZE)
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= 500).all()


def test_the_first_has_the_choice_and_the_others_are_left_out():
    moves = moves_of([(100, 100)] * 60, [], all_of_them=False)
    placed = np.isfinite(moves).all(1)
    assert moves[0].tolist() == [0, 0]
    assert 2 < placed.sum() < 60
    assert np.isfinite(moves_of([(100, 100)] * 60, [])).all()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_names_that_need_not_be_there_lie_on_nothing(seed):
    draw = np.random.default_rng(seed)
    places, dots = draw.uniform(0, 500, (30, 2)), draw.uniform(0, 500, (60, 2))
    sizes = draw.uniform(5, 80, (30, 2))
    moves = moves_of(places, dots, sizes=sizes, all_of_them=False)
    placed = np.isfinite(moves).all(1)
    boxes = boxes_of(places[placed], moves[placed], sizes[placed])
    assert len(boxes)
    for index, (left, bottom, right, top) in enumerate(boxes):
        covered = [1 for x, y in dots if left < x < right and bottom < y < top]
        assert sum(covered) <= LITTLE
        assert min(left, bottom) >= 0
        assert max(right, top) <= 500
        for other in boxes[:index]:
            apart = left >= other[2] or right <= other[0] or bottom >= other[3] or top <= other[1]
            assert apart
