"""Members of each class against a loop."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.samplers.members import members_by_class


@settings(max_examples=40)
@given(st.lists(st.integers(0, 6)))
def test_agrees_with_a_loop(labels):
    by_hand = {}
    for index, label in enumerate(labels):
        by_hand.setdefault(label, []).append(index)
    members = members_by_class(torch.tensor(labels, dtype=torch.int64))
    assert {label: indices.tolist() for label, indices in members.items()} == by_hand
    assert list(members) == sorted(by_hand)
