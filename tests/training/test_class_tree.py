"""The tree of the classes in a run: what losses, penalties and prototypes get of it, and who is refused."""

import dataclasses
import inspect

import pytest
import torch

from samekind import losses
from samekind.errors import SettingError
from samekind.inference import embed
from samekind.prototypes import class_means
from samekind.taxonomy import Tree
from samekind.training import Part, Penalty, Term, build_space, train
from samekind.training.class_tree import TWO, class_tree

#: The classes of the items, 0 to 3: two and two, the first of them an inner node.
TREE = Tree(("all", "0", "pair", "1", "2", "3"), (-1, 0, 0, 1, 2, 2))
OF_TREE = [
    name
    for name in losses.__all__
    if set(losses.FROM_TREE) & set(inspect.signature(getattr(losses, name)).parameters)
]


@pytest.fixture(scope="module")
def with_tree(items):
    return dataclasses.replace(items, tree=TREE)


def by_tree(run, loss, **term):
    """The run with one term of a loss, against the classes, on cosines."""
    term = {"against": "prototypes", **term}
    changed = run.update({"space": {"similarity": {"name": "Cosine"}, "auxiliary": None}})
    return dataclasses.replace(changed, terms={"only": Term(loss, **term)})


def test_the_classes_of_a_space_have_their_places(run, items, with_tree):
    space = build_space(run, with_tree)
    built = class_tree(space)
    assert built.distances.tolist() == [[0, 1, 3, 3], [1, 0, 4, 4], [3, 4, 0, 2], [3, 4, 2, 0]]
    assert built.lineage.chains.shape == (4, 3)
    assert class_tree(build_space(run, items)) is None


@pytest.mark.parametrize("loss", OF_TREE)
def test_a_run_descends_a_loss_of_the_tree(run, with_tree, validate, tmp_path, loss):
    changed = dataclasses.replace(by_tree(run, loss), epochs=1)
    changed = changed.update({"space": {"prototypes": {"name": "LearnedProxies"}}})
    space = train(changed, with_tree, folder=tmp_path, validate=validate, device="cpu")
    assert space.tree == TREE


@pytest.mark.parametrize("loss", OF_TREE)
def test_a_loss_of_the_tree_is_refused_without_one(run, items, validate, tmp_path, loss):
    with pytest.raises(SettingError, match=rf"run\.terms\.only: {loss} goes by the tree .*--taxonomy FILE"):
        train(by_tree(run, loss), items, folder=tmp_path, validate=validate)


@pytest.mark.parametrize("loss", OF_TREE)
def test_a_loss_of_the_tree_is_refused_over_the_batch(run, with_tree, validate, tmp_path, loss):
    changed = by_tree(run, loss, against="batch")
    with pytest.raises(SettingError, match=f'the loss {loss} compares items with the classes .*"prototypes"'):
        train(changed, with_tree, folder=tmp_path, validate=validate)


def test_the_distortion_gets_the_distances_of_the_tree(run, items, with_tree, validate, tmp_path):
    changed = by_tree(run, "softmax").update({"space": {"prototypes": {"name": "LearnedProxies"}}})
    changed = dataclasses.replace(changed, epochs=1, penalties={"distortion": Penalty("distortion")})
    train(changed, with_tree, folder=tmp_path / "with", validate=validate, device="cpu")
    with pytest.raises(SettingError, match=r"run\.penalties\.distortion: distortion goes by the tree"):
        train(changed, items, folder=tmp_path / "without", validate=validate)


@pytest.mark.parametrize("layout", ["mds", "exact"])
def test_fixed_proxies_are_placed_by_the_tree(run, items, with_tree, layout):
    space = dataclasses.replace(run.space, prototypes=Part("FixedProxies", {"layout": layout}))
    changed = dataclasses.replace(run, space=space)
    built = build_space(changed, with_tree)
    cosines = built.prototypes.vectors[:, 0] @ built.prototypes.vectors[:, 0].T
    assert cosines[2, 3] > cosines[1, 3] + 0.1
    with pytest.raises(SettingError, match=rf'the layout "{layout}" places the classes by their tree'):
        build_space(changed, items)


def test_two_classes_are_a_tree():
    shares = losses.hxe(torch.zeros(2, 2), torch.eye(2).bool(), ~torch.eye(2).bool(), lineage=TWO.lineage)
    assert shares.shape == (2,)


@pytest.mark.parametrize("orientation", ["free", "means"])
def test_placed_proxies_face_the_untrained_means_where_the_run_says_so(
    run, with_tree, validate, tmp_path, orientation
):
    """Fixed proxies do not move in training, so what is saved is what the first step saw."""
    part = {"name": "FixedProxies", "layout": "mds", "orientation": orientation}
    changed = dataclasses.replace(by_tree(run, "corr"), epochs=1).update({"space": {"prototypes": part}})
    torch.manual_seed(changed.seed)
    untrained = build_space(changed, with_tree)
    z = torch.nn.functional.normalize(embed(untrained, with_tree.inputs), dim=1)
    means = torch.nn.functional.normalize(class_means(z, with_tree.labels, 4)[0], dim=1)
    space = train(changed, with_tree, folder=tmp_path, validate=validate, device="cpu")
    before, after = untrained.prototypes.vectors[:, 0], space.prototypes.vectors[:, 0]
    torch.testing.assert_close(after @ after.T, before @ before.T, atol=1e-5, rtol=0)
    gain = float(((after - before) * means).sum())
    assert gain > 0.1 if orientation == "means" else gain == 0
    again = train(changed, with_tree, folder=tmp_path, validate=validate, device="cpu")
    assert torch.equal(again.prototypes.vectors[:, 0], after)  # a run that goes on is not turned again
