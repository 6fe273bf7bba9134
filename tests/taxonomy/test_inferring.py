"""Linkages are SciPy's, and average linkage gives back the tree of its own distances."""

from typing import get_args

import pytest
import torch
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from samekind.errors import DataError, SettingError
from samekind.taxonomy import infer_tree
from samekind.taxonomy.inferring import Method

NAMES = [f"class {place}" for place in range(20)]
LINKAGES = [method for method in get_args(Method) if method != "neighbour-joining"]


@pytest.fixture(scope="module")
def distances():
    points = torch.randn(20, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return torch.cdist(points, points)


@pytest.mark.parametrize("method", LINKAGES)
def test_distances_in_the_tree_are_those_at_which_scipy_joins(distances, method):
    tree = infer_tree(distances, NAMES, method=method)
    joined = squareform(cophenet(linkage(squareform(distances.numpy(), checks=False), method=method)))
    torch.testing.assert_close(tree.distances(NAMES), torch.from_numpy(joined))


@pytest.mark.parametrize("method", LINKAGES)
def test_all_leaves_are_equally_far_from_the_root(distances, method):
    tree = infer_tree(distances, NAMES, method=method)
    from_root = tree.distances([tree.root, *NAMES])[0, 1:]
    torch.testing.assert_close(from_root, from_root[:1].expand(20))


@pytest.mark.parametrize("method", ["average", "weighted", "single", "complete"])
def test_ultrametric_distances_are_given_back(distances, method):
    ultrametric = infer_tree(distances, NAMES, method="average").distances(NAMES)
    torch.testing.assert_close(infer_tree(ultrametric, NAMES, method=method).distances(NAMES), ultrametric)


@pytest.mark.parametrize("method", get_args(Method))
def test_the_classes_are_the_leaves(distances, method):
    assert sorted(infer_tree(distances, NAMES, method=method).leaves()) == sorted(NAMES)


def test_an_unknown_method_is_answered_with_the_nearest(distances):
    with pytest.raises(SettingError, match='unknown method "avarage"; did you mean "average"'):
        infer_tree(distances, NAMES, method="avarage")
    with pytest.raises(DataError, match="of two classes or more"):
        infer_tree(torch.zeros(1, 1), ["a"], method="average")
