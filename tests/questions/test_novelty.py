"""How new items are, and how well new and known classes are told apart."""

import pytest

from samekind.errors import SettingError
from samekind.inference import neighbour_novelty, one_class_novelty
from samekind.questions import novelty
from samekind.questions.novelty import NoveltySettings


def test_the_newest_item_comes_first_with_its_nearest_class(plane, at):
    answer = novelty(plane, at([0, 270, 45], ["right", "down", "right"]))
    assert answer.columns["id"] == ["270 degrees", "45 degrees", "0 degrees"]
    assert answer.columns["class"][1:] == ["right", "right"]
    assert (answer.method, answer.kind, answer.known) == ("prototypes", "similarity", None)
    assert (answer.auroc.value, answer.auroc.new, answer.auroc.known) == (1, 1, 2)
    assert answer.warning is None
    content = answer.to_json()
    assert content["auroc"]["new"] == 1
    assert list(content["items"][0]) == ["id", "novelty", "class", "label"]


def test_a_threshold_says_what_is_new(plane, at, threshold):
    plane.open_set = threshold(0.9, kind="cosine")
    answer = novelty(plane, at([0, 45]))
    assert (answer.kind, answer.columns["new"]) == ("cosine", [True, False])
    other = novelty(plane, at([0, 45]), settings=NoveltySettings(kind="similarity"))
    assert "new" not in other.columns


def test_known_items_without_labels_leave_the_classes_of_the_space_known(plane, at, threshold):
    plane.open_set = threshold(0.9, kind="cosine")  # for the best class, not for known items
    answer = novelty(plane, at([0, 270], ["up", "down"]), at([0, 5, 10]))
    assert (answer.auroc.new, answer.auroc.known, answer.kind) == (1, 1, "similarity")
    assert novelty(plane, at([0, 10], ["up", "right"])).auroc is None


@pytest.mark.parametrize("method", ["neighbours", None])
def test_known_items_take_the_place_of_classes(plane, at, method, progress):
    items, known = at([0, 90], ["a", "b"]), at([80, 85, 90, 95], ["b"] * 4)
    answer = novelty(plane, items, known, settings=NoveltySettings(method), progress=progress)
    function = neighbour_novelty if method else one_class_novelty
    expected = function(plane, items.inputs, known.inputs)
    assert answer.columns["novelty"] == pytest.approx(sorted(expected.tolist(), reverse=True), abs=1e-5)
    assert (answer.known, answer.auroc.value) == (4, 1)
    assert ("new" in answer.columns) == (method is None)
    assert progress.titles == {"embed": [2, 2], "embed known": [4, 4]}
    assert len(answer.skipped) == 2


def test_warns_of_an_order_that_is_upside_down(plane, at):
    labels = ["unknown"] * 20 + ["right"] * 20
    answer = novelty(plane, at([*range(20), *range(30, 50)], labels))
    assert answer.auroc.value == 0
    assert "--" not in answer.warning


@pytest.mark.parametrize(
    ("method", "known", "says"),
    [
        ("svn", True, 'there is no method "svn"'),
        ("svm", False, "the method svm needs items that are known"),
        ("prototypes", True, "looks at classes alone"),
    ],
)
def test_refuses_a_method_without_what_it_needs(method, known, says):
    with pytest.raises(SettingError, match=says):
        NoveltySettings(method).method_for(known=known)
