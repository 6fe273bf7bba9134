"""Robinson and Foulds' distance against the plain definition with sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samekind.errors import DataError
from samekind.taxonomy import robinson_foulds
from samekind.taxonomy.newick import parse_newick
from samekind.taxonomy.tree import Tree


def plain_splits(tree, classes):
    """Both sides of every edge, as a set of sets, where both have two classes or more."""
    below = [{name for name in classes if node in tree.path(name)} for node in tree.names]
    sides = [frozenset([frozenset(side), frozenset(set(classes) - side)]) for side in below]
    return {pair for pair in sides if len(pair) == 2 and min(map(len, pair)) > 1}


@given(st.integers(4, 9), st.randoms(use_true_random=False))
def test_splits_are_those_of_the_definition(count, random):
    names = [f"n{place}" for place in range(count + 4)]

    def any_tree():
        order = random.sample(names, len(names))
        parents = [-1] + [random.randrange(max(0, place - 4), place) for place in range(1, len(names))]
        return Tree(tuple(order), tuple(parents))

    first, second = any_tree(), any_tree()
    classes = random.sample(names, count)
    one, other = plain_splits(first, classes), plain_splits(second, classes)
    splits = robinson_foulds(first, second, classes)
    assert splits == (len(one - other), len(other - one), len(one & other))
    assert splits.distance == len(one ^ other)
    assert splits.normalised == len(one ^ other) / max(1, len(one) + len(other))


def test_the_root_does_not_count():
    rooted, elsewhere = parse_newick("((a,b),(c,(d,e)));"), parse_newick("((((a,b),c),d),e);")
    assert robinson_foulds(rooted, elsewhere, list("abcde")).distance == 0
    other = parse_newick("((a,c),(b,(d,e)));")
    assert robinson_foulds(rooted, other, list("abcde")) == (1, 1, 1)
    assert robinson_foulds(rooted, other, list("abcde")).normalised == 0.5
    assert robinson_foulds(rooted, other, list("abc")).normalised == 0


def test_a_class_that_one_tree_does_not_have_is_named():
    with pytest.raises(DataError, match='got "e"'):
        robinson_foulds(parse_newick("((a,b),(c,(d,e)));"), parse_newick("((a,b),(c,d));"), list("abcde"))
