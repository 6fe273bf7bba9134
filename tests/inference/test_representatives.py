"""Items near a centre, and groups in a readable order, against loops."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.inference.cluster import Groups
from samekind.inference.representatives import centre_distances, largest_first, representatives

Z = torch.tensor([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [10.0, 0.0], [2.0, 0.0]])
GROUPS = Groups(torch.tensor([0, 0, 0, 1, 0]), torch.tensor([[1.0, 0.0], [10.0, 4.0], [5.0, 5.0]]))


def test_distances_are_to_the_own_centre():
    assert centre_distances(Z, GROUPS).tolist() == [1, 2, 0, 4, 1]


def test_the_nearest_come_first_and_ties_in_their_order():
    assert [representative.tolist() for representative in representatives(Z, GROUPS, count=3)] == [
        [2, 0, 4],
        [3],
        [],
    ]


def test_the_largest_group_comes_first():
    mixed = Groups(torch.tensor([2, 0, 2, 3, 3, 1]), torch.arange(4.0)[:, None])
    ordered = largest_first(mixed)
    assert ordered.assigned.tolist() == [0, 2, 0, 1, 1, 3]
    assert ordered.centres.flatten().tolist() == [2, 3, 0, 1]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_only_the_numbers_change(assigned):
    before = Groups(torch.tensor(assigned), torch.arange(6.0)[:, None])
    after = largest_first(before)
    assert torch.equal(after.centres[after.assigned], before.centres[before.assigned])
    sizes = torch.bincount(after.assigned, minlength=6).tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert largest_first(after).assigned.tolist() == after.assigned.tolist()
