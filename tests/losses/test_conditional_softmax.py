"""Conditional softmax against a loop over nodes, and against a network with a proxy for each node."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.losses import conditional_softmax, softmax
from samekind.losses.conditional_softmax import log_probabilities
from samekind.losses.lineage import Lineage
from samekind.pairs import class_masks

# animals: mammals (a class itself) with dog and cat, fish with shark, and coral.
PARENTS = [-1, 0, 0, 0, 1, 1, 2]
PLACES = [3, 4, 5, 6, 1]
LINEAGE = Lineage.of(PARENTS, PLACES)
CORAL, DOG, CAT, SHARK, MAMMALS = range(5)
#: The classes of the true node and of its siblings, for each step down to a class.
STEPS = {
    CORAL: [([CORAL], [[DOG, CAT, MAMMALS], [SHARK]])],
    DOG: [([DOG, CAT, MAMMALS], [[SHARK], [CORAL]]), ([DOG], [[CAT], [MAMMALS]])],
    CAT: [([DOG, CAT, MAMMALS], [[SHARK], [CORAL]]), ([CAT], [[DOG], [MAMMALS]])],
    SHARK: [([SHARK], [[DOG, CAT, MAMMALS], [CORAL]]), ([SHARK], [])],
    MAMMALS: [([DOG, CAT, MAMMALS], [[SHARK], [CORAL]]), ([MAMMALS], [[DOG], [CAT]])],
}


def some_scores(seed=0, items=5):
    return torch.randn(items, 5, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def by_hand(row, label, scale):
    def power(classes):
        return math.exp(scale * sum(row[place] for place in classes) / len(classes))

    share = 0.0
    for node, siblings in STEPS[label]:
        share -= math.log(power(node) / (power(node) + sum(map(power, siblings))))
    return share


def test_is_the_product_of_the_softmaxes_along_the_path():
    scores, labels = some_scores(), torch.arange(5)
    shares = conditional_softmax(scores, *class_masks(labels, 5), lineage=LINEAGE, scale=2.0)
    expected = [by_hand(row, label, 2.0) for label, row in enumerate(scores.tolist())]
    torch.testing.assert_close(shares, torch.tensor(expected, dtype=torch.double))
    torch.testing.assert_close(shares, -log_probabilities(2.0 * scores, LINEAGE).diagonal())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), size=st.floats(0.01, 300))
def test_the_probabilities_of_all_classes_sum_to_one(seed, size):
    sums = log_probabilities(size * some_scores(seed), LINEAGE).exp().sum(1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_without_inner_nodes_it_is_the_plain_softmax():
    flat = Lineage.of([-1, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5])
    scores, masks = some_scores(), class_masks(torch.arange(5), 5)
    torch.testing.assert_close(conditional_softmax(scores, *masks, lineage=flat), softmax(scores, *masks))


@pytest.mark.parametrize("seed", range(3))
def test_class_proxies_can_say_whatever_a_proxy_for_each_node_says(seed):
    """Of inner products: proxies of nodes, less their siblings' mean by size, add up to those of classes."""
    generator = torch.Generator().manual_seed(seed)
    nodes = torch.randn(len(LINEAGE.parents), 4, dtype=torch.double, generator=generator)
    items = torch.randn(6, 4, dtype=torch.double, generator=generator)
    logits = items @ nodes.T
    expected = torch.zeros(6, 5, dtype=torch.double)
    centred = nodes.clone()
    for parent in set(LINEAGE.parents.tolist()):
        children = [
            place for place in range(1, len(nodes)) if LINEAGE.parents[place] == parent and place != parent
        ]
        logs = logits[:, children].log_softmax(1)
        sizes = LINEAGE.members[children].double().sum(1)
        centred[children] -= (sizes[:, None] * nodes[children]).sum(0) / sizes.sum()
        for column, child in enumerate(children):
            expected += logs[:, column, None] * LINEAGE.members[child]
    classes = LINEAGE.members[1:].double().T @ centred[1:]
    torch.testing.assert_close(log_probabilities(items @ classes.T, LINEAGE), expected)


def test_a_class_without_queries_does_not_count():
    """Without the cat, mammals are the dog and the others."""
    scores, labels = some_scores(items=1), torch.tensor([DOG])
    positive, negative = class_masks(labels, 5)
    negative[0, CAT] = False
    row = scores[0].tolist()
    node = [row[DOG], row[MAMMALS]]
    first = [sum(node) / 2, row[SHARK], row[CORAL]]
    share = -math.log(math.exp(first[0]) / sum(map(math.exp, first)))
    share -= math.log(math.exp(node[0]) / sum(map(math.exp, node)))
    result = conditional_softmax(scores, positive, negative, lineage=LINEAGE)
    torch.testing.assert_close(result, torch.tensor([share], dtype=torch.double))
