"""The tree of classes against plain loops, and the values of the CIFAR-100 tree."""

import csv
import dataclasses
import json
import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.errors import DataError
from samekind.taxonomy import Tree, tree_of_paths

ANIMALS = tree_of_paths(
    {
        "dog": ["animals", "mammals", "dog"],
        "cat": ["animals", "mammals", "cat"],
        "shark": ["animals", "fish", "shark"],
    }
)


@st.composite
def trees(draw, least=1):
    """Any tree of up to 12 nodes, with lengths."""
    count = draw(st.integers(least, 12))
    parents = [-1] + [draw(st.integers(0, place - 1)) for place in range(1, count)]
    lengths = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.5]), min_size=count, max_size=count))
    return Tree(tuple(f"n{place}" for place in range(count)), tuple(parents), tuple(lengths))


@pytest.fixture(scope="module")
def cifar():
    with Path(__file__).with_name("cifar100_taxonomy.csv").open(newline="") as file:
        return tree_of_paths({row["class"]: row["path"].split("/") for row in csv.DictReader(file)})


def steps_up(tree, name):
    """The nodes from one up to the root, and the length of the way to each."""
    way, total = {name: 0.0}, 0.0
    while (above := tree.parent(name)) is not None:
        total += tree.lengths[tree.place(name)]
        name = above
        way[name] = total
    return way


@given(trees(), st.randoms())
def test_distances_are_those_of_a_plain_walk(tree, random):
    classes = random.sample(tree.names, random.randint(1, len(tree.names)))
    path, lcs, common = tree.distances(classes), tree.lcs_distances(classes), tree.common_ancestors(classes)
    for row, one in enumerate(classes):
        for column, other in enumerate(classes):
            first, second = steps_up(tree, one), steps_up(tree, other)
            meeting = next(name for name in first if name in second)
            assert tree.names[common[row, column]] == meeting
            assert path[row, column].item() == pytest.approx(first[meeting] + second[meeting])
            expected = 0 if one == other else tree.height(meeting) / max(1, tree.height(tree.root))
            assert lcs[row, column].item() == expected
            assert tree.membership(classes)[tree.place(other), row].item() == (other in first)


@given(trees())
def test_heights_depths_children_and_leaves_agree(tree):
    for name in tree.names:
        children = tree.children(name)
        assert tree.height(name) == max((tree.height(child) + 1 for child in children), default=0)
        assert tree.depth(name) == len(tree.ancestors(name)) == len(tree.path(name)) - 1
        assert tree.path(name)[0] == tree.root
        assert tree.path(name)[-1] == name
        below = [leaf for child in children for leaf in tree.leaves(child)]
        assert list(tree.leaves(name)) == (below or [name])


@given(trees(), st.randoms())
def test_a_subtree_keeps_distances_and_nothing_else(tree, random):
    classes = random.sample(tree.names, random.randint(1, len(tree.names)))
    part = tree.subtree(classes)
    torch.testing.assert_close(part.distances(classes), tree.distances(classes))
    assert set(part.names) == {node for name in classes for node in tree.path(name)}
    assert set(part.leaves()) <= set(classes)


@given(trees())
def test_a_tree_survives_json(tree):
    assert Tree.from_json(json.loads(json.dumps(tree.to_json()))) == tree


def test_the_animals_of_the_thesis():
    classes = ["dog", "cat", "shark"]
    assert ANIMALS.distances(classes).tolist() == [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    assert ANIMALS.lcs_distances(classes).tolist() == [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]
    assert repr(ANIMALS) == "<Tree of 6 nodes, 3 leaves, height 2>"


def test_the_distances_of_the_cifar_tree(cifar):
    distances = cifar.distances(cifar.leaves())
    assert len(distances) == 100
    assert sorted(set(distances.flatten().tolist())) == [0, 2, 4, 6, 8]
    assert cifar.distances(["tiger", "woman", "shark"])[0].tolist() == [0, 4, 6]
    similarity = 1 - (distances / (1 + distances)).square()
    assert [round(value, 6) for value in sorted(set(similarity.flatten().tolist()), reverse=True)] == [
        1, 0.555556, 0.36, 0.265306, 0.209877
    ]  # fmt: skip


def test_soft_labels_of_three_classes_of_the_cifar_tree(cifar):
    soft = (-cifar.distances(["tiger", "lion", "woman"])[0]).softmax(0)
    assert [round(value, 4) for value in soft.tolist()] == [0.8668, 0.1173, 0.0159]


def test_a_chain_of_100_000_nodes_is_a_tree():
    names = tuple(map(str, range(100_000)))
    chain = Tree(names, tuple(range(-1, 99_999)))
    assert chain.height("0") == 99_999
    assert chain.distances(["99999", "1", "50000"])[0].tolist() == [0, 99_998, 49_999]
    assert chain.leaves() == ("99999",)
    assert len(chain.subtree(["70000"]).names) == 70_001


def test_a_tree_is_a_value():
    assert Tree(("a", "b"), (-1, 0)) == Tree(("a", "b"), (-1, 0), (1, 1))
    assert hash(ANIMALS) == hash(dataclasses.replace(ANIMALS))


@pytest.mark.parametrize(
    ("names", "parents", "lengths", "words"),
    [
        ((), (), (), "it is empty"),
        (("a", "b"), (-1,), (), "2 names, 1 parents"),
        (("a", "a"), (-1, 0), (), 'two nodes are called "a"'),
        (("a", ""), (-1, 0), (), "node 1 has none"),
        (("a", "b"), (-1, -1), (), '"a" and "b" both have no parent'),
        (("a", "b", "c"), (-1, 2, 1), (), 'that of "b" is node 2'),
        (("a", "b"), (1, -1), (), 'that of "a" is node 1'),
        (("a", "b"), (-1, 0), (1, -2), 'above "b" has -2'),
        (("a", "b"), (-1, 0), (1, math.nan), 'above "b" has nan'),
    ],
)
def test_what_is_no_tree_is_refused(names, parents, lengths, words):
    with pytest.raises(DataError, match=words):
        Tree(names, parents, lengths)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {"names": ["a"]},
        {"names": ["a"], "parents": [-1], "more": 1},
        {"names": [1], "parents": [-1]},
        {"names": ["a"], "parents": [-1.0]},
        {"names": ["a", "b"], "parents": [-1, False]},
        {"names": ["a"], "parents": [-1], "lengths": [10**400]},
        {"names": "a", "parents": [-1]},
    ],
)
def test_foreign_json_is_refused(plain):
    with pytest.raises(DataError, match="expected a tree as a table with names"):
        Tree.from_json(plain)


def test_an_unknown_class_is_answered_with_the_nearest():
    with pytest.raises(DataError, match='got "dogg"; did you mean "dog"'):
        ANIMALS.distances(["dogg", "cat"])
    with pytest.raises(DataError, match='"cat" is there twice'):
        ANIMALS.lcs_distances(["cat", "cat"])
    with pytest.raises(DataError, match="got none"):
        ANIMALS.subtree([])
    assert "dog" in ANIMALS
    assert "dogg" not in ANIMALS
