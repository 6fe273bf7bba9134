"""The tree of a space: saved with it, and changed as its classes are."""

import copy
import json

import pytest
import torch

from samekind import space as space_room
from samekind.encoders import MLP
from samekind.errors import DataError, SpaceError
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.taxonomy import Tree, grown

TREE = Tree(("animals", "mammals", "fish", "cat", "dog", "shark", "ray", "fox"), (-1, 0, 0, 1, 1, 2, 2, 1))
CORNERS = torch.tensor([[3.0, 0, 1, 0], [3, 1, 0, 0], [-3, 0, 1, 1], [-3, 1, 0, 1]])


@pytest.fixture
def space():
    space = MetricSpace(MLP(inputs=4, dimension=4, hidden=[]), Cosine(), SupportMeans(dimension=4)).eval()
    for name, vector in zip(("cat", "dog", "shark", "ray"), CORNERS, strict=True):
        space.enroll(name, vector[None])
    space.tree = TREE
    return space


def test_is_saved_and_loaded(space, tmp_path):
    space.save(tmp_path / "space")
    assert MetricSpace.load(tmp_path / "space").tree == TREE
    space.tree = None
    space.save(tmp_path / "space")
    assert "tree" not in json.loads((tmp_path / "space" / "space.json").read_text())
    assert MetricSpace.load(tmp_path / "space").tree is None


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ({"names": ["a"]}, "is damaged: expected a tree"),
        ({"names": ["a", "b"], "parents": [-1, 5]}, "is damaged: expected parents before"),
        ({"names": ["a"], "parents": [-1]}, "4 classes are not in the tree: cat, dog, shark, ray"),
        ("a tree", "is damaged: expected a tree"),
    ],
)
def test_a_damaged_tree_is_a_sentence(space, tmp_path, tree, says):
    space.save(tmp_path / "space")
    path = tmp_path / "space" / "space.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tree": tree}))
    with pytest.raises(SpaceError, match=says):
        MetricSpace.load(tmp_path / "space")


def test_a_new_class_stands_beside_those_most_like_it(space):
    space.enroll("whale", CORNERS[2:].mean(0, keepdim=True))
    assert space.tree.parent("whale") == "fish"  # by its looks
    space.enroll("wolf", CORNERS[1:2])
    assert space.tree.parent("wolf") == "mammals"
    space.enroll("tile", torch.tensor([[0.0, 0, 0, 5]]))
    assert space.tree.parent("tile") in ("animals", "fish")


def test_a_new_class_goes_to_the_named_node_or_to_its_place_in_the_tree(space):
    space.enroll("whale", CORNERS[2:3], under="mammals")
    assert space.tree.parent("whale") == "mammals"
    space.enroll("fox", CORNERS[2:3])
    assert space.tree.parent("fox") == "mammals"
    space.enroll("cat", CORNERS[2:3], replace=True)
    assert space.tree.parent("cat") == "mammals"
    with pytest.raises(SpaceError, match='"cat" stands under "mammals" in the tree, not under "fish"'):
        space.enroll("cat", CORNERS[2:3], replace=True, under="fish")
    with pytest.raises(DataError, match='expected a node of the tree, got "mamals"'):
        space.enroll("seal", CORNERS[2:3], under="mamals")
    assert "seal" not in space.classes


def test_many_classes_are_placed_at_once_as_each_by_itself(space, monkeypatch):
    """By the classes known before. A tree is checked as a whole, so it must not be made for each."""
    generator = torch.Generator().manual_seed(0)
    vectors = CORNERS[torch.arange(30) % 4] + torch.randn(30, 4, generator=generator)
    examples = {f"class {number}": vector[None] for number, vector in enumerate(vectors)}
    expected = {}
    for name, z in examples.items():
        alone = copy.deepcopy(space)
        alone.enroll(name, z)
        expected[name] = alone.tree.parent(name)
    made = []
    monkeypatch.setattr(space_room, "grown", lambda *given: made.append(given) or grown(*given))
    monkeypatch.setattr(space_room, "TOGETHER", 7)
    space.enroll_classes({"fox": CORNERS[:1], **examples})
    assert {name: space.tree.parent(name) for name in examples} == expected
    assert len(set(expected.values())) > 1
    assert len(made) == 1


def test_under_a_node_needs_a_tree_and_an_empty_space_has_its_root(space):
    for name in space.classes:
        space.remove(name)
    space.enroll("first", CORNERS[:1])
    assert space.tree.parent("first") == "animals"
    space.tree = None
    with pytest.raises(SpaceError, match='this space has no tree, so "owl" cannot stand under "birds"'):
        space.enroll("owl", CORNERS[:1], under="birds")


def test_a_class_and_its_node_are_renamed_together(space):
    space.rename("cat", "lynx")
    assert space.tree.children("mammals") == ("lynx", "dog", "fox")
    with pytest.raises(DataError, match='"fox" is in the tree already'):
        space.rename("lynx", "fox")
    assert "lynx" in space.classes
