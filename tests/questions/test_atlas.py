"""Vectors as a table for embedding-atlas."""

import torch

from samekind.questions import embed
from samekind.questions.atlas import MOST, NEIGHBOURS, atlas_columns
from samekind.questions.embedded import Embedded


def by_hand(z, own):
    """The rows of the others, the nearest by angle first, with 1 - cosine."""
    cosines = torch.nn.functional.cosine_similarity(z[own][None], z)
    others = [(1 - float(cosines[row]), row) for row in range(len(z)) if row != own]
    return sorted(others)[:NEIGHBOURS]


def embedded(z):
    names = tuple(map(str, range(len(z))))
    return Embedded(z, names, names)


def test_the_columns_are_those_of_the_items(plane, at):
    answer = embed(plane, at([0, 90, 100], ["right", None, "up"]))
    columns = atlas_columns(answer)
    assert list(columns) == ["id", "label", "x", "y", "neighbours"]
    assert (columns["id"], columns["label"]) == ([*answer.ids], ["right", None, "up"])
    assert columns["neighbours"][0]["ids"] == [1, 2]
    assert columns["neighbours"][1]["ids"] == [2, 0]
    assert all(-1 <= value <= 1 for name in "xy" for value in columns[name])


def test_neighbours_agree_with_the_definition():
    z = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))
    rows = atlas_columns(embedded(z))["neighbours"]
    for own, row in enumerate(rows):
        expected = by_hand(z, own)
        assert row["ids"] == [place for _, place in expected]
        torch.testing.assert_close(
            row["distances"], [distance for distance, _ in expected], atol=1e-5, rtol=0
        )


def test_an_item_among_many_copies_is_not_its_own_neighbour():
    rows = atlas_columns(embedded(torch.ones(30, 3)))["neighbours"]
    assert all(own not in row["ids"] and len(row["ids"]) == NEIGHBOURS for own, row in enumerate(rows))


def test_one_item_and_too_many_have_no_neighbours(monkeypatch):
    assert "neighbours" not in atlas_columns(embedded(torch.ones(1, 3)))
    monkeypatch.setattr("samekind.questions.atlas.MOST", 3)
    assert MOST == 20_000
    assert "neighbours" not in atlas_columns(embedded(torch.eye(4)))
