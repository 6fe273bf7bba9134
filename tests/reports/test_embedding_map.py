"""The map: a name where each class lies, another marker for what was never seen."""

from itertools import combinations

import torch
from matplotlib.markers import MarkerStyle

from samekind.reports import embedding_map

POINTS = torch.tensor([[0.0, 0.0], [1.0, 1.0], [9.0, 2.0], [5.0, 5.0], [6.0, 6.0]])
LABELS = torch.tensor([0, 0, 0, 2, 2])
CLASSES = ["wren", "nobody", "a class with quite a long name"]


def vertices(marker):
    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform()).vertices.tolist()


def test_every_class_that_is_there_is_named_at_its_median():
    axes = embedding_map(POINTS, LABELS, CLASSES).axes[0]
    named = {text.get_text(): (text.xy, text.get_position()) for text in axes.texts}
    # The second is how far a name is moved: there is room for both.
    assert named == {"wren": ((1.0, 1.0), (0, 0)), "a class with quit…": ((5.0, 5.0), (0, 0))}
    assert axes.get_legend() is None


def test_unseen_classes_have_another_marker_and_a_legend_says_so():
    axes = embedding_map(POINTS, LABELS, CLASSES, [CLASSES[2]]).axes[0]
    seen, unseen = axes.collections
    assert seen.get_paths()[0].vertices.tolist() == vertices("o")
    assert unseen.get_paths()[0].vertices.tolist() == vertices("^")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["seen classes", "unseen classes"]


def test_names_in_one_place_are_moved_until_each_can_be_read():
    names = [f"siphonophore_calycophoran_{end}" for end in ("abylidae", "adult", "young", "eudoxid")]
    points = torch.tensor([[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [9.0, 8.9], [0.0, 0.1], [9.0, 9.1]])
    figure = embedding_map(points.repeat(2, 1), torch.arange(12) % 4, names)
    figure.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 4
    assert not [(one, other) for one, other in combinations(boxes, 2) if one.overlaps(other)]
    assert len({text.get_text() for text in figure.axes[0].texts}) == 4


def test_every_item_is_a_dot():
    axes = embedding_map(POINTS, LABELS, CLASSES).axes[0]
    assert [len(each.get_offsets()) for each in axes.collections] == [3, 2]


def test_one_class_alone_can_be_drawn():
    figure = embedding_map(POINTS[:1], LABELS[:1], CLASSES)
    figure.draw_without_rendering()
    assert len(figure.axes[0].texts) == 1


def test_many_classes_are_written_smaller():
    labels = torch.arange(60)
    many = embedding_map(torch.rand(60, 2), labels, [str(each) for each in range(60)]).axes[0].texts
    few = embedding_map(POINTS, LABELS, CLASSES).axes[0].texts
    assert len(many) == 60
    assert many[0].get_size() < few[0].get_size()
