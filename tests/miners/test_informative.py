"""The informative pairs against a loop over anchors."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.miners import informative
from samekind.pairs import pair_masks


def by_hand(scores, labels, margin):
    """For each anchor the positives and the negatives that the paper keeps."""
    rows = []
    for a, row in enumerate(scores):
        positives = [i for i, label in enumerate(labels) if label == labels[a] and i != a]
        negatives = [i for i, label in enumerate(labels) if label != labels[a]]
        if not positives or not negatives:
            rows.append(([], []))
            continue
        lowest, highest = min(row[i] for i in positives), max(row[i] for i in negatives)
        rows.append(
            (
                [i for i in positives if row[i] - margin < highest],
                [i for i in negatives if row[i] + margin > lowest],
            )
        )
    return rows


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    labels=st.lists(st.integers(0, 2), min_size=1, max_size=8),
    margin=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_agrees_with_the_definition(seed, labels, margin):
    scores = torch.rand(
        len(labels), len(labels), dtype=torch.double, generator=torch.Generator().manual_seed(seed)
    )
    rows, positive, negative = informative(scores, *pair_masks(torch.tensor(labels)), margin=margin)
    assert rows.tolist() == list(range(len(labels)))
    ours = [
        (ahead.nonzero().flatten().tolist(), behind.nonzero().flatten().tolist())
        for ahead, behind in zip(positive, negative, strict=True)
    ]
    assert ours == by_hand(scores.tolist(), labels, margin)


def test_an_example_to_check_by_eye():
    """Positives at 0.9, 0.6 and 0.3, negatives at 0.55, 0.25 and 0.1; the margin is 0.1."""
    scores = torch.tensor([[0.9, 0.6, 0.3, 0.55, 0.25, 0.1]])
    positive = torch.tensor([[True, True, True, False, False, False]])
    _, ahead, behind = informative(scores, positive, ~positive)
    assert ahead.int().tolist() == [[0, 1, 1, 0, 0, 0]]  # 0.9 is above 0.55 + 0.1
    assert behind.int().tolist() == [[0, 0, 0, 1, 1, 0]]  # 0.1 is below 0.3 - 0.1


def test_an_anchor_that_separates_the_two_keeps_neither_and_stays_a_row():
    scores = torch.tensor([[0.9, 0.2], [0.5, 0.45]])
    positive = torch.tensor([[True, False]] * 2)
    rows, ahead, behind = informative(scores, positive, ~positive)
    assert rows.tolist() == [0, 1]
    assert ahead.any(1).tolist() == behind.any(1).tolist() == [False, True]
