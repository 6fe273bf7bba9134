"""Groups of what is alike."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.questions import cluster

DEGREES = [0, 2, 4, 6, 90, 92, 94]


def test_finds_the_groups_and_their_agreement(plane, at, progress):
    answer = cluster(plane, at(DEGREES, ["a"] * 4 + ["b"] * 3), limit=4, progress=progress)
    content = answer.to_json()
    assert (content["items"], content["groups"], content["sizes"]) == (7, 2, [4, 3])
    assert list(content["silhouettes"]) == ["2", "3", "4"]
    assert content["agreement"] == pytest.approx({"NMI": 1, "AMI": 1, "purity": 1})
    assert answer.middles[1] == "92 degrees"
    assert progress.titles == {"cluster": [7, 7]}


def test_takes_the_number_of_groups_that_is_named(plane, at):
    content = cluster(plane, at(DEGREES), groups=3).to_json()
    assert (content["groups"], content["silhouettes"], content["agreement"]) == (3, {}, {})


def test_a_cosine_groups_directions(plane, at):
    items = at(DEGREES)
    lengths = torch.linspace(1, 50, 7)[:, None]
    answer = cluster(plane, items._replace(inputs=items.inputs * lengths), groups=2)
    assert answer.sizes == [4, 3]


def test_refuses_more_groups_than_items(plane, at):
    with pytest.raises(SettingError, match="asked for 9 groups of 7 items"):
        cluster(plane, at(DEGREES), groups=9)
