"""Pictures of where a network looks, and trees as values within values."""

import io

import torch
from PIL import Image

from samekind.questions.attention import Looked
from samekind.serving.drawing import drawn, nested
from samekind.taxonomy import Tree


def test_draws_a_picture_with_and_without_evidence():
    for evidence in (torch.rand(2, 2), torch.zeros(2, 2)):
        png = drawn(torch.rand(1, 8, 8), Looked(0.5, "seven", None, {}, evidence), "stage2")
        assert Image.open(io.BytesIO(png)).size[0] > 200


def test_nests_every_node_under_its_parent():
    tree = Tree(("all", "pets", "cat", "dog", "oak"), (-1, 0, 1, 1, 0))
    node = nested(tree)
    assert (node["name"], node["height"]) == ("all", 2)
    assert [child["name"] for child in node["children"]] == ["pets", "oak"]
    assert [child["name"] for child in node["children"][0]["children"]] == ["cat", "dog"]
