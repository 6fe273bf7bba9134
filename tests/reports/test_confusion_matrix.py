"""The confusion matrix: counts where they belong, mistakes in colour."""

import pytest
import torch
from matplotlib.colors import to_rgb

from samekind.reports import confusion_matrix
from samekind.reports.names import WHOLE
from samekind.reports.style import FAINT, PAPER, WRONG

COUNTS = torch.tensor([[8, 2, 0], [0, 0, 0], [1, 0, 1234]])
CLASSES = ["a", "b", "c"]


def written(figure):
    return {text.get_position(): text.get_text() for text in figure.axes[0].texts}


def test_counts_are_printed_and_zeros_are_not():
    figure = confusion_matrix(COUNTS, CLASSES)
    cells = {place: words for place, words in written(figure).items() if "%" not in words}
    assert cells == {(0, 0): "8", (1, 0): "2", (0, 2): "1", (2, 2): "1,234"}


def test_the_share_of_right_answers_stands_beside_each_class_with_items():
    shares = [words for words in written(confusion_matrix(COUNTS, CLASSES)).values() if "%" in words]
    assert shares == ["80.0 %", "99.9 %"]


def test_mistakes_stand_out_and_right_answers_do_not():
    cells = confusion_matrix(COUNTS, CLASSES).axes[0].images[0].get_array()
    assert tuple(cells[0, 0]) == tuple(cells[1, 1]) == pytest.approx(to_rgb(FAINT))
    assert tuple(cells[0, 2]) == pytest.approx(to_rgb(PAPER))
    share = 0.2**0.5
    mixed = [(1 - share) + share * channel for channel in to_rgb(WRONG)]
    assert tuple(cells[0, 1]) == pytest.approx(mixed)


def test_all_of_a_class_mistaken_has_the_full_colour():
    cells = confusion_matrix(torch.tensor([[0, 5], [0, 1]]), ["a", "b"]).axes[0].images[0].get_array()
    assert tuple(cells[0, 1]) == pytest.approx(to_rgb(WRONG))


def test_rows_are_the_truth():
    axes = confusion_matrix(COUNTS, CLASSES).axes[0]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("true class", "answered")
    assert [label.get_text() for label in axes.get_yticklabels()] == CLASSES


def test_classes_that_begin_alike_have_different_short_names():
    names = [f"siphonophore_calycophoran_{end}" for end in ("abylidae", "rocketship", "rocketship_young")]
    axes = confusion_matrix(COUNTS, names).axes[0]
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert len({label.get_text() for label in labels}) == 3
        assert [label.get_gid() for label in labels] == [f"{WHOLE}{name}" for name in names]


def test_long_names_do_not_take_the_room_of_a_small_table():
    long = confusion_matrix(COUNTS, [30 * letter for letter in "abc"])
    assert long.get_figwidth() > confusion_matrix(COUNTS, CLASSES).get_figwidth()


def test_many_classes_have_no_numbers_and_fewer_names():
    figure = confusion_matrix(torch.eye(120, dtype=torch.int64), [f"class {number}" for number in range(120)])
    assert not figure.axes[0].texts
    assert 25 < len(figure.axes[0].get_xticks()) <= 50
    assert figure.get_figwidth() <= 7


def test_one_class_alone_can_be_drawn():
    figure = confusion_matrix(torch.tensor([[3]]), ["only"])
    figure.draw_without_rendering()
    assert sorted(written(figure).values()) == ["100.0 %", "3"]


@pytest.mark.parametrize(("shape", "classes"), [((2, 3), 2), ((3, 3), 2), ((0, 0), 0)])
def test_refuses_counts_that_do_not_fit(shape, classes):
    with pytest.raises(ValueError, match=r"expected counts \(\d, \d\) of at least one class"):
        confusion_matrix(torch.zeros(shape, dtype=torch.int64), CLASSES[:classes])
