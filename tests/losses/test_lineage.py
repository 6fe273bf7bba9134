"""Which candidates stand under which node, on a tree small enough to draw.

animals
├── mammals (a class itself)
│   ├── dog
│   └── cat
├── shark
└── plants of the sea (nothing below is a candidate)
    └── kelp
"""

import pytest
import torch

from samekind.losses.lineage import Lineage, check_lineage

PARENTS = [-1, 0, 1, 1, 0, 0, 5]
DOG, CAT, SHARK, MAMMALS = 2, 3, 4, 1


@pytest.fixture
def lineage():
    return Lineage.of(PARENTS, [DOG, CAT, SHARK, MAMMALS])


def test_a_class_at_an_inner_node_is_one_more_leaf_under_it(lineage):
    """Nodes: animals, mammals, dog, cat, shark, and mammals that are none of these."""
    assert lineage.members.int().tolist() == [
        [1, 1, 1, 1],
        [1, 1, 0, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    assert lineage.parents.tolist() == [0, 0, 1, 1, 0, 1]
    assert lineage.depths.tolist() == [0, 1, 2, 2, 1, 2]
    assert lineage.heights.tolist() == [2, 1, 0, 0, 0, 0]


def test_a_chain_goes_up_to_the_root_and_stays_there(lineage):
    assert lineage.chains.tolist() == [[2, 1, 0], [3, 1, 0], [4, 0, 0], [5, 1, 0]]


def test_the_root_may_be_a_class_and_the_only_one():
    alone = Lineage.of([-1], [0])
    assert alone.members.tolist() == [[True]]
    assert alone.chains.tolist() == [[0]]
    nobody = Lineage.of([-1], [])
    assert nobody.members.shape == (1, 0)
    assert nobody.chains.shape == (0, 1)


def test_refuses_none_and_another_number_of_candidates(lineage):
    with pytest.raises(ValueError, match=r"expected lineage, .* got None"):
        check_lineage(None, torch.zeros(2, 4))
    with pytest.raises(ValueError, match="a lineage of 3 candidates, as there are scores, got 4"):
        check_lineage(lineage, torch.zeros(2, 3))
