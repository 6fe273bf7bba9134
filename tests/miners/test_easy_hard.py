"""One positive and one negative of each anchor, against a loop over anchors."""

import itertools

import pytest
import torch

from samekind.errors import SettingError
from samekind.miners import easy_hard, easy_positives
from samekind.pairs import pair_masks

CHOICES = ("hard", "semi-hard", "easy", "all")
POSSIBLE = [
    (positives, negatives)
    for positives, negatives in itertools.product(CHOICES, repeat=2)
    if "semi-hard" not in (positives, negatives) or {"hard", "easy"} & {positives, negatives}
]
LABELS = [0, 0, 0, 1, 1, 2, 2, 2, 3]


def chosen(distances, candidates, nearest):
    return sorted(candidates, key=lambda c: distances[c] if nearest else -distances[c])[:1]


def by_hand(distances, anchor, positives, negatives):
    """The candidates that are kept for one anchor, in distances."""
    ahead = [c for c, label in enumerate(LABELS) if c != anchor and label == LABELS[anchor]]
    behind = [c for c, label in enumerate(LABELS) if label != LABELS[anchor]]
    if positives not in ("semi-hard", "all"):
        ahead = chosen(distances, ahead, nearest=positives == "easy")
    if negatives not in ("semi-hard", "all"):
        behind = chosen(distances, behind, nearest=negatives == "hard")
    if ahead and negatives == "semi-hard":
        farther = [c for c in behind if distances[c] > distances[ahead[0]]]
        behind = chosen(distances, farther, nearest=True)
    if behind and positives == "semi-hard":
        nearer = [c for c in ahead if distances[c] < distances[behind[0]]]
        ahead = chosen(distances, nearer, nearest=False)
    return (ahead, behind) if ahead and behind else None


@pytest.mark.parametrize(("positives", "negatives"), POSSIBLE)
def test_agrees_with_the_definition(positives, negatives):
    for seed in range(3):
        distances = torch.rand(9, 9, generator=torch.Generator().manual_seed(seed))
        mined = easy_hard(
            -distances, *pair_masks(torch.tensor(LABELS)), positives=positives, negatives=negatives
        )
        ours = {
            row: (ahead.nonzero()[:, 0].tolist(), behind.nonzero()[:, 0].tolist())
            for row, ahead, behind in zip(mined[0].tolist(), *mined[1:], strict=True)
        }
        expected = {a: by_hand(distances[a].tolist(), a, positives, negatives) for a in range(9)}
        assert ours == {anchor: pair for anchor, pair in expected.items() if pair}


def test_easy_positives_with_all_negatives_is_the_other_miner():
    scores, masks = torch.randn(9, 9, generator=torch.Generator().manual_seed(0)), torch.tensor(LABELS)
    rows, positive, negative = easy_positives(scores, *pair_masks(masks))
    both = positive.any(1) & negative.any(1)
    ours = easy_hard(scores, *pair_masks(masks), positives="easy", negatives="all")
    assert all(map(torch.equal, ours, (rows[both], positive[both], negative[both])))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"positives": "hardest"}, 'positives are "hard", .*got "hardest"'),
        ({"negatives": "none"}, 'negatives are "hard", .*got "none"'),
        ({"positives": "semi-hard", "negatives": "semi-hard"}, "against one of the other side"),
        ({"positives": "all", "negatives": "semi-hard"}, 'got positives "all" and negatives "semi-hard"'),
    ],
)
def test_refuses_what_cannot_be_chosen(settings, message):
    with pytest.raises(SettingError, match=message):
        easy_hard(torch.zeros(9, 9), *pair_masks(torch.tensor(LABELS)), **settings)
