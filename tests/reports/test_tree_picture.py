"""Trees drawn: every class has its own line and name, and mistakes their colour."""

import itertools
import math

import pytest
from matplotlib.colors import to_rgb

from samekind.reports import tree_picture
from samekind.reports.style import INK, WRONG
from samekind.taxonomy import Tree

SHAPES = ["dendrogram", "radial"]
ANIMALS = Tree(("animals", "mammals", "shark", "dog", "cat"), (-1, 0, 0, 1, 1), (0, 2, 1, 1, 2))


def texts(figure):
    return {text.get_text().strip(): text for text in figure.axes[0].texts}


def a_wide_tree(leaves):
    names = [f"siphonophore_calycophoran_{place}" for place in range(leaves)]
    return Tree(("top", *names), (-1, *[0] * leaves))


@pytest.mark.parametrize("shape", SHAPES)
def test_leaves_and_named_nodes_are_written(shape):
    assert set(texts(tree_picture(ANIMALS, shape=shape))) == {"mammals", "shark", "dog", "cat"}
    unnamed = Tree(("node 1", "node 2", "shark", "dog", "cat"), ANIMALS.parents)
    assert set(texts(tree_picture(unnamed, shape=shape))) == {"shark", "dog", "cat"}


@pytest.mark.parametrize("shape", SHAPES)
def test_mistakes_have_their_colour_and_their_share(shape):
    written = texts(tree_picture(ANIMALS, shape=shape, mistakes={"dog": 1.0, "cat": 0.0, "shark": 0.25}))
    assert written["dog  100 %"].get_color() == pytest.approx(to_rgb(WRONG))
    assert written["cat  0 %"].get_color() == pytest.approx(to_rgb(INK))
    assert "shark  25 %" in written


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("leaves", [10, 120, 200])
def test_names_do_not_lie_over_each_other(shape, leaves):
    figure = tree_picture(a_wide_tree(leaves), shape=shape)
    figure.draw_without_rendering()
    labels = figure.axes[0].texts
    assert len(labels) == leaves
    centres = [label.get_transform().transform(label.get_position()) / figure.dpi for label in labels]
    apart = min(math.dist(one, other) for one, other in itertools.pairwise(centres))
    assert apart * 72 > 1.2 * labels[0].get_fontsize()


@pytest.mark.parametrize("shape", SHAPES)
def test_names_lie_inside_the_picture(shape):
    figure = tree_picture(a_wide_tree(30), shape=shape)
    figure.draw_without_rendering()
    width, height = figure.get_size_inches() * figure.dpi
    for label in figure.axes[0].texts:
        box = label.get_window_extent()
        assert box.x0 > -1
        assert box.x1 < width + 1
        assert box.y0 > -1
        assert box.y1 < height + 1


def test_branches_are_as_long_as_in_the_tree():
    axes = tree_picture(ANIMALS).axes[0]
    ends = {round(line[-1][0], 3) for line in axes.collections[0].get_segments()}
    assert {0.25, 0.5, 0.75, 1.0} <= ends
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2", "3", "4"]
    assert axes.get_xlabel() == "distance from the root"
    assert tree_picture(a_wide_tree(3)).axes[0].get_xlabel() == ""


def test_the_axis_has_round_numbers_as_far_as_the_tree_goes():
    axes = tree_picture(Tree(("top", "a", "b"), (-1, 0, 0), (0, 5.95, 2.1))).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "2", "4"]
    assert axes.get_xticks().tolist() == pytest.approx([0, 2 / 5.95, 4 / 5.95])
    tiny = tree_picture(Tree(("top", "a", "b"), (-1, 0, 0), (0, 2.9e-5, 2e-5))).axes[0]
    assert [label.get_text() for label in tiny.get_xticklabels()] == ["0", "1e-05", "2e-05"]


def test_edges_without_any_length_are_a_step_each():
    flat = Tree(("a", "b", "c"), (-1, 0, 0), (0, 0, 0))
    assert {line[-1][0] for line in tree_picture(flat).axes[0].collections[0].get_segments()} == {0.0, 1.0}
    assert texts(tree_picture(Tree(("alone",), (-1,)))).keys() == {"alone"}


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="expected at most 1,500 leaves to draw, got 1,501"):
        tree_picture(a_wide_tree(1501))
    with pytest.raises(ValueError, match="expected a shape of dendrogram, radial, got 'round'"):
        tree_picture(ANIMALS, shape="round")
    with pytest.raises(ValueError, match='from 0 to 1, got 7 for "dog"'):
        tree_picture(ANIMALS, mistakes={"dog": 7})
