"""The map: a name where each class lies, another marker for what was never seen."""

from itertools import combinations

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.markers import MarkerStyle

from samekind.reports import embedding_map
from samekind.reports.embedding_map import LEAST_DOT, not_named
from samekind.reports.style import MANY

POINTS = torch.tensor([[0.0, 0.0], [1.0, 1.0], [9.0, 2.0], [5.0, 5.0], [6.0, 6.0]])
LABELS = torch.tensor([0, 0, 0, 2, 2])
CLASSES = ["wren", "nobody", "a class with quite a long name"]


def vertices(marker):
    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform()).vertices.tolist()


def test_every_class_that_is_there_is_named_near_its_median():
    axes = embedding_map(POINTS, LABELS, CLASSES).axes[0]
    assert {text.get_text(): text.xy for text in axes.texts} == {
        "wren": (1.0, 1.0),
        "a class with quit…": (5.0, 5.0),
    }
    # How far a name is moved, in points.
    assert all(abs(y) < 20 for _, y in (text.get_position() for text in axes.texts))
    assert axes.get_legend() is None


def hidden(figure):
    """How many dots lie below a name."""
    figure.draw_without_rendering()
    axes = figure.axes[0]
    dots = axes.transData.transform([place for place, _ in dots_of(axes)])
    boxes = [text.get_bbox_patch().get_window_extent() for text in axes.texts]
    return sum(any(box.contains(*dot) for box in boxes) for dot in dots)


@pytest.mark.parametrize("classes", [2, 12, 40])
def test_a_name_does_not_hide_the_few_items_of_its_class(classes):
    draw = torch.Generator().manual_seed(0)
    labels = torch.arange(3 * classes) % classes
    # Places at least a name apart, three items in each.
    places = torch.cartesian_prod(torch.arange(6), torch.arange(7)).double()[:classes]
    points = places[labels] + 0.05 * torch.randn(len(labels), 2, generator=draw).double()
    assert hidden(embedding_map(points, labels, [f"class{n:02d}" for n in range(classes)])) == 0


def test_among_many_items_a_name_stands_in_the_middle_of_its_class():
    points = torch.randn(2000, 2, generator=torch.Generator().manual_seed(0))
    axes = embedding_map(points, torch.zeros(2000, dtype=torch.int64), ["one"]).axes[0]
    assert axes.texts[0].get_position() == (0, 0)


def test_where_there_is_no_room_for_all_names_the_caption_counts_those_there_are():
    labels = torch.arange(60).repeat_interleave(2)
    names = [f"a rather long name {n}" for n in range(60)]
    spread = 20 * torch.rand(120, 2, generator=torch.Generator().manual_seed(0))
    crowded = embedding_map(spread, labels, names)
    named = len(crowded.axes[0].texts)
    assert 10 < named < 60
    assert not_named(crowded, labels) == f" Of 60 classes the {named} that have room are named."
    crowded.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in crowded.axes[0].texts]
    assert not [(one, other) for one, other in combinations(boxes, 2) if one.overlaps(other)]
    assert not_named(embedding_map(POINTS, LABELS, CLASSES), LABELS) == ""


def test_the_largest_classes_are_named_first():
    # All but one in one place, where there is room for some names only: the last class has the most items.
    labels, points = torch.tensor([*range(60), *[59] * 9]), torch.zeros(69, 2)
    points[0] = 1
    axes = embedding_map(points, labels, [f"a rather long name {n}" for n in range(60)]).axes[0]
    assert 0 < len(axes.texts) < 60
    assert axes.texts[-1].get_gid().endswith("name 59")


def test_the_origin_is_marked_where_it_means_something():
    axes = embedding_map(POINTS, LABELS, CLASSES, origin=True).axes[0]
    [cross] = [line for line in axes.lines if line.get_marker() == "+"]
    assert cross.get_xydata().tolist() == [[0, 0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["(0, 0)"]
    assert not embedding_map(POINTS, LABELS, CLASSES).axes[0].lines


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


def dots_of(axes):
    """What is drawn, first to last: places and colours."""
    return [
        (tuple(place), to_hex(colour))
        for collection in axes.collections
        for place, colour in zip(collection.get_offsets().tolist(), collection.get_facecolors(), strict=True)
    ]


@pytest.mark.parametrize("unseen", [(), CLASSES[2:], CLASSES])
def test_every_item_is_a_dot_of_the_colour_of_its_class(unseen):
    drawn = dots_of(embedding_map(POINTS, LABELS, CLASSES, unseen).axes[0])
    assert sorted(drawn) == sorted(
        (tuple(place), MANY[label]) for place, label in zip(POINTS.tolist(), LABELS.tolist(), strict=True)
    )


def test_no_class_is_drawn_over_another_as_a_whole():
    labels = torch.arange(200) // 100
    drawn = [colour for _, colour in dots_of(embedding_map(torch.rand(200, 2), labels, ["a", "b"]).axes[0])]
    assert 30 < drawn[:100].count(MANY[0]) < 70


def test_ten_classes_have_ten_colours():
    labels = torch.arange(10)
    drawn = dots_of(embedding_map(torch.rand(10, 2), labels, [str(number) for number in range(10)]).axes[0])
    assert len({colour for _, colour in drawn}) == 10


def test_dots_of_many_items_are_smaller():
    def size(count):
        points, labels = torch.rand(count, 2), torch.arange(count) % 3
        return embedding_map(points, labels, CLASSES).axes[0].collections[0].get_sizes()[0]

    # As much ink from twice as many; and never so little that a lonely item is lost.
    assert size(5) == size(1000) == 2 * size(2000)
    assert size(50_000) == LEAST_DOT


def test_a_map_is_the_same_every_time():
    first, second = (dots_of(embedding_map(POINTS, LABELS, CLASSES).axes[0]) for _ in range(2))
    assert first == second


def test_one_class_alone_can_be_drawn():
    figure = embedding_map(POINTS[:1], LABELS[:1], CLASSES)
    figure.draw_without_rendering()
    assert len(figure.axes[0].texts) == 1


def test_many_classes_are_written_smaller():
    labels = torch.arange(60)
    many = embedding_map(torch.rand(60, 2), labels, [str(number) for number in range(60)]).axes[0].texts
    few = embedding_map(POINTS, LABELS, CLASSES).axes[0].texts
    assert len(many) > 40
    assert many[0].get_size() < few[0].get_size()
