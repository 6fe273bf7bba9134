"""Hierarchical cross-entropy against the product of conditional probabilities, by a loop."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.losses import hxe, softmax
from samekind.losses.lineage import Lineage
from samekind.pairs import class_masks

# animals: mammals (a class itself) with dog and cat, fish with shark, and coral.
PARENTS = [-1, 0, 0, 0, 1, 1, 2]
PLACES = {"coral": 3, "dog": 4, "cat": 5, "shark": 6, "mammals": 1}
#: From each class up to the root: the classes under each node, its depth and its height.
CHAINS = {
    "coral": [({"coral"}, 1, 0)],
    "dog": [({"dog"}, 2, 0), ({"dog", "cat", "mammals"}, 1, 1)],
    "cat": [({"cat"}, 2, 0), ({"dog", "cat", "mammals"}, 1, 1)],
    "shark": [({"shark"}, 2, 0), ({"shark"}, 1, 1)],
    "mammals": [({"mammals"}, 2, 0), ({"dog", "cat", "mammals"}, 1, 1)],
}
NAMES = list(PLACES)
LINEAGE = Lineage.of(PARENTS, list(PLACES.values()))
LABELS = torch.tensor([0, 1, 2, 3, 4, 1])
#: The weights of all nodes but the root: mammals, fish, coral, dog, cat, shark, other mammals.
LEVELS = {"depth": [1, 1, 1, 2, 2, 2, 2], "height": [1, 1, 0, 0, 0, 0, 0]}


def some_scores(seed=0):
    return torch.randn(
        len(LABELS), len(NAMES), dtype=torch.double, generator=torch.Generator().manual_seed(seed)
    )


def by_hand(scores, alpha, weighting, normalise, scale):
    shares = []
    total = sum(math.exp(-alpha * level) for level in LEVELS[weighting]) if normalise else 1.0
    for row, label in zip(scores.tolist(), LABELS.tolist(), strict=True):
        powers = {name: math.exp(scale * score) for name, score in zip(NAMES, row, strict=True)}
        share, chain = 0.0, CHAINS[NAMES[label]]
        for place, (under, depth, height) in enumerate(chain):
            around = chain[place + 1][0] if place + 1 < len(chain) else set(NAMES)
            conditional = sum(powers[name] for name in under) / sum(powers[name] for name in around)
            level = depth if weighting == "depth" else height
            share -= math.exp(-alpha * level) / total * math.log(conditional)
        shares.append(share)
    return torch.tensor(shares, dtype=torch.double)


@pytest.mark.parametrize("weighting", ["depth", "height"])
@pytest.mark.parametrize("normalise", [False, True])
def test_is_the_weighted_sum_of_the_logarithms_of_conditional_probabilities(weighting, normalise):
    arguments = {"alpha": 0.3, "weighting": weighting, "normalise": normalise, "scale": 2.0}
    shares = hxe(some_scores(), *class_masks(LABELS, 5), lineage=LINEAGE, **arguments)
    torch.testing.assert_close(shares, by_hand(some_scores(), **arguments))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), scale=st.floats(0.1, 30))
def test_without_weights_it_is_the_plain_cross_entropy(seed, scale):
    """The product of all conditional probabilities is the probability of the class."""
    scores, masks = some_scores(seed), class_masks(LABELS, 5)
    torch.testing.assert_close(
        hxe(scores, *masks, lineage=LINEAGE, alpha=0.0, scale=scale), softmax(scores, *masks, scale=scale)
    )


def test_a_mistake_within_a_kind_costs_less_than_one_outside():
    scores = torch.tensor([[0.0, 0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 4.0, 0.0]], dtype=torch.double)
    dogs = class_masks(torch.tensor([1, 1]), 5)
    near, far = hxe(scores, *dogs, lineage=LINEAGE, alpha=0.5)
    assert near < far
    flat = softmax(scores, *dogs)
    torch.testing.assert_close(flat[0], flat[1])


def test_does_not_care_about_the_order_of_the_classes_if_their_places_go_along():
    order = torch.tensor([3, 0, 4, 1, 2])
    moved = LINEAGE._replace(members=LINEAGE.members[:, order], chains=LINEAGE.chains[order])
    scores, masks = some_scores(), class_masks(LABELS, 5)
    shuffled = hxe(scores[:, order], *(mask[:, order] for mask in masks), lineage=moved)
    torch.testing.assert_close(shuffled, hxe(scores, *masks, lineage=LINEAGE))


@pytest.mark.parametrize("setting", [{"alpha": -0.1}, {"weighting": "width"}])
def test_refuses_other_settings(setting):
    with pytest.raises(SettingError):
        hxe(some_scores(), *class_masks(LABELS, 5), lineage=LINEAGE, **setting)
