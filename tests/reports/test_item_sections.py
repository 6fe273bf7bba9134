"""The sections about items."""

import pytest
import torch

from samekind.data import Items, clusters
from samekind.reports import System
from samekind.reports.item_sections import confusion_section, map_section, neighbours_section
from samekind.reports.measured import measure


def sets_of(space, seen, unseen=None):
    systems = {"mine": System(space, [])}
    sets = {"seen": measure(systems, seen)}
    if unseen is not None:
        sets["unseen"] = measure(systems, unseen)
    return systems, sets


def test_the_map_tells_seen_from_unseen_classes_by_name(vectors, space_for):
    seen, unseen = vectors.only(["0", "1"]), vectors.only(["2"])
    axes = map_section(*sets_of(space_for(seen), seen, unseen)).figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["0", "1", "2"]
    # Both sets count from 0, yet the unseen class is a third one, with its own marker.
    discs, triangles = axes.collections
    assert [len(value.get_offsets()) for value in (discs, triangles)] == [16, 8]
    colours = [
        {tuple(get_facecolor) for get_facecolor in these.get_facecolors().tolist()}
        for these in (discs, triangles)
    ]
    assert [len(colour) for colour in colours] == [2, 1]
    assert not colours[0] & colours[1]
    assert discs.get_paths()[0].vertices.tolist() != triangles.get_paths()[0].vertices.tolist()


def test_no_items_no_map(vectors, space_for):
    nothing = vectors.take(torch.empty(0, dtype=torch.int64))
    assert map_section(*sets_of(space_for(vectors), nothing)) is None


def test_neighbours_are_of_the_last_set_and_the_caption_counts_the_mistakes(images, space_for):
    space = space_for(images)
    section = neighbours_section(*sets_of(space, images, images.take(torch.tensor([0, 1, 5, 6, 7]))))
    # Of the five, only the light picture called dark is nearest to one of another class.
    assert section.caption == (
        'Random unseen items and the others the space "mine" finds most alike. The nearest is of another '
        "class for 1 of 5; the last row shows such a case."
    )
    axes = section.figure.axes[0]
    assert len(axes.images) == 5 * (1 + 4)
    words = [text.get_text() for text in axes.texts]
    assert words[20:22] == ["dark", "✗ <b>lig…"]


def test_two_mistakes_are_shown_of_many(images, space_for):
    shuffled = images.take(torch.arange(12))
    shuffled.labels[:] = torch.arange(12) % 2
    section = neighbours_section(*sets_of(space_for(images), shuffled))
    assert "; the last 2 rows show such cases." in section.caption
    assert len(section.figure.axes[0].images) == 8 * 9


def test_without_mistakes_the_caption_says_so(images, space_for):
    fine = images.take(torch.tensor([0, 1, 2, 6, 7, 8]))
    assert neighbours_section(*sets_of(space_for(images), fine)).caption.endswith("another class for 0 of 6.")


def test_items_with_only_their_own_group_to_find_are_no_queries(images, space_for):
    """The last of four classes is one group: the nearest of another would always be of another class."""
    greys = images.inputs[:4].repeat(4, 1, 1, 1) / 10 + torch.arange(16).view(-1, 1, 1, 1) // 4 * 0.3
    groups = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6, 6])
    items = Items(greys, torch.arange(16) // 4, tuple("abcd"), "greys", groups=groups)
    section = neighbours_section(*sets_of(space_for(items), items))
    assert "another class for 0 of 12. Items of one group are not compared." in section.caption


def test_vectors_and_single_items_have_no_neighbours_to_show(vectors, images, space_for):
    assert neighbours_section(*sets_of(space_for(vectors), vectors)) is None
    assert neighbours_section(*sets_of(space_for(images), images.take(torch.tensor([0])))) is None


def test_confusions_are_those_of_the_seen_items(images, space_for):
    section = confusion_section(*sets_of(space_for(images), images))
    assert "1 of 12 are wrong" in section.caption
    assert "on the right the share of each class" in section.caption
    cells = {text.get_position(): text.get_text() for text in section.figure.axes[0].texts}
    assert (cells[0, 0], cells[1, 0], cells[1, 1]) == ("5", "1", "6")


def test_a_class_the_items_do_not_have_is_another(images, space_for):
    only_dark = images.only(["dark"])
    figure = confusion_section(*sets_of(space_for(images), only_dark)).figure
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["dark", "another"]


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (26, "with so many classes counts and shares are left out."),
        (60, "with so many classes counts and shares are left out, and one name in 2 is written."),
    ],
)
def test_the_caption_says_what_is_left_out_with_many_classes(space_for, classes, words):
    many = clusters(classes=classes, items=2, dimension=4, spread=0.01, seed=0)
    section = confusion_section(*sets_of(space_for(many), many))
    assert section.caption.endswith(words)
    assert not section.figure.axes[0].texts
    step = 2 if "one name in 2" in words else 1
    assert len(section.figure.axes[0].get_xticks()) == classes / step


def test_the_caption_says_how_many_classes_found_room_on_the_map(space_for):
    many = clusters(classes=60, items=2, dimension=2, spread=0.01, seed=0)
    named = Items(many.inputs, many.labels, tuple(f"a rather long name {n}" for n in range(60)), "many")
    section = map_section(*sets_of(space_for(named), named))
    count = len(section.figure.axes[0].texts)
    assert count < 60
    assert f"Of 60 classes the {count} that have room are named." in section.caption


def test_no_confusions_where_the_space_does_not_know_a_class(vectors, space_for):
    assert confusion_section(*sets_of(space_for(vectors.only(["0", "1"])), vectors)) is None
