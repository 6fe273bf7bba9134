"""The map of a gallery, and the items whose neighbours have another label."""

import pytest
import torch

from samekind.errors import SpaceError
from samekind.index import Exact
from samekind.questions import gallery_map
from samekind.questions import gallery_map as question
from samekind.questions.gallery_map import doubts, positions


@pytest.fixture
def two_groups():
    """Twenty vectors around each of two directions; one of the first group is labelled as of the second."""
    generator = torch.Generator().manual_seed(0)
    z = torch.cat([torch.tensor([[1.0, 0, 0]]).expand(20, 3), torch.tensor([[0, 1.0, 0]]).expand(20, 3)])
    index = Exact(3)
    labels = ["b" if place == 7 else "a" if place < 20 else "b" for place in range(40)]
    labels[39] = None
    index.add(
        [f"i{place}" for place in range(40)],
        z + 0.05 * torch.randn(40, 3, generator=generator),
        [{"label": label} for label in labels],
    )
    return index


def by_hand(index, neighbours=10):
    """The definition, one item at a time."""
    ids = list(index)
    z = torch.nn.functional.normalize(index.vectors(), dim=1)
    labels = [entry.get("label") for entry in index.metadata(ids)]
    answers = []
    for place in range(len(ids)):
        near = (z @ z[place]).argsort(descending=True)[: neighbours + 1].tolist()
        others = [labels[other] for other in near if other != place and labels[other] is not None]
        share = sum(label != labels[place] for label in others) / len(others)
        answers.append(None if labels[place] is None else round(share, 3))
    return answers


def test_doubt_is_the_share_of_neighbours_with_another_label(two_groups):
    answer = gallery_map(two_groups)
    assert list(answer.doubt) == by_hand(two_groups)
    assert answer.doubt[7] == 1
    assert max(value for place, value in enumerate(answer.doubt[:39]) if place != 7) <= 0.2
    assert answer.doubt[39] is None


def test_points_of_one_group_lie_together_also_those_that_are_placed_by_others(two_groups):
    for placed in (100, 16):
        points = gallery_map(two_groups, placed=placed).points
        assert points.shape == (40, 2)
        assert points.abs().max() <= 1.0001
        centres = points[:20].mean(0), points[20:].mean(0)
        own = torch.cat([points[:20] - centres[0], points[20:] - centres[1]]).norm(dim=1)
        assert (own < (centres[0] - centres[1]).norm() / 2).float().mean() > 0.9


def test_columns_have_one_length_and_labels_are_places(two_groups):
    content = gallery_map(two_groups).to_json()
    assert {len(content[name]) for name in ("ids", "x", "y", "label", "doubt")} == {40}
    assert content["labels"] == ["a", "b"]
    assert (content["label"][0], content["label"][7], content["label"][39]) == (0, 1, None)
    assert content["items"] == 40


def test_a_large_gallery_is_drawn_from(two_groups):
    answer = gallery_map(two_groups, most=25)
    assert (len(answer.ids), answer.items) == (25, 40)
    assert len(answer.doubt) == len(answer.points) == 25


def test_an_empty_gallery_has_no_map():
    with pytest.raises(SpaceError, match="empty"):
        question(Exact(2))


def test_one_item_and_items_without_labels_are_no_fault():
    assert positions(torch.ones(1, 3)).tolist() == [[0, 0]]
    index = Exact(2)
    index.add(["a", "b"], torch.eye(2))
    assert doubts(index, torch.eye(2), ["a", "b"], [None, None]) == (None, None)
