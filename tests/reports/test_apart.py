"""Boxes that lay on each other do so no more, and the others stay."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.reports.apart import apart


def overlapping(boxes):
    """The pairs that lie on each other, by a loop."""
    return [
        (one, other)
        for one, other in combinations(range(len(boxes)), 2)
        if all(
            min(boxes[one][side + 2], boxes[other][side + 2]) - max(boxes[one][side], boxes[other][side])
            > 1e-6
            for side in (0, 1)
        )
    ]


def moved(boxes, moves):
    return boxes + np.concatenate([moves, moves], axis=1)


def test_two_boxes_go_the_shorter_way_out_half_of_it_each():
    boxes = np.array([[0.0, 0, 10, 4], [1.0, 3, 11, 7]])
    assert apart(boxes, gap=0).tolist() == [[0, -0.5], [0, 0.5]]
    assert apart(boxes, gap=1).tolist() == [[0, -1], [0, 1]]


def test_boxes_beside_each_other_stay():
    boxes = np.array([[0.0, 0, 10, 4], [12.0, 0, 20, 4], [0.0, 6, 10, 10]])
    assert not apart(boxes).any()
    assert apart(np.empty((0, 4))).shape == (0, 2)


def test_boxes_in_one_place_find_a_way_out():
    boxes = np.tile([[0.0, 0, 10, 4]], (4, 1))
    assert not overlapping(moved(boxes, apart(boxes)))


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_a_dozen_names_find_room(seed):
    random = np.random.default_rng(seed)
    corners = random.uniform(0, [300, 200], (12, 2))
    boxes = np.concatenate([corners, corners + random.uniform([20, 14], [100, 15], (12, 2))], axis=1)
    assert not overlapping(moved(boxes, apart(boxes)))
